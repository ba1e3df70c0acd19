/** What pays for an entry, by what was said of it and by the plans and rules (docs/plans.md, "What pays for usage"). Pure. */
import type { SaidFunding } from '../../../database/schema/records.ts'
import { dayNumberAt, dayText } from '../../../lib/calendar.ts'
import { type Funded, type FundingDecisions, saidOf } from '../../funding/service.ts'
import type { EntryView } from '../store.ts'

/** The plans and rules that decide, and the time zone of the days on which people hold plans. */
export interface FundingCircumstances {
  funding: FundingDecisions
  timeZone: string
}

type FundingView = Pick<EntryView, 'funding' | 'fundingPlan' | 'fundingRule' | 'fundingRuleVersion'>

/** How an entry was said to be paid for; null if nothing was said. */
export function saidOfEntry({ funding }: Pick<FundingView, 'funding'>): SaidFunding | null {
  return funding && saidOf(funding.saidFunding, funding.saidPlan, funding.meteredShare)
}

/** Null if nothing says how the entry is paid for: then to look is all that it costs. */
export function decide(
  { funding, timeZone }: FundingCircumstances,
  { entry, manager, harness, agent, model, provider, labels }: EntryView,
  said: SaidFunding | null,
): Funded | null {
  if (said === null && funding.isEmpty) return null
  const day = dayText(dayNumberAt(entry.startedAt, timeZone))
  const subject = {
    agentHarness: harness,
    agentName: agent,
    model,
    provider,
    manager,
    summary: entry.summary,
    labels,
    managerId: entry.managerId,
  }
  return funding.decide(subject, said, day)
}

const NO_FUNDING: FundingView = { funding: null, fundingPlan: null, fundingRule: null, fundingRuleVersion: null }

export function fundingView(funded: Funded | null): FundingView {
  if (funded === null) return NO_FUNDING
  const { said, funding, plan, rule, reason, note } = funded
  return {
    funding: {
      saidFunding: said?.funding ?? null,
      saidPlan: said?.plan ?? null,
      meteredShare: said?.metered_share ?? null,
      ...{ funding, reason, note },
    },
    fundingPlan: plan && { uid: plan.uid, name: plan.name },
    fundingRule: rule?.uid ?? null,
    fundingRuleVersion: rule && { name: rule.name, version: rule.version },
  }
}

/** Whether the entry has what was decided. */
export function isFundedAs(
  { funding, fundingPlan, fundingRule, fundingRuleVersion }: FundingView,
  funded: Funded | null,
) {
  if (funding === null || funded === null) return funding === funded
  return (
    funding.funding === funded.funding &&
    funding.reason === funded.reason &&
    funding.note === funded.note &&
    funding.saidFunding === (funded.said?.funding ?? null) &&
    funding.saidPlan === (funded.said?.plan ?? null) &&
    funding.meteredShare === (funded.said?.metered_share ?? null) &&
    fundingPlan?.uid === funded.plan?.uid &&
    fundingRule === (funded.rule?.uid ?? null) &&
    fundingRuleVersion?.version === funded.rule?.version
  )
}

/** As the history of an entry shows it. */
export function fundingChange(from: FundingView, to: FundingView): Record<string, unknown> {
  return { from: shown(from), to: shown(to) }
}

function shown({ funding, fundingPlan, fundingRule, fundingRuleVersion }: FundingView) {
  return {
    funding: funding?.funding ?? 'unknown',
    plan: fundingPlan && { id: fundingPlan.uid, name: fundingPlan.name },
    reason: funding?.reason ?? 'none',
    ...(fundingRule && { rule: { id: fundingRule, ...fundingRuleVersion } }),
  }
}
