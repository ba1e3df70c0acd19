/** What bills need to know of plans: which of their periods are not closed, and which entries correct the shares of others. */
import { asc, eq, inArray, type SQLWrapper } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { addDays, startOfDay } from '../../../lib/calendar.ts'
import type { Id } from '../../../lib/id.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { OPEN_STATUSES } from '../../selection/contract.ts'

/** A period of a plan that is not closed: the shares of its fee, and the charges beyond its allowance, may change. */
export interface OpenPeriod {
  plan: { id: Id<'pln'>; name: string }
  firstDay: string
  lastDay: string | null
}

interface PlanPeriod {
  startsAt: number
  endsAt: number
  /** Undefined once it is closed. */
  open: OpenPeriod | undefined
  hasAllowance: boolean
}

export interface Correction {
  id: number
  /** Whether it may still be billed. */
  isOpen: boolean
  projectId: number | null
  clientId: number | null
  startedAt: number
}

export interface PlanFacts {
  /** By the basis, which counts corrections without an amount on it 0: a bill by another basis can still settle them. */
  isUncounted: (id: number) => boolean
  /** The keys of these, for a condition; undefined if there are none. */
  uncounted: SQLWrapper | undefined
  uncountedCorrections: readonly Correction[]
  /** The period of an entry, if its amount on the basis may change until that is closed. Those of corrections never do. */
  openPeriodOf: (entry: { id: number; fundingId: number | null; startedAt: number }) => OpenPeriod | undefined
}

/** The facts for bills by each basis, read once. */
export function planFacts(reader: Reader, timeZone: string): (basis: CostBasis) => Promise<PlanFacts> {
  const known = new Map<CostBasis, Promise<PlanFacts>>()
  let corrections: ReturnType<typeof listCorrections> | undefined
  let periods: ReturnType<typeof listFundedPeriods> | undefined

  async function read(basis: CostBasis): Promise<PlanFacts> {
    corrections ??= listCorrections(reader)
    const all = await corrections
    const ids = new Set(all.map(({ id }) => id))
    const uncounted = all.filter(({ charge }) => basis !== 'allocated' && !(basis === 'marginal' && charge !== 0n))
    const uncountedIds = new Set(uncounted.map(({ id }) => id))
    if (basis === 'marginal' || basis === 'allocated') periods ??= listFundedPeriods(reader, timeZone)
    const periodsOf = await periods
    return {
      isUncounted: (id) => uncountedIds.has(id),
      uncounted: uncounted.length === 0 ? undefined : correctionKeys(reader, basis),
      uncountedCorrections: uncounted,
      openPeriodOf({ id, fundingId, startedAt }) {
        if (fundingId === null || ids.has(id)) return undefined
        const found = periodsOf?.get(fundingId)
        const period = found?.find(({ endsAt }) => startedAt < endsAt) ?? found?.at(-1)
        return period && (basis === 'allocated' || period.hasAllowance) ? period.open : undefined
      },
    }
  }
  return (basis) => known.getOrInsertComputed(basis, () => read(basis))
}

function correctionKeys(reader: Reader, basis: CostBasis): SQLWrapper {
  const { planCorrections } = reader.tables
  const keys = reader.select({ id: planCorrections.entryId }).from(planCorrections)
  return basis === 'marginal' ? keys.where(eq(planCorrections.charge, 0n)) : keys
}

async function listCorrections(reader: Reader): Promise<(Correction & { charge: bigint })[]> {
  const { entries, planCorrections, projects } = reader.tables
  const rows = await reader
    .select({
      id: entries.id,
      charge: planCorrections.charge,
      status: entries.status,
      superseded: entries.superseded,
      startedAt: entries.startedAt,
      projectId: entries.projectId,
      clientId: projects.clientId,
      billable: projects.billable,
    })
    .from(planCorrections)
    .innerJoin(entries, eq(entries.id, planCorrections.entryId))
    .leftJoin(projects, eq(projects.id, entries.projectId))
  return rows.map(({ status, superseded, billable, ...row }) => ({
    ...row,
    isOpen: OPEN_STATUSES.includes(status) && !superseded && billable !== false,
  }))
}

/** The periods of the plan of each funding that has one, in order. */
async function listFundedPeriods(reader: Reader, timeZone: string): Promise<Map<number, PlanPeriod[]>> {
  const { fundings, plans, planPeriods, planVersions } = reader.tables
  const rows = await reader
    .select({ period: planPeriods, uid: plans.uid, name: plans.name })
    .from(planPeriods)
    .innerJoin(plans, eq(plans.id, planPeriods.planId))
    .orderBy(asc(planPeriods.firstDay))
  if (rows.length === 0) return new Map()
  const versions = await reader
    .select({ planId: planVersions.planId, fromDay: planVersions.fromDay, allowance: planVersions.allowance })
    .from(planVersions)
    .orderBy(asc(planVersions.fromDay))
  const ofPlan = new Map<number, PlanPeriod[]>()
  for (const { period, uid, name } of rows) {
    const { planId, firstDay, lastDay, closedAt } = period
    const terms = versions.findLast((version) => version.planId === planId && version.fromDay <= firstDay)
    ofPlan
      .getOrInsertComputed(planId, () => [])
      .push({
        startsAt: startOfDay(firstDay, timeZone),
        endsAt: lastDay === null ? Number.POSITIVE_INFINITY : startOfDay(addDays(lastDay, 1), timeZone),
        open: closedAt === null ? { plan: { id: uid, name }, firstDay, lastDay } : undefined,
        hasAllowance: terms !== undefined && terms.allowance !== null,
      })
  }
  const funded = await reader
    .select({ id: fundings.id, planId: fundings.planId })
    .from(fundings)
    .where(inArray(fundings.planId, [...ofPlan.keys()]))
  return new Map(funded.map(({ id, planId }) => [id, ofPlan.get(planId!)!]))
}

/** Seats that nobody used in periods that begin on these days, and what they cost in nano-dollars. */
export async function sumUnusedSeats(
  reader: Reader,
  { from, to }: { from: string; to: string },
): Promise<{ seats: number; costNanos: bigint }> {
  const { planPeriods } = reader.tables
  const rows = await reader.select().from(planPeriods)
  const begun = rows.filter(({ firstDay, unusedSeats }) => unusedSeats > 0 && firstDay >= from && firstDay <= to)
  return {
    seats: begun.reduce((sum, { unusedSeats }) => sum + unusedSeats, 0),
    costNanos: begun.reduce((sum, { unused }) => sum + unused, 0n),
  }
}
