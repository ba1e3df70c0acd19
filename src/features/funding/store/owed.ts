/** That entries are to be decided again: triggers write it in the transaction of each change of plans and rules. */
import { eq } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export type OwedFunding = Tables['fundingOwed']['$inferSelect']

export async function findOwedFunding(reader: Reader): Promise<OwedFunding | undefined> {
  const [owed] = await reader.select().from(reader.tables.fundingOwed)
  return owed
}

/** Removes what was owed when the work began; it stays if another change owes the same since. */
export async function settleOwedFunding(tx: Tx, { changes }: OwedFunding): Promise<void> {
  const { fundingOwed } = tx.tables
  await tx.delete(fundingOwed).where(eq(fundingOwed.changes, changes))
}
