/** Pages of entries in the order of time. */

import { and, asc, desc, eq, gt, gte, inArray, lt, lte, or, type SQL } from 'drizzle-orm'
import { type Viewer, visibleEntries, visibleParts } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import type { Id } from '../../../../lib/id.ts'
import { conditionOf, type EntryFilter, type ListOrder, type Position, partsOf } from '../../../selection/contract.ts'
import { type EntryView, findViews, selectViews } from '../../store.ts'

export function isBehind(reader: Reader, after: Position | undefined, order: ListOrder = 'desc'): SQL | undefined {
  const { startedAt, id } = reader.tables.entries
  if (!after) return undefined
  return order === 'desc'
    ? and(lte(startedAt, after.startedAt), or(lt(startedAt, after.startedAt), lt(id, after.id)))
    : and(gte(startedAt, after.startedAt), or(gt(startedAt, after.startedAt), gt(id, after.id)))
}

/** The columns of the order of time. */
export function timeOrder(reader: Reader, order: ListOrder): SQL[] {
  const { startedAt, id } = reader.tables.entries
  return order === 'desc' ? [desc(startedAt), desc(id)] : [asc(startedAt), asc(id)]
}

function compareTimes(order: ListOrder): (a: Position, b: Position) => number {
  const sign = order === 'desc' ? -1 : 1
  return (a, b) => sign * (a.startedAt - b.startedAt || a.id - b.id)
}

/** Of these, the clock may have been set back meanwhile. */
const LAST_RECORDED = 100

/** The latest time at which one of the newest entries was recorded; null without entries. */
export async function findLastRecordedAt(reader: Reader): Promise<number | null> {
  const { entries } = reader.tables
  const last = await reader
    .select({ createdAt: entries.createdAt })
    .from(entries)
    .orderBy(desc(entries.id))
    .limit(LAST_RECORDED)
  return last.length === 0 ? null : Math.max(...last.map(({ createdAt }) => createdAt))
}

export interface PageRequest {
  filter: EntryFilter
  viewer: Viewer
  order?: ListOrder | undefined
  after: Position | undefined
  limit: number
}

/** Parts that are read one by one. Of more, sorting everything costs less than asking for each. */
export const PART_LIMIT = 40

/**
 * Entries in the order of time, starting after `after`. What several values, or a member's sight, put together is read
 * part by part, each by an index in the order of time, and merged: no index gives them together in this order.
 */
export async function listViews(
  reader: Reader,
  { filter, viewer, order = 'desc', after, limit }: PageRequest,
): Promise<EntryView[]> {
  const { entries } = reader.tables
  const sights = await visibleParts(reader, viewer)
  const parts = partsOf(filter).flatMap((one) => sights.map((sight) => and(conditionOf(reader, one), sight)))
  if (parts.length > PART_LIMIT)
    parts.splice(0, parts.length, and(conditionOf(reader, filter), await visibleEntries(reader, viewer)))
  const found: Position[] = []
  for (const part of parts) {
    const rows = await reader
      .select({ id: entries.id, startedAt: entries.startedAt })
      .from(entries)
      .where(and(part, isBehind(reader, after, order)))
      .orderBy(...timeOrder(reader, order))
      .limit(limit)
    found.push(...rows)
  }
  const ids = firstOf(found, order, limit).map(({ id }) => id)
  const views = await viewsOf(reader, ids)
  // One was deleted meanwhile: the page would seem to be the last one.
  return views.length < ids.length ? listViews(reader, { filter, viewer, order, after, limit }) : views
}

/** The first of some entries, each once: parts may overlap. */
export function firstOf(found: Position[], order: ListOrder, limit: number): Position[] {
  const each = new Map(found.map((position) => [position.id, position]))
  return [...each.values()].sort(compareTimes(order)).slice(0, limit)
}

/**
 * Views of entries, in this order, without deleted ones. In PostgreSQL by the statement of one entry, which is prepared: planning the join of
 * their 17 tables takes longer than reading a page.
 */
export async function viewsOf(reader: Reader, ids: readonly number[]): Promise<EntryView[]> {
  if (reader.engine === 'postgres') return (await findViews(reader, ids)).filter((view) => view !== undefined)
  const views: EntryView[] = await selectViews(reader).where(inArray(reader.tables.entries.id, [...ids]))
  const byId = new Map(views.map((view) => [view.entry.id, view]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** The entry with this public id, where the caller may see it. */
export async function findView(reader: Reader, uid: Id<'ent'>, viewer: Viewer): Promise<EntryView | undefined> {
  const { entries } = reader.tables
  const [row] = await reader
    .select({ id: entries.id })
    .from(entries)
    .where(and(eq(entries.uid, uid), await visibleEntries(reader, viewer)))
  return row && (await findViews(reader, [row.id]))[0]
}
