/** Pages of entries, newest first. */
import { and, desc, eq, inArray, lt, lte, or, type SQL } from 'drizzle-orm'
import { type Viewer, visibleEntries, visibleParts } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import type { Id } from '../../../../lib/id.ts'
import { type EntryView, selectViews } from '../../store.ts'
import { type EntryFilter, type Position, partsOf } from '../filter.ts'
import { conditionOf } from './conditions.ts'

export function isBehind(reader: Reader, after: Position | undefined): SQL | undefined {
  const { entries } = reader.tables
  return (
    after &&
    and(lte(entries.startedAt, after.startedAt), or(lt(entries.startedAt, after.startedAt), lt(entries.id, after.id)))
  )
}

interface Page {
  filter: EntryFilter
  viewer: Viewer
  after: Position | undefined
  limit: number
}

/** Parts that are read one by one. Of more, sorting everything costs less than asking for each. */
const PART_LIMIT = 40

/**
 * Entries newest first, starting after `after`. What several values, or a member's sight, put together is read part by
 * part, each by an index in the order of time, and merged: no index gives them together in this order.
 */
export async function listViews(reader: Reader, { filter, viewer, after, limit }: Page): Promise<EntryView[]> {
  const { entries } = reader.tables
  const newestFirst = [desc(entries.startedAt), desc(entries.id)]
  const sights = await visibleParts(reader, viewer)
  const parts = partsOf(filter).flatMap((one) => sights.map((sight) => and(conditionOf(reader, one), sight)))
  if (parts.length === 1 || parts.length > PART_LIMIT) {
    const whole = and(conditionOf(reader, filter), visibleEntries(reader, viewer))
    return selectViews(reader)
      .where(and(parts.length === 1 ? parts[0] : whole, isBehind(reader, after)))
      .orderBy(...newestFirst)
      .limit(limit)
  }
  const found = new Map<number, number>()
  for (const part of parts) {
    const rows = await reader
      .select({ id: entries.id, startedAt: entries.startedAt })
      .from(entries)
      .where(and(part, isBehind(reader, after)))
      .orderBy(...newestFirst)
      .limit(limit)
    for (const { id, startedAt } of rows) found.set(id, startedAt)
  }
  const ids = [...found].sort(([a, startOfA], [b, startOfB]) => startOfB - startOfA || b - a).map(([id]) => id)
  return selectViews(reader)
    .where(inArray(entries.id, ids.slice(0, limit)))
    .orderBy(...newestFirst)
}

/** The entry with this public id, where the caller may see it. */
export async function findView(reader: Reader, uid: Id<'ent'>, viewer: Viewer): Promise<EntryView | undefined> {
  const [row] = await selectViews(reader)
    .where(and(eq(reader.tables.entries.uid, uid), visibleEntries(reader, viewer)))
    .limit(1)
  return row
}
