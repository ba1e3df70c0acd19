/** What unattributed entries and their groups are shown with. */

import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import type { Id } from '../../../lib/id.ts'
import { conditionOf, costOf, type EntryFilter } from '../../selection/contract.ts'
import { count, sum } from './expressions.ts'

export interface Manager {
  uid: Id<'usr'>
  email: string
  name: string
}

/** Keys of one statement: SQLite binds up to 32,766 values, and longer statements are no faster. */
const KEYS_PER_STATEMENT = 1_000

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
  const haveOneText = (ids: readonly number[]) => {
    const texts = textsOf(ids)
    return texts.size === 1 && !texts.has(null)
  }
  await load(sets.flatMap((ids) => (haveOneText(ids.slice(0, 2)) ? ids.slice(2) : [])))
  return sets.map((ids) => {
    const texts = [...textsOf(ids)]
    const given = texts.filter((text) => text !== null)
    return given.length === texts.length && (texts.length === 1 || ids.length === 2) ? given.sort() : []
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

export function namesOf(reader: Reader, keys: number[]): Promise<Map<number, string>> {
  const { names } = reader.tables
  return byKey(keys, async (chunk) => {
    const rows = await reader.select({ id: names.id, text: names.text }).from(names).where(inArray(names.id, chunk))
    return rows.map(({ id, text }) => [id, text])
  })
}

export function managersOf(reader: Reader, keys: number[]): Promise<Map<number, Manager>> {
  const { users } = reader.tables
  return byKey(keys, async (chunk) => {
    const rows = await reader
      .select({ id: users.id, uid: users.uid, email: users.email, name: users.name })
      .from(users)
      .where(inArray(users.id, chunk))
    return rows.map(({ id, ...manager }) => [id, manager])
  })
}

export function labelsOf(reader: Reader, keys: number[]): Promise<Map<number, LabelMap>> {
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
