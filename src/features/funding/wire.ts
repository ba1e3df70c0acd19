import { timestamp } from '../../lib/duration.ts'
import type { ExplainedFunding } from './explanation.ts'
import type { ListedFundingRule } from './rules.ts'
import type { FundingExplanation, FundingRuleBody } from './schema.ts'

export function fundingRuleBody({ rule, position }: ListedFundingRule): FundingRuleBody {
  const { uid, name, enabled, conditions, funding, plan, version, createdAt, changedAt } = rule
  return {
    id: uid,
    position,
    name,
    enabled,
    conditions,
    funding,
    plan: plan && { id: plan.uid, name: plan.name },
    version,
    created_at: timestamp(createdAt),
    changed_at: timestamp(changedAt),
  }
}

export function explanationBody({
  decision: { funding, plan, reason, note },
  steps,
}: ExplainedFunding): FundingExplanation {
  return {
    funding,
    plan: plan && { id: plan.uid, name: plan.name },
    reason,
    note,
    steps: steps.map(({ rule, ...step }) => ({ rule: { id: rule.uid, name: rule.name }, ...step })),
  }
}
