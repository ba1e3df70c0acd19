/** How people read what pays for an entry, and why. Pure data: the web application and the command line load it too. */
import { FUNDINGS, type FundingKind, type FundingNote, type FundingReason } from '../database/schema/values.ts'

export { FUNDINGS }

export const FUNDING_TITLES = {
  metered: 'Metered',
  plan: 'Plan',
  credits: 'Credits',
  mixed: 'Mixed',
  unknown: 'Unknown',
} as const satisfies Record<FundingKind, string>

/** As the API describes it. */
interface EntryFunding {
  kind: FundingKind
  plan: { name: string } | null
  reason: FundingReason
  rule: { name: string } | null
  note: FundingNote | null
  reported_plan: string | null
  /** From 0 to 1. */
  metered_share: number | null
}

/** Such as “Plan Claude Max”. */
export function fundingTitle({ kind, plan }: Pick<EntryFunding, 'kind' | 'plan'>): string {
  if (plan === null) return FUNDING_TITLES[kind]
  if (kind === 'mixed') return `Metered and ${plan.name}`
  return kind === 'credits' ? `Credits of ${plan.name}` : `Plan ${plan.name}`
}

const NOTES: Record<FundingNote, (funding: EntryFunding) => string> = {
  plan_not_held: ({ reported_plan: plan }) =>
    plan === null
      ? ' A rule names a plan that the agent manager did not have on that day, so it was skipped.'
      : ` The plan “${plan}” of the report was ignored: the agent manager did not have it on that day.`,
  no_plan: () => ' The report says that a plan pays, but the agent manager had none on that day that covers it.',
  parts_differ: () => '',
  mixed_by_tokens: ({ metered_share: share }) =>
    ` ${Math.round(share! * 1_000) / 10}% of its tokens are metered, and the plan pays for the rest.`,
}

/** What was paid, as the API describes it. */
interface PaidEntry {
  funding: Pick<EntryFunding, 'kind' | 'plan'>
  marginal_cost: number | null
  fee_share: number | null
  provisional: boolean
  /** Only details have it. */
  settled_by?: string | null
}

const LATE = 'The entry arrived after the period was closed: a correction contains'

/** Why the marginal cost is what it is, as a sentence. */
export function marginalSentence({ funding: { kind, plan }, marginal_cost: cost, settled_by }: PaidEntry): string {
  if (plan !== null) {
    if (cost === null) return 'Unpriced, or not calculated yet.'
    if (settled_by) return `${LATE} what it was charged in addition to the fee, if anything.`
    if (kind === 'mixed') return `What is metered, and what is beyond the allowance of ${plan.name}.`
    return cost === 0
      ? `Covered by ${plan.name}: nothing in addition to the fee.`
      : `Beyond the allowance of ${plan.name}.`
  }
  if (kind !== 'metered' && kind !== 'credits') return 'What pays for this entry is unknown.'
  if (cost === null) return 'Unpriced.'
  return kind === 'metered' ? 'Metered: the cost.' : 'Credits were charged: the cost.'
}

/** Whether the allocated cost is known, and not shown. */
export const hidesFees = ({ marginal_cost: cost, fee_share: share }: PaidEntry): boolean =>
  cost !== null && share === null

/** Why the allocated cost is what it is, as a sentence. For those who see fees. */
export function allocatedSentence(entry: PaidEntry): string {
  const { funding, marginal_cost: cost, fee_share: share, provisional } = entry
  if (funding.plan === null || cost === null || share === null) return marginalSentence(entry)
  if (entry.settled_by) return `${LATE} its share of the fee of ${funding.plan.name}.`
  const parts = cost === 0 ? 'The share of' : 'The marginal cost and the share of'
  return `${parts} the fee of ${funding.plan.name}${provisional ? ', provisional until the period is closed' : ''}.`
}

/** Why it is paid for in this way, as sentences. */
export function fundingSentence(funding: EntryFunding): string {
  const { reason, rule, note, reported_plan: reported } = funding
  const because: Record<FundingReason, string> = {
    report:
      note === 'parts_differ' || note === 'mixed_by_tokens'
        ? 'Slices of the entry were reported with different funding.'
        : 'The report says so.',
    agent: `The agent reported its plan as “${reported}”.`,
    rule: `The funding rule “${rule?.name}” says so.`,
    person: 'It is the plan of the agent manager on that day.',
    none: 'No report, funding rule or plan says how it is paid for.',
    correction: 'It corrects the shares of a period of the plan that was closed.',
  }
  return `${because[reason]}${note ? NOTES[note](funding) : ''}`
}
