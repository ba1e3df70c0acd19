/** Reads the terms that decide what entries are paid with. */
import { asc } from 'drizzle-orm'
import type { Reader } from '../../database/database.ts'
import type { FundingTerms, PlanTerms } from './contract.ts'
import { listFundingRules } from './store/rules.ts'

export async function readFundingTerms(reader: Reader): Promise<FundingTerms> {
  const rules = await listFundingRules(reader)
  return { plans: await listPlanTerms(reader), rules: rules.filter(({ enabled }) => enabled) }
}

export async function listPlanTerms(reader: Reader): Promise<PlanTerms[]> {
  const { plans, planHolders, planVersions } = reader.tables
  const { id, uid, name, holder, vendorCodes, endsOn } = plans
  const rows = await reader.select({ id, uid, name, holder, vendorCodes, endsOn }).from(plans).orderBy(asc(plans.id))
  if (rows.length === 0) return []
  const holders = await reader
    .select()
    .from(planHolders)
    .orderBy(asc(planHolders.planId), asc(planHolders.userId), asc(planHolders.fromDay))
  const versions = await reader.select().from(planVersions).orderBy(asc(planVersions.planId), asc(planVersions.fromDay))
  const holdersOf = Map.groupBy(holders, ({ planId }) => planId)
  const versionsOf = Map.groupBy(versions, ({ planId }) => planId)
  return rows.map((plan) => ({
    ...plan,
    holders: (holdersOf.get(plan.id) ?? []).map(({ userId, fromDay, toDay }) => ({ userId, fromDay, toDay })),
    versions: (versionsOf.get(plan.id) ?? []).map(({ fromDay, conditions, allowance }) => ({
      fromDay,
      conditions,
      hasAllowance: allowance !== null,
    })),
  }))
}
