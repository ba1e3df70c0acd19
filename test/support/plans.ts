/** Plans for tests of what they decide, as rows: what people enter is tested with the plans themselves. */
import { eq } from 'drizzle-orm'
import type { Database, Tx } from '../../src/database/database.ts'
import type { RuleCondition } from '../../src/database/schema/records.ts'
import { newId } from '../../src/lib/id.ts'

export interface TestPlan {
  name: string
  /** Ids of its people; everybody if absent. */
  people?: { id: number; from?: string; to?: string }[]
  holder?: 'person' | 'people'
  codes?: string[]
  from?: string
  endsOn?: string
  covers?: RuleCondition[]
}

export async function addPlan(db: Database, plan: TestPlan) {
  const { name, people, holder = 'people', codes = [], from = '2026-01-01', endsOn = null, covers = [] } = plan
  const { plans, planHolders, planVersions } = db.read.tables
  const uid = newId('pln')
  await db.write(async (tx) => {
    const [added] = await tx
      .insert(plans)
      .values({
        uid,
        name,
        vendor: 'Anthropic',
        product: name,
        holder: people ? holder : 'organization',
        vendorCodes: codes,
        endsOn,
        createdAt: 0,
      })
      .returning({ id: plans.id })
    const planId = added!.id
    const terms = { fee: 100_000_000_000n, currency: 'USD', seats: 1, period: 'month', conditions: covers } as const
    await tx.insert(planVersions).values({ ...terms, conditions: covers, planId, fromDay: from })
    for (const { id: userId, from: fromDay = from, to: toDay = null } of people ?? []) {
      await tx.insert(planHolders).values({ planId, userId, fromDay, toDay })
    }
  })
  return uid
}

export async function endPlan(db: Database, name: string, endsOn: string): Promise<void> {
  const { plans } = db.read.tables
  await db.write(async (tx) => void (await tx.update(plans).set({ endsOn }).where(eq(plans.name, name))))
}

/** The shares of a calculation of a period, which is the one that counts or was replaced. */
export async function addShares(
  tx: Tx,
  {
    planId,
    firstDay,
    closedAt = null,
    range = { startingAt: 0, endingAt: 0 },
    counts = true,
    chargesCost = false,
    shares,
  }: {
    planId: number
    firstDay: string
    closedAt?: number | null
    /** Its moments. */
    range?: { startingAt: number; endingAt: number }
    counts?: boolean
    chargesCost?: boolean
    shares: readonly { entryId: number; fee: bigint; charge: bigint }[]
  },
): Promise<void> {
  const { planGenerations, planPeriods, planShares } = tx.tables
  const [generation] = await tx
    .insert(planGenerations)
    .values({ planId, firstDay, createdAt: 0 })
    .returning({ id: planGenerations.id })
  const generationId = generation!.id
  if (shares.length > 0) await tx.insert(planShares).values(shares.map((share) => ({ ...share, generationId })))
  if (!counts) return
  await tx.insert(planPeriods).values({
    ...{ planId, firstDay, generationId, closedAt, chargesCost, ...range, calculatedAt: 0, durationMs: 0 },
    ...{ fee: 100_000_000_000n, unused: 0n, unusedSeats: 0, pending: 0n },
    ...{ entries: shares.length, unpricedEntries: 0, lateEntries: 0 },
  })
}
