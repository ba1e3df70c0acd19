/** Entries on bills: frozen when one is sent, and as they were before when it is void. */
import { eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../../database/database.ts'

/** Freezes the entries that are put on a bill's lines. */
export async function freezeEntries(tx: Tx, billId: number): Promise<void> {
  const { entries, billEntries } = tx.tables
  const ofBill = tx.select({ id: billEntries.entryId }).from(billEntries).where(eq(billEntries.billId, billId))
  await tx.update(entries).set({ status: 'billed', billId }).where(inArray(entries.id, ofBill))
}

/** Releases the entries of a bill to the status that each had before. */
export async function releaseEntries(tx: Tx, billId: number): Promise<void> {
  const { entries, billEntries } = tx.tables
  await tx
    .update(entries)
    .set({
      billId: null,
      status: sql`(select ${billEntries.statusBefore} from ${billEntries} where ${billEntries.billId} = ${billId} and ${billEntries.entryId} = ${entries.id})`,
    })
    .where(eq(entries.billId, billId))
}
