/** Entries on bills: frozen when a bill is sent, released to their previous status when it is voided. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../../database/database.ts'
import type { Id } from '../../../lib/id.ts'

/** Freezes the entries on a bill's lines. */
export async function freezeEntries(tx: Tx, billId: number): Promise<void> {
  const { entries, billEntries } = tx.tables
  const ofBill = tx.select({ id: billEntries.entryId }).from(billEntries).where(eq(billEntries.billId, billId))
  await tx.update(entries).set({ status: 'billed', billId }).where(inArray(entries.id, ofBill))
}

/** Returns the entries of a bill to their previous status, and the keys of those that may change again. */
export async function releaseEntries(tx: Tx, billId: number): Promise<number[]> {
  const { entries, billEntries } = tx.tables
  const released = await tx
    .update(entries)
    .set({
      billId: null,
      status: sql`(select ${billEntries.statusBefore} from ${billEntries} where ${billEntries.billId} = ${billId} and ${billEntries.entryId} = ${entries.id})`,
    })
    .where(eq(entries.billId, billId))
    .returning({ id: entries.id, status: entries.status })
  return released.filter(({ status }) => status === 'submitted').map(({ id }) => id)
}

/**
 * Moves entries that were on a bill to the current project of their ticket, otherwise to the one that their project was
 * merged into. Returns those that moved, with their projects.
 */
export async function followWork(
  tx: Tx,
  billId: number,
  now: number,
): Promise<{ entryId: number; project: Id<'prj'> }[]> {
  const { entries, billEntries, projects, tickets } = tx.tables
  const ofBill = tx.select({ id: billEntries.entryId }).from(billEntries).where(eq(billEntries.billId, billId))
  const ofTicket = sql`(select ${tickets.projectId} from ${tickets} where ${tickets.id} = ${entries.ticketId})`
  const merged = sql`(select ${projects.mergedIntoId} from ${projects} where ${projects.id} = ${entries.projectId})`
  const place = sql`coalesce(${ofTicket}, ${merged})`
  const moved = await tx
    .update(entries)
    .set({ projectId: place, updatedAt: now })
    .where(and(inArray(entries.id, ofBill), sql`${place} <> ${entries.projectId}`))
    .returning({ entryId: entries.id, projectId: entries.projectId })
  const ids = [...new Set(moved.map(({ projectId }) => projectId!))]
  if (ids.length === 0) return []
  const rows = await tx.select({ id: projects.id, uid: projects.uid }).from(projects).where(inArray(projects.id, ids))
  const uids = new Map(rows.map(({ id, uid }) => [id, uid]))
  return moved.map(({ entryId, projectId }) => ({ entryId, project: uids.get(projectId!)! }))
}
