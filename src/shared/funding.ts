/** How people read what pays for an entry, and why. Pure data: the web application and the command line load it too. */
import { FUNDINGS, type FundingKind, type FundingNote, type FundingReason } from '../database/schema/values.ts'

export { FUNDINGS }

export const FUNDING_TITLES = {
  metered: 'Metered',
  plan: 'Plan',
  credits: 'Credits',
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
}

/** Such as “Plan Claude Max”. */
export function fundingTitle({ kind, plan }: Pick<EntryFunding, 'kind' | 'plan'>): string {
  if (plan === null) return FUNDING_TITLES[kind]
  return kind === 'credits' ? `Credits of ${plan.name}` : `Plan ${plan.name}`
}

const NOTES: Record<FundingNote, (funding: EntryFunding) => string> = {
  plan_not_held: ({ reported_plan: plan }) =>
    plan === null
      ? ' A rule names a plan that the agent manager did not have on that day, so it was skipped.'
      : ` The plan “${plan}” of the report was ignored: the agent manager did not have it on that day.`,
  no_plan: () => ' The report says that a plan pays, but the agent manager had none on that day that covers it.',
  parts_differ: () => '',
}

/** Why it is paid for in this way, as sentences. */
export function fundingSentence(funding: EntryFunding): string {
  const { reason, rule, note, reported_plan: reported } = funding
  const because: Record<FundingReason, string> = {
    report:
      note === 'parts_differ' ? 'Slices of the entry were reported with different funding.' : 'The report says so.',
    agent: `The agent reported its plan as “${reported}”.`,
    rule: `The funding rule “${rule?.name}” says so.`,
    person: 'It is the plan of the agent manager on that day.',
    none: 'No report, funding rule or plan says how it is paid for.',
    correction: 'It corrects the shares of a period of the plan that was closed.',
  }
  return `${because[reason]}${note ? NOTES[note](funding) : ''}`
}
