/** Reads the terms that decide what entries are paid with. */
import { and, asc, eq, isNull, max } from 'drizzle-orm'
import type { Reader } from '../../database/database.ts'
import type { FundingRuleTerms, FundingTerms, PlanTerms } from './contract.ts'

export async function readFundingTerms(reader: Reader): Promise<FundingTerms> {
  return { plans: await listPlanTerms(reader), rules: await listRuleTerms(reader) }
}

async function listPlanTerms(reader: Reader): Promise<PlanTerms[]> {
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

async function listRuleTerms(reader: Reader): Promise<FundingRuleTerms[]> {
  const { fundingRules: rules, fundingRuleVersions: versions } = reader.tables
  const latest = reader
    .select({ ruleId: versions.ruleId, version: max(versions.version).as('latest_version') })
    .from(versions)
    .groupBy(versions.ruleId)
    .as('latest')
  return reader
    .select({
      id: rules.id,
      uid: rules.uid,
      versionId: versions.id,
      version: versions.version,
      name: versions.name,
      conditions: versions.conditions,
      funding: versions.funding,
      planId: versions.planId,
    })
    .from(rules)
    .innerJoin(latest, eq(latest.ruleId, rules.id))
    .innerJoin(versions, and(eq(versions.ruleId, rules.id), eq(versions.version, latest.version)))
    .where(and(eq(rules.enabled, true), isNull(rules.removedAt)))
    .orderBy(asc(rules.position), asc(rules.id))
}
