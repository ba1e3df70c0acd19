/** The shares of entries that are divided, and put together again. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Tx } from '../../../database/database.ts'
import { endBuilding, insertShares, type PeriodRecord } from './allocation.ts'

/** Whether the entry corrects a closed period, so that its amounts are no share of usage. */
export async function isCorrection(tx: Tx, entryId: number): Promise<boolean> {
  const { planCorrections: c } = tx.tables
  const [row] = await tx.select({ id: c.entryId }).from(c).where(eq(c.entryId, entryId))
  return row !== undefined
}

/** The periods in which entries have shares that count, locked: a calculation that has not seen the division ends. */
async function lockPeriodsOf(tx: Tx, entryIds: readonly number[]): Promise<PeriodRecord[]> {
  const { planPeriods: p, planShares: s } = tx.tables
  const found = await tx
    .selectDistinct({ id: s.generationId })
    .from(s)
    .innerJoin(p, eq(p.generationId, s.generationId))
    .where(inArray(s.entryId, [...entryIds]))
  if (found.length === 0) return []
  const ids = found.map(({ id }) => id)
  const periods = await tx.locking(tx.select().from(p).where(inArray(p.generationId, ids)), p)
  for (const period of periods) await endBuilding(tx, period)
  return periods
}

/** Divides the share of the first entry among all of them. */
export async function divideShares(
  tx: Tx,
  [whole, ...others]: readonly number[],
  divide: (amount: bigint) => bigint[],
): Promise<void> {
  const { planShares: s } = tx.tables
  for (const { generationId } of await lockPeriodsOf(tx, [whole!])) {
    const isWhole = and(eq(s.generationId, generationId!), eq(s.entryId, whole!))
    const [share] = await tx.select().from(s).where(isWhole)
    if (!share) continue
    const [fees, charges] = [divide(share.fee), divide(share.charge)]
    await tx.update(s).set({ fee: fees[0]!, charge: charges[0]! }).where(isWhole)
    await insertShares(
      tx,
      generationId!,
      others.map((entryId, at) => ({ entryId, fee: fees[at + 1]!, charge: charges[at + 1]! })),
    )
  }
}

/** Adds the shares of the other entries to that of the first. */
export async function uniteShares(tx: Tx, [whole, ...others]: readonly number[]): Promise<void> {
  const { planShares: s } = tx.tables
  for (const { generationId } of await lockPeriodsOf(tx, [whole!, ...others])) {
    const isOf = (ids: readonly number[]) => and(eq(s.generationId, generationId!), inArray(s.entryId, [...ids]))
    const shares = await tx
      .select()
      .from(s)
      .where(isOf([whole!, ...others]))
    const sum = { fee: 0n, charge: 0n }
    for (const { fee, charge } of shares) {
      sum.fee += fee
      sum.charge += charge
    }
    await tx.delete(s).where(isOf([whole!, ...others]))
    await insertShares(tx, generationId!, [{ entryId: whole!, ...sum }])
  }
}
