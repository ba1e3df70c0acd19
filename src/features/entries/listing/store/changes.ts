/**
 * What changed after a position: first new entries in the order of their ids, then changed and deleted ones in the order
 * of `entry_changes`, which triggers fill.
 */

import { and, asc, desc, eq, gt, lte, or, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleDeletions, visibleEntries } from '../../../../access/visibility.ts'
import type { Database, Reader } from '../../../../database/database.ts'
import type { Id } from '../../../../lib/id.ts'
import { conditionOf, type EntryFilter } from '../../../selection/contract.ts'
import type { EntryView } from '../../store.ts'
import type { ChangesPosition } from '../changes.ts'
import { viewsOf } from './lists.ts'

interface ChangesPage {
  filter: EntryFilter
  viewer: Viewer
  after: ChangesPosition
  /** See {@link settledPosition}. */
  until: ChangesPosition
  limit: number
}

export interface Changes {
  views: EntryView[]
  deleted: Id<'ent'>[]
  next: ChangesPosition
  hasMore: boolean
}

/** Rows that are looked at for one page, in a few dozen milliseconds. If few match, a page is short. */
const WINDOW = 20_000

/**
 * The last position before which nothing will appear any more. On PostgreSQL, a transaction that draws an id may commit
 * after one that draws the next; SQLite has one writer.
 */
export function settledPosition(db: Database): Promise<ChangesPosition> {
  return readPosition(db, (table) => sql`settled_id(${table})`)
}

/** The last ids that were ever drawn. A later position is of a database that a backup has replaced. */
export function lastPosition(db: Database): Promise<ChangesPosition> {
  return readPosition(db, (table) => sql`pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass)`)
}

async function readPosition(db: Database, onPostgres: (table: SQL) => SQL): Promise<ChangesPosition> {
  const id = (table: string) => {
    const ofTable =
      db.engine === 'postgres' ? onPostgres(sql.raw(`'${table}'`)) : sql`(SELECT max(id) FROM ${sql.raw(table)})`
    return sql<number>`coalesce(${ofTable}, 0)`.mapWith(Number)
  }
  const [position] = await db.read
    .select({ entry: id('entries'), change: id('entry_changes') })
    .from(sql`(SELECT 1) AS one`)
  return position!
}

export async function listChanges(reader: Reader, page: ChangesPage, windowRows = WINDOW): Promise<Changes> {
  const condition = and(conditionOf(reader, page.filter), await visibleEntries(reader, page.viewer))
  const added = await listAdded(reader, page, condition, windowRows)
  const left = page.limit - added.ids.length
  // Changes wait until there are no more new entries, so that a first copy has each entry once.
  const changed = added.hasMore || left === 0 ? undefined : await listChanged(reader, page, condition, left, windowRows)
  return {
    views: await viewsOf(reader, [...added.ids, ...(changed?.ids ?? [])]),
    deleted: changed?.deleted ?? [],
    next: { entry: added.last, change: changed?.last ?? page.after.change },
    hasMore: changed?.hasMore ?? true,
  }
}

/**
 * New entries. Drafts, which may be deleted, are left to the changes: the position is an entry that stays, so that no
 * later one can get its id.
 */
async function listAdded(
  reader: Reader,
  { after, until, limit }: ChangesPage,
  condition: SQL | undefined,
  windowRows: number,
) {
  const { entries } = reader.tables
  const window = reader
    .select({ id: entries.id, source: entries.source })
    .from(entries)
    .where(and(gt(entries.id, after.entry), lte(entries.id, until.entry)))
    .orderBy(asc(entries.id))
    .limit(windowRows)
    .as('in_window')
  // Before the rows, so that a row that appears meanwhile is read again instead of missed.
  const [seen] = await reader
    .select({
      count: sql<number>`count(*)`.mapWith(Number),
      last: sql<number | null>`max(${window.id})`.mapWith(Number),
      lastKept: sql<number | null>`max(CASE WHEN ${window.source} <> 'sheet' THEN ${window.id} END)`.mapWith(Number),
    })
    .from(window)
  const rows = await reader
    .select({ id: entries.id })
    .from(window)
    .crossJoin(entries)
    .where(and(eq(entries.id, window.id), sql`${window.source} <> 'sheet'`, condition))
    .orderBy(asc(entries.id))
    .limit(limit)
  const ids = rows.map(({ id }) => id)
  if (ids.length === limit) return { ids, last: ids.at(-1)!, hasMore: true }
  const hasMore = seen!.count === windowRows
  return { ids, last: seen!.lastKept ?? (hasMore ? seen!.last! : after.entry), hasMore }
}

async function listChanged(
  reader: Reader,
  { viewer, after, until }: ChangesPage,
  condition: SQL | undefined,
  limit: number,
  windowRows: number,
) {
  const { entries, entryChanges } = reader.tables
  const window = reader
    .select({ id: entryChanges.id })
    .from(entryChanges)
    .where(and(gt(entryChanges.id, after.change), lte(entryChanges.id, until.change)))
    .orderBy(asc(entryChanges.id))
    .limit(windowRows)
    .as('in_window')
  const rows = await reader
    .select({
      change: entryChanges.id,
      id: entries.id,
      deleted: sql<Id<'ent'> | null>`${entryChanges.deletedUid}`.mapWith(entries.uid),
    })
    .from(window)
    .innerJoin(entryChanges, eq(entryChanges.id, window.id))
    .leftJoin(entries, eq(entries.id, entryChanges.entryId))
    .where(or(visibleDeletions(reader, viewer), and(sql`${entries.id} IS NOT NULL`, condition)))
    .orderBy(asc(entryChanges.id))
    .limit(limit)
  const ids = rows.flatMap(({ id }) => id ?? [])
  const deleted = rows.flatMap(({ deleted: uid }) => uid ?? [])
  if (rows.length === limit) return { ids, deleted, last: rows.at(-1)!.change, hasMore: true }
  const [seen] = await reader
    .select({
      count: sql<number>`count(*)`.mapWith(Number),
      last: sql<number | null>`max(${window.id})`.mapWith(Number),
    })
    .from(window)
  return { ids, deleted, last: seen!.last ?? after.change, hasMore: seen!.count === windowRows }
}

/** Clocks of several servers, and transactions that take a while: what a copy gets twice does no harm. */
const MARGIN_MS = 60_000

/** A position before all changes since a moment. Ids ascend with time, so a few rows are enough to find it. */
export async function positionAt(reader: Reader, since: number): Promise<ChangesPosition> {
  const { entries, entryChanges } = reader.tables
  const entry = await lastBefore(since - MARGIN_MS, async (id) => {
    const next = reader.select({ id: entries.id, at: entries.createdAt }).from(entries)
    return id === undefined
      ? next.orderBy(desc(entries.id)).limit(1)
      : next.where(gt(entries.id, id)).orderBy(asc(entries.id)).limit(1)
  })
  const change = await lastBefore((since - MARGIN_MS) / 1_000, async (id) => {
    const next = reader.select({ id: entryChanges.id, at: entryChanges.changedAt }).from(entryChanges)
    return id === undefined
      ? next.orderBy(desc(entryChanges.id)).limit(1)
      : next.where(gt(entryChanges.id, id)).orderBy(asc(entryChanges.id)).limit(1)
  })
  return { entry, change }
}

/** @param read the row after an id, or the last one */
async function lastBefore(
  moment: number,
  read: (id: number | undefined) => Promise<{ id: number; at: number }[]>,
): Promise<number> {
  const [last] = await read(undefined)
  let [low, high] = [0, last?.id ?? 0]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = await read(middle)
    if (row && row.at < moment) low = row.id
    else high = middle
  }
  return low
}
