/** Token sheets; `entries/` manages their entries. */
import {
  aliasedTable,
  and,
  count,
  eq,
  exists,
  gt,
  gte,
  inArray,
  isNull,
  lt,
  lte,
  min,
  not,
  notInArray,
  or,
  sql,
} from 'drizzle-orm'
import {
  approvedProjects,
  isApprovable,
  type PendingScope,
  type Viewer,
  visibleSheets,
} from '../../access/visibility.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { Tables } from '../../database/schema/tables.ts'
import type { SheetStatus } from '../../database/schema/values.ts'
import { lowered, pageIn, type SortKeys } from '../../database/sorting.ts'
import { type Id, isId } from '../../lib/id.ts'
import { foldName } from '../../lib/names.ts'
import type { PageRequest } from '../../schema/query.ts'
import type { SHEET_SORTS } from './sorts.ts'

export type SheetRecord = Tables['sheets']['$inferSelect']
export type NewSheet = Pick<
  SheetRecord,
  'uid' | 'managerId' | 'firstDay' | 'lastDay' | 'startingAt' | 'endingAt' | 'note' | 'createdAt'
>
export type SheetChange = Partial<
  Pick<SheetRecord, 'status' | 'reason' | 'submittedAt' | 'decidedAt' | 'decidedBy' | 'updatedAt'>
>

/** A sheet with the names of people. */
export interface SheetView {
  sheet: SheetRecord
  manager: { id: number; uid: Id<'usr'>; name: string; email: string }
  decider: { uid: Id<'usr'>; name: string; email: string } | null
}

/** Several values of one filter match any of them; several filters must all match. */
export interface SheetFilter {
  statuses?: SheetStatus[] | undefined
  /** Ids (`usr_…`) or e-mail addresses. */
  managers?: string[] | undefined
  /** Sheets whose period begins at or after this time. */
  startingAt?: number | undefined
  /** Sheets whose period begins before this time. */
  endingAt?: number | undefined
  /** Sheets whose period ends after this time; together with `endingAt`, those that share days with a period. */
  endingAfter?: number | undefined
  /** Sheets whose period has ended by this time. */
  endedBefore?: number | undefined
}

function selectSheets(reader: Reader) {
  const { sheets, users } = reader.tables
  const deciders = aliasedTable(users, 'decider')
  return reader
    .select({
      sheet: sheets,
      manager: { id: users.id, uid: users.uid, name: users.name, email: users.email },
      decider: { uid: deciders.uid, name: deciders.name, email: deciders.email },
    })
    .from(sheets)
    .innerJoin(users, eq(users.id, sheets.managerId))
    .leftJoin(deciders, eq(deciders.id, sheets.decidedBy))
}

function conditionOf(
  reader: Reader,
  { statuses, managers, startingAt, endingAt, endingAfter, endedBefore }: SheetFilter,
) {
  const { sheets, users } = reader.tables
  const named =
    managers &&
    reader
      .select({ id: users.id })
      .from(users)
      .where(
        or(
          inArray(users.uid, managers.filter((manager) => isId('usr', manager)) as Id<'usr'>[]),
          inArray(users.email, managers.map(foldName)),
        ),
      )
  return and(
    statuses && inArray(sheets.status, statuses),
    named && inArray(sheets.managerId, named),
    startingAt === undefined ? undefined : gte(sheets.startingAt, startingAt),
    endingAt === undefined ? undefined : lt(sheets.startingAt, endingAt),
    endingAfter === undefined ? undefined : gt(sheets.endingAt, endingAfter),
    endedBefore === undefined ? undefined : lte(sheets.endingAt, endedBefore),
  )
}

/** The number of sheets of one person, and when the first of their periods began. */
export async function countOwnSheets(
  reader: Reader,
  managerId: number,
  filter: Pick<SheetFilter, 'statuses' | 'endedBefore'>,
): Promise<{ sheets: number; oldestAt: number | null }> {
  const { sheets } = reader.tables
  const [row] = await reader
    .select({ sheets: count(), oldestAt: min(sheets.startingAt) })
    .from(sheets)
    .where(and(eq(sheets.managerId, managerId), conditionOf(reader, filter)))
  return row!
}

export const SHEET_KEYS: SortKeys<typeof SHEET_SORTS, SheetView> = {
  period: { sql: ({ sheets }) => sheets.firstDay, of: ({ sheet }) => sheet.firstDay },
  agent_manager: { sql: ({ users }) => sql`lower(${users.name})`, of: ({ manager }) => lowered(manager.name) },
  status: { sql: ({ sheets }) => sheets.status, of: ({ sheet }) => sheet.status },
  updated_at: {
    sql: ({ sheets }) => sql`coalesce(${sheets.updatedAt}, ${sheets.createdAt})`,
    of: ({ sheet }) => sheet.updatedAt ?? sheet.createdAt,
  },
}

/** Sheets newest first, unless the page has another order. */
export async function listSheets(
  reader: Reader,
  { filter, viewer, limit, ...page }: PageRequest<keyof typeof SHEET_SORTS> & { filter: SheetFilter; viewer: Viewer },
): Promise<SheetView[]> {
  const { behind, order } = pageIn(reader, reader.tables.sheets.id, page, SHEET_KEYS)
  return selectSheets(reader)
    .where(and(conditionOf(reader, filter), visibleSheets(reader, viewer), behind))
    .orderBy(...order)
    .limit(limit)
}

/** The sheet with this public id, if the viewer may see it. */
export async function findSheet(reader: Reader, uid: Id<'sht'>, viewer: Viewer): Promise<SheetView | undefined> {
  const [row] = await selectSheets(reader).where(and(eq(reader.tables.sheets.uid, uid), visibleSheets(reader, viewer)))
  return row
}

/**
 * Submitted sheets that wait for an approver, oldest submission first: those whose entries are all of projects that the
 * approver answers for.
 */
export async function listWaitingSheets(
  reader: Reader,
  scope: PendingScope,
  { startingAt, endingAt }: Pick<SheetFilter, 'startingAt' | 'endingAt'>,
): Promise<SheetView[]> {
  const { sheets, entries } = reader.tables
  const isWithin = (ids: readonly number[]) =>
    not(
      exists(
        reader
          .select({ id: entries.id })
          .from(entries)
          .where(
            and(
              eq(entries.sheetId, sheets.id),
              or(isNull(entries.projectId), notInArray(entries.projectId, approvedProjects(reader, ids))),
            ),
          ),
      ),
    )
  return selectSheets(reader)
    .where(
      and(
        conditionOf(reader, { statuses: ['submitted'], startingAt, endingAt }),
        isApprovable(scope, { ownerId: sheets.managerId, isWithin }),
      ),
    )
    .orderBy(sheets.submittedAt, sheets.id)
}

export async function insertSheet(tx: Tx, sheet: NewSheet): Promise<void> {
  await tx.insert(tx.tables.sheets).values({ ...sheet, status: 'open' })
}

/**
 * Updates a sheet. Every change of a sheet or its entries begins with this, which locks the row, so that changes are
 * serialized on PostgreSQL too.
 */
export async function updateSheet(tx: Tx, id: number, change: SheetChange): Promise<void> {
  const { sheets } = tx.tables
  await tx.update(sheets).set(change).where(eq(sheets.id, id))
}

/** The sheet's entries must already be deleted. */
export async function deleteSheet(tx: Tx, id: number): Promise<void> {
  const { sheets } = tx.tables
  await tx.delete(sheets).where(eq(sheets.id, id))
}
