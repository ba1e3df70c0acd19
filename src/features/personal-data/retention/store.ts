/** What is older than its retention period, and its removal in portions. */

import {
  and,
  eq,
  exists,
  getTableColumns,
  gte,
  inArray,
  isNotNull,
  like,
  lt,
  not,
  notExists,
  notLike,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Reader, Tx } from '../../../database/database.ts'
import { keyRanges } from '../../../database/key-ranges.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { hashOfSessionId } from '../../../lib/session-id.ts'
import { notingChanges } from '../../spending/contract.ts'

/** Rows of a table that a period removes or shortens. */
export interface Due {
  /** The rows whose key is in this range, as SQL; of those, `change` skips any that nothing has to be done with. */
  rows(reader: Reader): { table: PgTable; key: PgColumn; where: SQL | undefined }
  /** Changes rows with these keys that are still due. Returns how many it changed. */
  change(tx: Tx, keys: readonly number[]): Promise<number>
}

/** The keys of due rows, in portions that a transaction can change. */
export async function* eachPortion(reader: Reader, due: Due): AsyncGenerator<number[]> {
  const { table, key, where } = due.rows(reader)
  for await (const { range } of keyRanges(reader, table, key)) {
    const rows = await reader.selectDistinct({ key }).from(table).where(and(where, range))
    yield* portionsOf(rows.map((row) => Number(row.key)))
  }
}

/** Summaries and labels of entries that ended before the moment. */
export const entryTexts = (before: number): Due => {
  const isDue = ({ tables: { entries } }: Reader) =>
    and(lt(entries.endedAt, before), or(isNotNull(entries.summary), isNotNull(entries.labelSetId)))
  return {
    rows: (reader) => ({ table: reader.tables.entries, key: reader.tables.entries.id, where: isDue(reader) }),
    async change(tx, keys) {
      const { entries } = tx.tables
      const changed = await notingChanges(tx, keys, () =>
        tx
          .update(entries)
          .set({ summary: null, labelSetId: null })
          .where(and(inArray(entries.id, [...keys]), isDue(tx)))
          .returning({ id: entries.id }),
      )
      return changed.length
    },
  }
}

/** The same texts, as the sources of a session said them. */
export const sourceTexts = (before: number): Due => ({
  rows({ tables: { sessionSources } }) {
    const where = or(
      like(sql`${sessionSources.totals}`, '%"labels"%'),
      like(sql`${sessionSources.totals}`, '%"summary"%'),
    )
    return { table: sessionSources, key: sessionSources.sessionId, where }
  },
  async change(tx, keys) {
    const { sessionSources } = tx.tables
    const rows = await tx
      .select()
      .from(sessionSources)
      .where(inArray(sessionSources.sessionId, [...keys]))
    let changed = 0
    for (const { sessionId, chainModelId, source, totals } of rows) {
      const { summary, labels, ...attributes } = totals.attributes ?? {}
      if (totals.ended_at >= before || (summary === undefined && labels === undefined)) continue
      await tx
        .update(sessionSources)
        .set({ totals: { ...totals, attributes } })
        .where(
          and(
            eq(sessionSources.sessionId, sessionId),
            eq(sessionSources.chainModelId, chainModelId),
            eq(sessionSources.source, source),
          ),
        )
      changed += 1
    }
    return changed
  },
})

/** Labels of telemetry that was last received before the moment. */
export const telemetryTexts = (before: number): Due => {
  const isDue = ({ tables: { telemetrySessions } }: Reader) =>
    and(lt(telemetrySessions.lastSeenAt, before), like(sql`${telemetrySessions.facts}`, '%"labels"%'))
  return {
    rows: (reader) => {
      const { telemetrySessions } = reader.tables
      return { table: telemetrySessions, key: telemetrySessions.sessionId, where: isDue(reader) }
    },
    async change(tx, keys) {
      const { telemetrySessions } = tx.tables
      const rows = await tx
        .select({ id: telemetrySessions.sessionId, facts: telemetrySessions.facts })
        .from(telemetrySessions)
        .where(and(inArray(telemetrySessions.sessionId, [...keys]), isDue(tx)))
      const withLabels = rows.filter(({ facts }) => facts.labels !== undefined)
      for (const { id, facts } of withLabels) {
        const { labels: _, ...kept } = facts
        await tx.update(telemetrySessions).set({ facts: kept }).where(eq(telemetrySessions.sessionId, id))
      }
      return withLabels.length
    },
  }
}

/** Former summaries and labels in the history of entries that ended before the moment. */
export const historyTexts = (before: number): Due => {
  const isDue = (reader: Reader) => {
    const { entryHistory, entries } = reader.tables
    const ended = reader
      .select({ id: entries.id })
      .from(entries)
      .where(and(eq(entries.id, entryHistory.entryId), lt(entries.endedAt, before)))
    return and(
      or(like(sql`${entryHistory.details}`, '%"labels"%'), like(sql`${entryHistory.details}`, '%"summary"%')),
      exists(ended),
    )
  }
  return {
    rows: (reader) => ({ table: reader.tables.entryHistory, key: reader.tables.entryHistory.id, where: isDue(reader) }),
    async change(tx, keys) {
      const { entryHistory } = tx.tables
      const rows = await tx
        .select({ id: entryHistory.id, details: entryHistory.details })
        .from(entryHistory)
        .where(and(inArray(entryHistory.id, [...keys]), isDue(tx)))
      let changed = 0
      for (const { id, details } of rows) {
        const kept = withoutTexts(details) as Record<string, unknown>
        if (JSON.stringify(kept) === JSON.stringify(details)) continue
        await tx.update(entryHistory).set({ details: kept }).where(eq(entryHistory.id, id))
        changed += 1
      }
      return changed
    },
  }
}

function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'summary' && name !== 'labels')
  return Object.fromEntries(kept.map(([name, of]) => [name, withoutTexts(of)]))
}

/** Ids of sessions all of whose entries ended before the moment. */
export const sessionIds = (before: number): Due => {
  const isDue = (reader: Reader) => {
    const { sessions, entries } = reader.tables
    const entriesThat = (condition: SQL) =>
      reader
        .select({ id: entries.id })
        .from(entries)
        .where(and(eq(entries.sessionId, sessions.id), condition))
    return and(
      notLike(sessions.sessionKey, 'sha256:%'),
      exists(entriesThat(lt(entries.endedAt, before))),
      notExists(entriesThat(gte(entries.endedAt, before))),
    )
  }
  return {
    rows: (reader) => ({ table: reader.tables.sessions, key: reader.tables.sessions.id, where: isDue(reader) }),
    async change(tx, keys) {
      const { sessions } = tx.tables
      const rows = await tx
        .select({ id: sessions.id, sessionKey: sessions.sessionKey })
        .from(sessions)
        .where(and(inArray(sessions.id, [...keys]), isDue(tx)))
      for (const { id, sessionKey } of rows) {
        await tx
          .update(sessions)
          .set({ sessionKey: hashOfSessionId(sessionKey) })
          .where(eq(sessions.id, id))
      }
      return rows.length
    },
  }
}

/** Rows of a log that only grows. */
function oldRows(table: 'entryHistory' | 'audit', before: number): Due {
  const of = ({ tables }: Reader) => {
    const columns: Record<string, PgColumn> = getTableColumns(tables[table])
    return { table: tables[table] as PgTable, key: columns.id!, where: lt(columns.at!, before) }
  }
  return {
    rows: of,
    async change(tx, keys) {
      const { table: rows, key, where } = of(tx)
      const gone = await tx
        .delete(rows)
        .where(and(inArray(key, [...keys]), where))
        .returning({ key })
      return gone.length
    },
  }
}

export const history = (before: number): Due => oldRows('entryHistory', before)
export const auditLog = (before: number): Due => oldRows('audit', before)

/** Sessions of people in the browser that ended before the moment. */
export const endedSignIns = (before: number): Due => {
  const isDue = ({ tables: { signIns } }: Reader) => or(lt(signIns.endedAt, before), lt(signIns.expiresAt, before))
  return {
    rows: (reader) => ({ table: reader.tables.signIns, key: reader.tables.signIns.id, where: isDue(reader) }),
    async change(tx, keys) {
      const { signIns } = tx.tables
      const gone = await tx
        .delete(signIns)
        .where(and(inArray(signIns.id, [...keys]), isDue(tx)))
        .returning({ id: signIns.id })
      return gone.length
    },
  }
}

/**
 * Sets of labels that no entry has any more are retired before they are emptied: a report whose transaction began
 * before may still refer to one, since servers hold the keys of sets in memory. No label has an empty name.
 */
const RETIRED = ''

const isRetired = ({ labelSets }: Pick<Tables, 'labelSets'>) => like(sql`${labelSets.labels}`, '{"":%')

/** The keys of label sets that entries have. */
async function usedLabelSets(reader: Reader): Promise<Set<number>> {
  const { entries } = reader.tables
  const used = new Set<number>()
  for await (const { range } of keyRanges(reader, entries, entries.id)) {
    const rows = await reader
      .selectDistinct({ id: entries.labelSetId })
      .from(entries)
      .where(and(isNotNull(entries.labelSetId), range))
    for (const { id } of rows) used.add(id!)
  }
  return used
}

/** The keys of label sets that no entry has. */
export async function listUnusedLabelSets(reader: Reader): Promise<number[]> {
  const used = await usedLabelSets(reader)
  const { labelSets } = reader.tables
  const all = await reader
    .select({ id: labelSets.id })
    .from(labelSets)
    .where(not(isRetired(reader.tables)))
  return all.map(({ id }) => id).filter((id) => !used.has(id))
}

/** Whether entries have any of these label sets: a scan, unless there are none. */
async function whichAreUsed(reader: Reader, ids: readonly number[]): Promise<Set<number>> {
  const { entries } = reader.tables
  const rows = await reader
    .selectDistinct({ id: entries.labelSetId })
    .from(entries)
    .where(inArray(entries.labelSetId, [...ids]))
  return new Set(rows.map(({ id }) => id!))
}

/** From now on no report finds the set; its labels stay in the pairs. */
export async function retireLabelSets(tx: Tx, ids: readonly number[], now: number): Promise<number> {
  const { labelSets } = tx.tables
  const used = await whichAreUsed(tx, ids)
  const unused = ids.filter((id) => !used.has(id))
  for (const id of unused) {
    await tx
      .update(labelSets)
      .set({ labels: { [RETIRED]: `${id} ${now}` } })
      .where(eq(labelSets.id, id))
  }
  return unused.length
}

/** Label sets that were retired before the moment and still have their pairs. */
export async function listRetiredLabelSets(reader: Reader, before: number): Promise<number[]> {
  const { labelSets, labelPairs } = reader.tables
  const rows = await reader.select().from(labelSets).where(isRetired(reader.tables))
  const due = rows.filter(({ labels }) => Number(labels[RETIRED]!.split(' ')[1]) <= before).map(({ id }) => id)
  const withPairs = new Set(
    (await reader.selectDistinct({ id: labelPairs.labelSetId }).from(labelPairs)).map(({ id }) => id),
  )
  return due.filter((id) => withPairs.has(id))
}

/** Empties retired sets; one that a report has referred to meanwhile gets its labels back. */
export async function emptyLabelSets(tx: Tx, ids: readonly number[]): Promise<void> {
  const { labelSets, labelPairs, entries } = tx.tables
  const used = await whichAreUsed(tx, ids)
  const unused = ids.filter((id) => !used.has(id))
  if (unused.length > 0) await tx.delete(labelPairs).where(inArray(labelPairs.labelSetId, unused))
  for (const id of used) {
    const pairs = await tx.select().from(labelPairs).where(eq(labelPairs.labelSetId, id))
    const labels: LabelMap = Object.fromEntries(
      pairs.map(({ name, value }) => [name, value] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
    )
    const [same] = await tx.select({ id: labelSets.id }).from(labelSets).where(eq(labelSets.labels, labels)).limit(1)
    if (same) await tx.update(entries).set({ labelSetId: same.id }).where(eq(entries.labelSetId, id))
    else await tx.update(labelSets).set({ labels }).where(eq(labelSets.id, id))
  }
}

/** The number of rows that may be due. */
export async function countDue(reader: Reader, due: Due): Promise<number> {
  let rows = 0
  for await (const keys of eachPortion(reader, due)) rows += keys.length
  return rows
}
