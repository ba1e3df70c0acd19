/** The tables `placement_rules` and `placement_rule_versions`. Versions are only ever added. */
import { and, asc, count, eq, gt, gte, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { RuleCondition } from '../../database/schema/records.ts'
import { type Id, newId } from '../../lib/id.ts'

/** The current state of a rule: its position and its latest version. */
export interface RuleRecord {
  id: number
  uid: Id<'rul'>
  position: number
  enabled: boolean
  leadRepository: string | null
  createdAt: number
  versionId: number
  version: number
  name: string
  conditions: RuleCondition[]
  projectId: number
  ticket: string | null
  changedAt: number
}

/** All rules that were not removed, in order: those of leads come after all others, whatever their positions. */
export async function listRules(reader: Reader): Promise<RuleRecord[]> {
  const { placementRules: rules, placementRuleVersions: versions } = reader.tables
  const newest = reader
    .select({ ruleId: versions.ruleId, version: sql<number>`max(${versions.version})`.as('newest_version') })
    .from(versions)
    .groupBy(versions.ruleId)
    .as('newest')
  return reader
    .select({
      id: rules.id,
      uid: rules.uid,
      position: rules.position,
      enabled: rules.enabled,
      leadRepository: rules.leadRepository,
      createdAt: rules.createdAt,
      versionId: versions.id,
      version: versions.version,
      name: versions.name,
      conditions: versions.conditions,
      projectId: versions.projectId,
      ticket: versions.ticket,
      changedAt: versions.createdAt,
    })
    .from(rules)
    .innerJoin(newest, eq(newest.ruleId, rules.id))
    .innerJoin(versions, and(eq(versions.ruleId, rules.id), eq(versions.version, newest.version)))
    .where(isNull(rules.removedAt))
    .orderBy(sql`${rules.leadRepository} IS NOT NULL`, asc(rules.position), asc(rules.id))
}

/** A version of a rule. */
export interface RuleVersion {
  uid: Id<'rul'>
  name: string
  version: number
  conditions: RuleCondition[]
  ticket: string | null
  projectId: number
}

export async function getRuleVersion(reader: Reader, id: number): Promise<RuleVersion> {
  const { placementRules: rules, placementRuleVersions: versions } = reader.tables
  const [row] = await reader
    .select({
      uid: rules.uid,
      name: versions.name,
      version: versions.version,
      conditions: versions.conditions,
      ticket: versions.ticket,
      projectId: versions.projectId,
    })
    .from(versions)
    .innerJoin(rules, eq(rules.id, versions.ruleId))
    .where(eq(versions.id, id))
  return row!
}

export interface NewVersion {
  name: string
  conditions: RuleCondition[]
  projectId: number
  ticket: string | null
  createdAt: number
  createdBy: number | null
}

/** Adds a rule with its first version. */
export async function insertRule(
  tx: Tx,
  { position, enabled, leadRepository }: { position: number; enabled: boolean; leadRepository: string | null },
  version: NewVersion,
): Promise<Id<'rul'>> {
  const { placementRules } = tx.tables
  const [rule] = await tx
    .insert(placementRules)
    .values({ uid: newId('rul'), position, enabled, leadRepository, createdAt: version.createdAt })
    .returning({ id: placementRules.id, uid: placementRules.uid })
  await insertVersion(tx, rule!.id, 1, version)
  return rule!.uid
}

export async function insertVersion(tx: Tx, ruleId: number, version: number, says: NewVersion): Promise<void> {
  await tx.insert(tx.tables.placementRuleVersions).values({ ruleId, version, ...says })
}

/** How often a person has changed rules of leads since a moment, also removed ones. */
export async function countLeadChanges(reader: Reader, personId: number, since: number): Promise<number> {
  const { placementRules: rules, placementRuleVersions: versions } = reader.tables
  const [row] = await reader
    .select({ changes: count() })
    .from(versions)
    .innerJoin(rules, eq(rules.id, versions.ruleId))
    .where(
      and(
        eq(versions.createdBy, personId),
        gte(versions.createdAt, since),
        gt(versions.version, 1),
        isNotNull(rules.leadRepository),
      ),
    )
  return row!.changes
}

export async function updateRule(
  tx: Tx,
  id: number,
  change: { enabled?: boolean; position?: number; removedAt?: number; leadRepository?: null },
): Promise<void> {
  const { placementRules } = tx.tables
  await tx.update(placementRules).set(change).where(eq(placementRules.id, id))
}
