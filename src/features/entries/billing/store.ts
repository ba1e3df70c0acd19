/** Entries on bills: frozen when a bill is sent, released to their previous status when it is voided. */
import { and, asc, between, eq, inArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Status } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'

/** Entries by their keys, both included. */
export interface KeyRange {
  first: number
  last: number
}

/** The entries of a range that are on the lines of a bill. */
function onLines(tx: Tx, billId: number, { first, last }: KeyRange) {
  const { billEntries } = tx.tables
  return tx
    .select({ id: billEntries.entryId })
    .from(billEntries)
    .where(and(eq(billEntries.billId, billId), between(billEntries.entryId, first, last)))
}

/** Freezes the entries on a bill's lines. */
export async function freezeRange(
  tx: Tx,
  billId: number,
  { now, ...range }: KeyRange & { now: number },
): Promise<void> {
  const { entries } = tx.tables
  await tx
    .update(entries)
    .set({ status: 'billed', billId, updatedAt: now })
    .where(inArray(entries.id, onLines(tx, billId, range)))
}

/** The first `limit` entries that a bill still has, as a range of keys; undefined if it has none. */
export async function findFrozen(tx: Tx, billId: number, limit: number): Promise<KeyRange | undefined> {
  const { entries } = tx.tables
  const rows = await tx
    .select({ id: entries.id })
    .from(entries)
    .where(eq(entries.billId, billId))
    .orderBy(asc(entries.id))
    .limit(limit)
  return rows.length === 0 ? undefined : { first: rows[0]!.id, last: rows.at(-1)!.id }
}

/** Returns entries of a bill to their previous status, and their keys with it. */
export async function unfreezeEntries(
  tx: Tx,
  billId: number,
  { first, last, now }: KeyRange & { now: number },
): Promise<{ id: number; status: Status }[]> {
  const { entries, billEntries } = tx.tables
  return tx
    .update(entries)
    .set({
      billId: null,
      updatedAt: now,
      status: sql`(select ${billEntries.statusBefore} from ${billEntries} where ${billEntries.billId} = ${billId} and ${billEntries.entryId} = ${entries.id})`,
    })
    .where(and(eq(entries.billId, billId), between(entries.id, first, last)))
    .returning({ id: entries.id, status: entries.status })
}

/** Takes entries off the lines of a bill that is not sent. */
export async function removeFromLines(tx: Tx, billId: number, { first, last }: KeyRange): Promise<void> {
  const { billEntries } = tx.tables
  await tx.delete(billEntries).where(and(eq(billEntries.billId, billId), between(billEntries.entryId, first, last)))
}

/**
 * Moves entries that were on a bill to the current project of their ticket, otherwise to the one that their project was
 * merged into. Returns those that moved, with their projects.
 */
export async function followWork(
  tx: Tx,
  billId: number,
  { now, ...range }: KeyRange & { now: number },
): Promise<{ entryId: number; project: Id<'prj'> }[]> {
  const { entries, projects, tickets } = tx.tables
  const ofTicket = sql`(select ${tickets.projectId} from ${tickets} where ${tickets.id} = ${entries.ticketId})`
  const merged = sql`(select ${projects.mergedIntoId} from ${projects} where ${projects.id} = ${entries.projectId})`
  const place = sql`coalesce(${ofTicket}, ${merged})`
  const moved = await tx
    .update(entries)
    .set({ projectId: place, updatedAt: now })
    .where(and(inArray(entries.id, onLines(tx, billId, range)), sql`${place} <> ${entries.projectId}`))
    .returning({ entryId: entries.id, projectId: entries.projectId })
  const ids = [...new Set(moved.map(({ projectId }) => projectId!))]
  if (ids.length === 0) return []
  const rows = await tx.select({ id: projects.id, uid: projects.uid }).from(projects).where(inArray(projects.id, ids))
  const uids = new Map(rows.map(({ id, uid }) => [id, uid]))
  return moved.map(({ entryId, projectId }) => ({ entryId, project: uids.get(projectId!)! }))
}

export async function getBill(tx: Tx, billId: number): Promise<Pick<Tables['bills']['$inferSelect'], 'uid' | 'state'>> {
  const { bills } = tx.tables
  const [row] = await tx.select({ uid: bills.uid, state: bills.state }).from(bills).where(eq(bills.id, billId))
  return row!
}

/** Removes a bill that was not sent; the database refuses any other. */
export async function removeBill(tx: Tx, billId: number): Promise<void> {
  const { bills } = tx.tables
  await tx.delete(bills).where(eq(bills.id, billId))
}

export type LeaseRecord = Tables['billingLease']['$inferSelect']

/** The only row. */
export async function getLease(reader: Reader): Promise<LeaseRecord> {
  const lease = reader.prepared('billing-lease', (prepare) => {
    const { billingLease } = prepare.tables
    return prepare.select().from(billingLease)
  })
  const [row] = await lease.execute()
  return row!
}

/** Changes the lease if it still has this version; false if another process has changed it. */
export async function updateLease(tx: Tx, version: number, change: Partial<Omit<LeaseRecord, 'id'>>): Promise<boolean> {
  const { billingLease } = tx.tables
  const rows = await tx
    .update(billingLease)
    .set(change)
    .where(eq(billingLease.version, version))
    .returning({ id: billingLease.id })
  return rows.length > 0
}

/**
 * The status and the bill of an entry as everyone sees them, in a query: without the bill whose entries are being
 * claimed or released. For exports; lists, whose rows reports read as well, use `withStatusesBefore`.
 */
export function settledColumns(reader: Reader) {
  const { entries, billEntries, billingLease } = reader.tables
  const { billId, status } = entries
  const isClaimed = sql`${billId} = (SELECT ${billingLease.billId} FROM ${billingLease})`
  const before = sql`(SELECT ${billEntries.statusBefore} FROM ${billEntries} WHERE ${billEntries.billId} = ${billId} AND ${billEntries.entryId} = ${entries.id})`
  return {
    status: sql<Status>`CASE WHEN ${isClaimed} THEN ${before} ELSE ${status} END`,
    billId: sql<number | null>`CASE WHEN ${isClaimed} THEN NULL ELSE ${billId} END`.mapWith(billId),
  }
}

/** The status of each entry before it was put on the bill that it is on now. */
export async function listStatusesBefore(
  reader: Reader,
  entryIds: readonly number[],
): Promise<Map<number, 'submitted' | 'approved'>> {
  const { entries, billEntries } = reader.tables
  const rows = await reader
    .select({ id: entries.id, status: billEntries.statusBefore })
    .from(entries)
    .innerJoin(billEntries, and(eq(billEntries.billId, entries.billId), eq(billEntries.entryId, entries.id)))
    .where(inArray(entries.id, [...entryIds]))
  return new Map(rows.map(({ id, status }) => [id, status]))
}
