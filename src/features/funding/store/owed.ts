/** That entries are to be decided again: triggers write it in the transaction of each change of plans and rules. */
import { eq, sql } from 'drizzle-orm'
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

/** Owes deciding what pays for entries from a day on, as those that another Tally had; nothing where nothing decides. */
export async function oweFunding(tx: Tx, { since, fromDay }: Pick<OwedFunding, 'since' | 'fromDay'>): Promise<void> {
  const { fundingOwed: owed, fundingRules, plans } = tx.tables
  const [rule] = await tx.select({ id: fundingRules.id }).from(fundingRules).limit(1)
  const [plan] = rule ? [rule] : await tx.select({ id: plans.id }).from(plans).limit(1)
  if (!plan) return
  await tx
    .insert(owed)
    .values({ id: 1, since, fromDay, changes: 1 })
    .onConflictDoUpdate({
      target: owed.id,
      set: {
        fromDay: sql`CASE WHEN ${owed.fromDay} < excluded.from_day THEN ${owed.fromDay} ELSE excluded.from_day END`,
        changes: sql`${owed.changes} + 1`,
      },
    })
}
