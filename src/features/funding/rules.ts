/** Funding rules as people edit them: in an order, each in its latest version. What they decide is in `decide.ts`. */
import type { Actor } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { RuleCondition } from '../../database/schema/records.ts'
import { FUNDINGS, type StatedFunding } from '../../database/schema/values.ts'
import { type Issue, refusal, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { composeName, foldName } from '../../lib/names.ts'
import { issuesOfName } from '../../schema/fields.ts'
import { type AuditService, difference } from '../audit/service.ts'
import { issuesOfConditions, type Positioned, ruleOrder } from '../placement/contract.ts'
import type { PlanTerms } from './contract.ts'
import {
  type FundingRule,
  insertFundingRule,
  insertFundingRuleVersion,
  listFundingRules,
  updateFundingRule,
} from './store/rules.ts'
import { listPlanTerms } from './store.ts'

/** Limit of rules, because all of them are listed in one response and ordered by hand. */
export const RULES_LIMIT = 200

export type ListedFundingRule = Positioned<FundingRule>

export interface FundingRuleFields {
  name: string
  /** Empty to match all usage. */
  conditions: RuleCondition[]
  funding: StatedFunding
  /** Id or name; of `plan` and `credits` alone. */
  plan: string | null
}

export interface NewFundingRule extends FundingRuleFields {
  /** Default: true. */
  enabled?: boolean | undefined
  /** From 1; by default the last. */
  position?: number | undefined
}

/** Absent fields stay as they are. */
export type FundingRuleChange = { [Field in keyof FundingRuleFields]?: FundingRuleFields[Field] | undefined } & {
  enabled?: boolean | undefined
}

export interface FundingRulesDependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export type FundingRules = ReturnType<typeof createFundingRules>

export function createFundingRules({ db, clock, audit }: FundingRulesDependencies) {
  const order = ruleOrder<FundingRule>({ one: 'funding rule', of: 'funding', audit, move: updateFundingRule })

  /** Throws `validation_failed` with every issue, and `already_exists` if another rule has the name. */
  async function check(reader: Reader, fields: FundingRuleFields, others: readonly FundingRule[]) {
    const { name, conditions, funding, plan: named } = fields
    const issues: Issue[] = [...issuesOfName(name, '/name'), ...issuesOfConditions(conditions)]
    issues.push(...issuesOfFunding(funding))
    const needsPlan = funding === 'plan' || funding === 'credits'
    const plan = named === null ? undefined : await findPlan(reader, named)
    if (needsPlan && named === null) {
      issues.push({ pointer: '/plan', code: 'required', message: `is required: which plan pays with ${funding}?` })
    } else if (named !== null && !needsPlan) {
      issues.push({ pointer: '/plan', code: 'not_allowed', message: `is not allowed with the funding ${funding}` })
    } else if (named !== null && !plan) {
      const message = `'${named}' is not the id or name of a plan; add the plan first`
      issues.push({ pointer: '/plan', code: 'unknown_plan', message })
    }
    if (issues.length > 0) throw validationFailed(issues)
    order.refuseTakenName(name, others)
    return { name, conditions: conditions.map(({ field, matches }) => ({ field, matches })), funding, plan }
  }

  const versionOf = ({ plan, ...fields }: Awaited<ReturnType<typeof check>>) => ({
    ...fields,
    planId: plan?.id ?? null,
    createdAt: clock.now(),
  })

  async function addIn(tx: Tx, by: Actor, given: NewFundingRule): Promise<ListedFundingRule> {
    const rules = await listFundingRules(tx)
    if (rules.length >= RULES_LIMIT) throw refusal('', 'too_many', `there can be at most ${RULES_LIMIT} funding rules`)
    const checked = await check(tx, { ...given, name: composeName(given.name) }, rules)
    const position = Math.max(0, ...rules.map((rule) => rule.position)) + 1
    const uid = await insertFundingRule(tx, { position, enabled: given.enabled ?? true }, versionOf(checked))
    const { rule } = order.get(await listFundingRules(tx), uid)
    await audit.record(tx, by, { action: 'funding_rule.added', object: objectOf(rule), after: recordOf(rule) })
    const at = Math.min(given.position ?? rules.length + 1, rules.length + 1)
    if (at <= rules.length) await order.write(tx, rules.toSpliced(at - 1, 0, rule))
    return { rule, position: at }
  }

  async function changeIn(tx: Tx, by: Actor, named: string, change: FundingRuleChange): Promise<ListedFundingRule> {
    const rules = await listFundingRules(tx)
    const { rule } = order.get(rules, named)
    const { enabled = rule.enabled, ...changed } = change
    const fields = { ...fieldsOf(rule), ...defined(changed) }
    // A rule that no longer names a plan does not keep one.
    if (
      change.funding !== undefined &&
      change.plan === undefined &&
      !(fields.funding === 'plan' || fields.funding === 'credits')
    ) {
      fields.plan = null
    }
    const others = rules.filter((other) => other !== rule)
    const checked = await check(tx, { ...fields, name: composeName(fields.name) }, others)
    if (enabled !== rule.enabled) await updateFundingRule(tx, rule.id, { enabled })
    if (difference(saysOf(rule), saysOf({ ...checked, plan: checked.plan ?? null }))) {
      await insertFundingRuleVersion(tx, { ruleId: rule.id, version: rule.version + 1, ...versionOf(checked) })
    }
    const after = order.get(await listFundingRules(tx), rule.uid)
    const differs = difference(recordOf(rule), recordOf(after.rule))
    if (differs) {
      await audit.record(tx, by, { action: 'funding_rule.changed', object: objectOf(after.rule), ...differs })
    }
    return after
  }

  async function removeIn(tx: Tx, by: Actor, named: string): Promise<void> {
    const { rule } = order.get(await listFundingRules(tx), named)
    await updateFundingRule(tx, rule.id, { removedAt: clock.now() })
    await audit.record(tx, by, { action: 'funding_rule.removed', object: objectOf(rule), before: recordOf(rule) })
  }

  async function orderIn(tx: Tx, by: Actor, ids: readonly string[]): Promise<ListedFundingRule[]> {
    return order.reorder(tx, by, { rules: await listFundingRules(tx), ids })
  }

  return {
    /** All rules in the order in which they are tried. */
    listFundingRules: async (): Promise<ListedFundingRule[]> => order.positioned(await listFundingRules(db.read)),

    /** By id or name. Throws `not_found`. */
    getFundingRule: async (named: string): Promise<ListedFundingRule> =>
      order.get(await listFundingRules(db.read), named),

    /** Throws `validation_failed` with every issue, and `already_exists` if another rule has the name. */
    addFundingRule: (by: Actor, given: NewFundingRule): Promise<ListedFundingRule> =>
      db.write((tx) => addIn(tx, by, given)),

    /** Throws as {@link addFundingRule}, and `not_found`. */
    changeFundingRule: (by: Actor, named: string, change: FundingRuleChange): Promise<ListedFundingRule> =>
      db.write((tx) => changeIn(tx, by, named, change)),

    /** Throws `not_found`. */
    removeFundingRule: (by: Actor, named: string): Promise<void> => db.write((tx) => removeIn(tx, by, named)),

    /** Throws `rules_changed` (409) unless every existing rule is named exactly once. */
    orderFundingRules: (by: Actor, ids: readonly string[]): Promise<ListedFundingRule[]> =>
      db.write((tx) => orderIn(tx, by, ids)),

    /** Each in the transaction of its caller, so that it can be rehearsed. Throw as the check says, and `not_found`. */
    rulesIn: { add: addIn, change: changeIn, remove: removeIn, order: orderIn },
  }
}

export function issuesOfFunding(funding: StatedFunding): Issue[] {
  if (FUNDINGS.includes(funding)) return []
  return [{ pointer: '/funding', code: 'not_allowed', message: `must be one of ${FUNDINGS.join(', ')}` }]
}

async function findPlan(reader: Reader, named: string): Promise<Pick<PlanTerms, 'id' | 'uid' | 'name'> | undefined> {
  const plans = await listPlanTerms(reader)
  return plans.find(({ uid, name }) => uid === named || foldName(name) === foldName(named))
}

function fieldsOf({ name, conditions, funding, plan }: FundingRule): FundingRuleFields {
  return { name, conditions, funding, plan: plan?.uid ?? null }
}

/** The versioned fields, for comparison. */
function saysOf({
  name,
  conditions,
  funding,
  plan,
}: Omit<FundingRuleFields, 'plan'> & { plan: { name: string } | null }) {
  return { name, conditions, funding, plan: plan?.name ?? null }
}

/** The audit log record, with the API's field names. */
function recordOf(rule: FundingRule): Record<string, unknown> {
  return { ...saysOf(rule), enabled: rule.enabled }
}

function objectOf({ uid, name }: FundingRule) {
  return { id: uid, name }
}
