/** Entries on token sheets. */

import { and, eq, gt, inArray, lt, ne, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import { exactTotal } from '../../../database/exact-sum.ts'
import type { Status } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import { notingChanges } from '../../spending/contract.ts'
import { type EntryRecord, type EntryView, selectViews, viewTables } from '../store.ts'

/** The entry of a sheet with this public id; undefined if it is not on the sheet. */
export async function findOnSheet(reader: Reader, sheetId: number, uid: Id<'ent'>): Promise<EntryView | undefined> {
  const { entries } = reader.tables
  const [row] = await selectViews(reader).where(and(eq(entries.sheetId, sheetId), eq(entries.uid, uid)))
  return row
}

/** All entries of a sheet. */
export async function listOnSheet(reader: Reader, sheetId: number): Promise<EntryView[]> {
  return selectViews(reader).where(eq(reader.tables.entries.sheetId, sheetId))
}

/** Deletes one or all drafts of a sheet, with their history, and returns what they were. */
export async function deleteDrafts(
  tx: Tx,
  sheetId: number,
  entryId?: number,
): Promise<Pick<EntryRecord, 'id' | 'uid' | 'managerId' | 'projectId'>[]> {
  const { entries, entryHistory } = tx.tables
  const condition = and(eq(entries.sheetId, sheetId), entryId === undefined ? undefined : eq(entries.id, entryId))
  const ids = tx.select({ id: entries.id }).from(entries).where(condition)
  await tx.delete(entryHistory).where(inArray(entryHistory.entryId, ids))
  return tx
    .delete(entries)
    .where(condition)
    .returning({ id: entries.id, uid: entries.uid, managerId: entries.managerId, projectId: entries.projectId })
}

/** Changes the status of a sheet's entries, and returns their keys. */
export async function updateSheetStatuses(
  tx: Tx,
  sheetId: number,
  { from, to, now }: { from: Status; to: Status; now: number },
): Promise<number[]> {
  const { entries } = tx.tables
  const isMoved = and(eq(entries.sheetId, sheetId), eq(entries.status, from))
  const ids = (await tx.select({ id: entries.id }).from(entries).where(isMoved)).map(({ id }) => id)
  const moved = await notingChanges(tx, ids, () =>
    tx.update(entries).set({ status: to, updatedAt: now }).where(isMoved).returning({ id: entries.id }),
  )
  return moved.map(({ id }) => id)
}

export interface SheetSum {
  sheetId: number
  entries: number
  unpricedEntries: number
  billedEntries: number
  tokens: bigint
  costNanos: bigint
  listValueNanos: bigint
}

/** Sums of the entries that the viewer may see; a sheet without visible entries has no sum. */
export async function sumSheets(reader: Reader, sheetIds: readonly number[], viewer: Viewer): Promise<SheetSum[]> {
  const { entries: e } = reader.tables
  const countOf = (condition: SQL) => sql`sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`.mapWith(Number)
  const rows = await reader
    .select({
      sheetId: e.sheetId,
      entries: sql`count(*)`.mapWith(Number),
      unpricedEntries: countOf(sql`coalesce(${e.reportedCost}, ${e.listValue}) IS NULL`),
      billedEntries: countOf(sql`${e.billId} IS NOT NULL`),
      tokens: exactTotal(sql`${e.input} + ${e.output} + ${e.cacheRead} + ${e.cacheWrite} + ${e.cacheWrite1h}`),
      costNanos: exactTotal(sql`coalesce(${e.reportedCost}, ${e.listValue})`),
      listValueNanos: exactTotal(e.listValue),
    })
    .from(e)
    .where(and(inArray(e.sheetId, [...sheetIds]), await visibleEntries(reader, viewer)))
    .groupBy(e.sheetId)
  return rows.map((row) => ({ ...row, sheetId: row.sheetId! }))
}

/** A project of entries on a sheet; null for unattributed ones. */
export interface SheetProject {
  sheetId: number
  projectId: number | null
  project: { uid: Id<'prj'>; key: string; name: string } | null
}

/** Of all entries, including those that the caller may not see. */
export async function listSheetProjects(reader: Reader, sheetIds: readonly number[]): Promise<SheetProject[]> {
  const { entries, projects } = reader.tables
  const rows = await reader
    .selectDistinct({
      sheetId: entries.sheetId,
      projectId: entries.projectId,
      project: { uid: projects.uid, key: projects.key, name: projects.name },
    })
    .from(entries)
    .leftJoin(projects, eq(projects.id, entries.projectId))
    .where(inArray(entries.sheetId, [...sheetIds]))
  return rows.map((row) => ({ ...row, sheetId: row.sheetId! }))
}

/** The time span of an entry's harness, as needed to find overlaps. */
export interface Span {
  uid: Id<'ent'>
  harness: string
  /** The canonical name by which harnesses are compared. */
  canonicalHarnessId: number
  startedAt: number
  endedAt: number
}

function selectSpans(reader: Reader) {
  const { entries, harnesses } = viewTables(reader.tables)
  return reader
    .select({
      uid: entries.uid,
      harness: harnesses.text,
      canonicalHarnessId: sql`coalesce(${harnesses.canonicalId}, ${harnesses.id})`.mapWith(Number),
      startedAt: entries.startedAt,
      endedAt: entries.endedAt,
    })
    .from(entries)
    .innerJoin(harnesses, eq(harnesses.id, entries.harnessId))
}

export async function listSheetSpans(reader: Reader, sheetId: number, viewer: Viewer): Promise<Span[]> {
  return selectSpans(reader).where(
    and(eq(reader.tables.entries.sheetId, sheetId), await visibleEntries(reader, viewer)),
  )
}

/** Reported entries of a person that ran between two moments. Rejected, held, discarded, voided and superseded ones are excluded. */
export async function listReportedSpans(
  reader: Reader,
  { managerId, from, to }: { managerId: number; from: number; to: number },
  viewer: Viewer,
): Promise<Span[]> {
  const { entries } = reader.tables
  return selectSpans(reader).where(
    and(
      eq(entries.managerId, managerId),
      lt(entries.startedAt, to + 1),
      or(gt(entries.endedAt, from), eq(entries.startedAt, from)),
      ne(entries.source, 'sheet'),
      notInArray(entries.status, ['rejected', 'held', 'discarded', 'voided']),
      eq(entries.superseded, false),
      await visibleEntries(reader, viewer),
    ),
  )
}
