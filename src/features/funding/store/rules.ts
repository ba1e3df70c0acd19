/** The tables `funding_rules` and `funding_rule_versions`. Versions are only ever added. */
import { and, asc, eq, isNull, max } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, newId } from '../../../lib/id.ts'
import type { FundingRuleTerms } from '../contract.ts'

type VersionRecord = Tables['fundingRuleVersions']['$inferSelect']

/** A rule that was not removed, in its latest version. */
export interface FundingRule extends FundingRuleTerms {
  /** The sort key; removed rules leave gaps. */
  position: number
  enabled: boolean
  plan: { id: number; uid: Id<'pln'>; name: string } | null
  createdAt: number
  changedAt: number
}

/** In the order in which they are tried. */
export async function listFundingRules(reader: Reader): Promise<FundingRule[]> {
  const { fundingRules: rules, fundingRuleVersions: versions, plans } = reader.tables
  const latest = reader
    .select({ ruleId: versions.ruleId, version: max(versions.version).as('latest_version') })
    .from(versions)
    .groupBy(versions.ruleId)
    .as('latest')
  return reader
    .select({
      id: rules.id,
      uid: rules.uid,
      position: rules.position,
      enabled: rules.enabled,
      createdAt: rules.createdAt,
      versionId: versions.id,
      version: versions.version,
      name: versions.name,
      conditions: versions.conditions,
      funding: versions.funding,
      planId: versions.planId,
      plan: { id: plans.id, uid: plans.uid, name: plans.name },
      changedAt: versions.createdAt,
    })
    .from(rules)
    .innerJoin(latest, eq(latest.ruleId, rules.id))
    .innerJoin(versions, and(eq(versions.ruleId, rules.id), eq(versions.version, latest.version)))
    .leftJoin(plans, eq(plans.id, versions.planId))
    .where(isNull(rules.removedAt))
    .orderBy(asc(rules.position), asc(rules.id))
}

/** Adds a rule with its first version. */
export async function insertFundingRule(
  tx: Tx,
  { position, enabled }: { position: number; enabled: boolean },
  version: Omit<VersionRecord, 'id' | 'ruleId' | 'version'>,
): Promise<Id<'frl'>> {
  const { fundingRules } = tx.tables
  const [rule] = await tx
    .insert(fundingRules)
    .values({ uid: newId('frl'), position, enabled, createdAt: version.createdAt })
    .returning({ id: fundingRules.id, uid: fundingRules.uid })
  await insertFundingRuleVersion(tx, { ruleId: rule!.id, version: 1, ...version })
  return rule!.uid
}

export async function insertFundingRuleVersion(tx: Tx, version: Omit<VersionRecord, 'id'>): Promise<void> {
  await tx.insert(tx.tables.fundingRuleVersions).values(version)
}

export async function updateFundingRule(
  tx: Tx,
  id: number,
  change: { enabled?: boolean; position?: number; removedAt?: number },
): Promise<void> {
  const { fundingRules } = tx.tables
  await tx.update(fundingRules).set(change).where(eq(fundingRules.id, id))
}
