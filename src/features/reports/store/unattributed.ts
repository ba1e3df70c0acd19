/** Unattributed entries, by every field that rules can match except the summary. */

import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import type { Id } from '../../../lib/id.ts'
import { sumUnattributed, type UnattributedSum } from '../../rollup/service.ts'
import { conditionOf, costOf, type EntryFilter } from '../../selection/contract.ts'
import { count, sum } from './expressions.ts'

/** Entries of one person, agent, harness and set of labels. */
export interface Alike
  extends Pick<UnattributedSum, 'entries' | 'unpricedEntries' | 'tokens' | 'costNanos' | 'firstAt' | 'lastAt' | 'ids'> {
  manager: Manager
  harness: string
  agent: string
  /** Null if they used several. */
  model: string | null
  labels: LabelMap
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

/** Unattributed entries that match and that the viewer sees. */
export async function listAlike(reader: Reader, query: { viewer: Viewer; filter: EntryFilter }): Promise<Alike[]> {
  const sums = await sumUnattributed(reader, query)
  const names = await namesOf(
    reader,
    sums.flatMap(({ harnessId, agentId, modelId }) => [harnessId, agentId, ...(modelId === null ? [] : [modelId])]),
  )
  const managers = await managersOf(
    reader,
    sums.map(({ managerId }) => managerId),
  )
  const labels = await labelsOf(
    reader,
    sums.flatMap(({ labelSetId }) => labelSetId ?? []),
  )
  return sums.map(({ managerId, harnessId, agentId, labelSetId, modelId, ...sum }) => ({
    ...sum,
    manager: managers.get(managerId)!,
    harness: names.get(harnessId)!,
    agent: names.get(agentId)!,
    model: modelId === null ? null : names.get(modelId)!,
    labels: labelSetId === null ? {} : labels.get(labelSetId)!,
    exampleKey: sum.ids.reduce((latest, id) => Math.max(latest, id), 0),
  }))
}

/**
 * For each set of entries, the summaries of all of them: at most two; none if there are more, or if an entry has no summary.
 * Of most sets, two entries tell.
 */
export async function listSummaries(reader: Reader, sets: readonly (readonly number[])[]): Promise<string[][]> {
  const { entries } = reader.tables
  const known = new Map<number, string | null>()
  const load = async (ids: number[]) => {
    const rows = await byKey(ids, async (chunk) => {
      const some = reader.select({ id: entries.id, summary: entries.summary }).from(entries)
      return (await some.where(inArray(entries.id, chunk))).map(({ id, summary }) => [id, summary] as const)
    })
    for (const [id, summary] of rows) known.set(id, summary)
  }
  const textsOf = (ids: readonly number[]) => new Set(ids.map((id) => known.get(id) ?? null))
  await load(sets.flatMap((ids) => ids.slice(0, 2)))
  await load(sets.flatMap((ids) => (textsOf(ids.slice(0, 2)).size === 1 ? ids.slice(2) : [])))
  return sets.map((ids) => {
    const texts = [...textsOf(ids)].filter((text) => text !== null)
    return texts.length === textsOf(ids).size && (texts.length === 1 || ids.length === 2) ? texts.sort() : []
  })
}

async function byKey<Value>(keys: number[], read: (chunk: number[]) => Promise<(readonly [number, Value])[]>) {
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
  { viewer, filter }: { viewer: Viewer; filter: EntryFilter },
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
        conditionOf(reader, filter),
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
