/** Sums of unattributed entries, by every field that rules can match except the summary. */

import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import type { Id } from '../../../lib/id.ts'
import { costOf } from '../../selection/contract.ts'
import { count, countWhere, sum, tokenSums } from './expressions.ts'

/** Entries of one person, agent, harness and set of labels. */
export interface Alike {
  manager: Manager
  harness: string
  agent: string
  /** Null if they used several. */
  model: string | null
  labels: LabelMap
  /** The summaries of all of them; none if one has no summary, or if there may be others than these. */
  summaries: string[]
  entries: number
  unpricedEntries: number
  tokens: Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h', bigint>
  costNanos: bigint | null
  firstAt: number
  lastAt: number
  /** The key of the most recent entry. */
  exampleKey: number
}

export interface Manager {
  uid: Id<'usr'>
  email: string
  name: string
}

/** Keys of one statement: SQLite binds up to 32,766 values, and longer statements are no faster. */
const KEYS_PER_STATEMENT = 1_000

/** Unattributed entries, with the condition of the index that contains them. */
export async function listAlike(
  reader: Reader,
  { viewer, condition }: { viewer: Viewer; condition: SQL | undefined },
): Promise<Alike[]> {
  const { entries } = reader.tables
  const cost = costOf(reader.tables)
  const rows = await reader
    .select({
      managerId: entries.managerId,
      harnessId: entries.harnessId,
      agentId: entries.agentId,
      labelSetId: entries.labelSetId,
      firstModelId: sql<number>`min(${entries.modelId})`.mapWith(Number),
      lastModelId: sql<number>`max(${entries.modelId})`.mapWith(Number),
      entries: count(),
      unpricedEntries: countWhere(sql`${cost} IS NULL`),
      tokens: tokenSums(reader.tables),
      costNanos: sum(cost),
      firstAt: sql<number>`min(${entries.startedAt})`.mapWith(Number),
      lastAt: sql<number>`max(${entries.startedAt})`.mapWith(Number),
      exampleKey: sql<number>`max(${entries.id})`.mapWith(Number),
      firstSummary: sql<string | null>`min(${entries.summary})`,
      lastSummary: sql<string | null>`max(${entries.summary})`,
      summarized: sql<number>`count(${entries.summary})`.mapWith(Number),
    })
    .from(entries)
    .where(and(isNull(entries.placedBy), condition, await visibleEntries(reader, viewer)))
    .groupBy(entries.managerId, entries.harnessId, entries.agentId, entries.labelSetId)
  // Not joined: the few distinct names would be looked up for every entry.
  const names = await namesOf(
    reader,
    rows.flatMap((row) => [row.harnessId, row.agentId, row.firstModelId]),
  )
  const managers = await managersOf(
    reader,
    rows.map((row) => row.managerId),
  )
  const labels = await labelsOf(
    reader,
    rows.flatMap((row) => row.labelSetId ?? []),
  )
  return rows.map(({ managerId, harnessId, agentId, labelSetId, firstModelId, lastModelId, ...read }) => {
    const { firstSummary, lastSummary, summarized, ...row } = read
    return {
      ...row,
      summaries: summariesOf(row.entries, { firstSummary, lastSummary, summarized }),
      manager: managers.get(managerId)!,
      harness: names.get(harnessId)!,
      agent: names.get(agentId)!,
      model: firstModelId === lastModelId ? names.get(firstModelId)! : null,
      labels: labelSetId === null ? {} : labels.get(labelSetId)!,
      // Not null: there is at least one entry, and all counts are known.
      tokens: row.tokens as Alike['tokens'],
    }
  })
}

interface Summaries {
  firstSummary: string | null
  lastSummary: string | null
  summarized: number
}

/** Of two entries, or of entries with equal summaries, the first and the last one in alphabetical order are all. */
function summariesOf(entries: number, { firstSummary, lastSummary, summarized }: Summaries): string[] {
  if (summarized < entries || firstSummary === null || lastSummary === null) return []
  if (firstSummary === lastSummary) return [firstSummary]
  return entries === 2 ? [firstSummary, lastSummary] : []
}

async function byKey<Value>(keys: number[], read: (chunk: number[]) => Promise<[number, Value][]>) {
  const distinct = [...new Set(keys)]
  const found = new Map<number, Value>()
  for (let start = 0; start < distinct.length; start += KEYS_PER_STATEMENT) {
    for (const [key, value] of await read(distinct.slice(start, start + KEYS_PER_STATEMENT))) found.set(key, value)
  }
  return found
}

function namesOf(reader: Reader, keys: number[]): Promise<Map<number, string>> {
  const { names } = reader.tables
  return byKey(keys, async (chunk) => {
    const rows = await reader.select({ id: names.id, text: names.text }).from(names).where(inArray(names.id, chunk))
    return rows.map(({ id, text }) => [id, text])
  })
}

function managersOf(reader: Reader, keys: number[]): Promise<Map<number, Manager>> {
  const { users } = reader.tables
  return byKey(keys, async (chunk) => {
    const rows = await reader
      .select({ id: users.id, uid: users.uid, email: users.email, name: users.name })
      .from(users)
      .where(inArray(users.id, chunk))
    return rows.map(({ id, ...manager }) => [id, manager])
  })
}

function labelsOf(reader: Reader, keys: number[]): Promise<Map<number, LabelMap>> {
  const { labelSets } = reader.tables
  return byKey(keys, async (chunk) => {
    const rows = await reader.select().from(labelSets).where(inArray(labelSets.id, chunk))
    return rows.map(({ id, labels }) => [id, labels])
  })
}

/** Entries that a person placed on no project, which are not unattributed. */
export async function sumNowhere(
  reader: Reader,
  { viewer, condition }: { viewer: Viewer; condition: SQL | undefined },
): Promise<{ entries: number; costNanos: bigint | null }> {
  const { entries } = reader.tables
  if (!(await isAnyPlacedWithoutProject(reader))) return { entries: 0, costNanos: null }
  const [row] = await reader
    .select({ entries: count(), costNanos: sum(costOf(reader.tables)) })
    .from(entries)
    .where(
      and(
        isNull(entries.projectId),
        isNull(entries.ticketId),
        eq(entries.placedBy, 'manual'),
        condition,
        await visibleEntries(reader, viewer),
      ),
    )
  return row!
}

/**
 * Whether there are entries without a project besides the unattributed ones, which never have one. Indexes count both;
 * to find what distinguishes them, every unattributed entry would be read.
 */
async function isAnyPlacedWithoutProject(reader: Reader): Promise<boolean> {
  const { entries } = reader.tables
  const unattributed = reader.select({ entries: count() }).from(entries).where(isNull(entries.placedBy))
  const [row] = await reader
    .select({ isAny: sql`count(*) > (${unattributed})`.mapWith(Boolean) })
    .from(entries)
    .where(isNull(entries.projectId))
  return row!.isAny
}

/** The public ids of entries, by their keys. */
export function listEntryUids(reader: Reader, keys: number[]): Promise<Map<number, Id<'ent'>>> {
  const { entries } = reader.tables
  return byKey(keys, async (chunk) => {
    const rows = await reader
      .select({ id: entries.id, uid: entries.uid })
      .from(entries)
      .where(inArray(entries.id, chunk))
    return rows.map(({ id, uid }) => [id, uid])
  })
}
