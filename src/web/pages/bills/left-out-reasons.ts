/** Why a bill leaves entries out, what to do about it, and links to these entries. */
import { BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { before, FIRST_DAY, ownPeriod } from '../../parts/period.ts'
import { basisInAddress } from '../../server/cost-basis.ts'
import type { BillDocument } from './bill-body.ts'

type Reason = keyof BillDocument['left_out']

interface Advice {
  title: string
  /** What to do to bill these entries. */
  advice: string
  href: (scope: Scope) => string
}

/** Filters for the entries in the bill's scope that are neither on a bill nor superseded. */
interface Scope {
  client: string | undefined
  project: string | undefined
  period: string
  /** Everything before the period, and the statuses of the entries there that are left for another bill. */
  before: { period: string; status: string[] }
  /** The period, and everything before it if that is billed as well. */
  billed: string
  bill: 'none'
  superseded: 'false'
  /** The list counts cost by it. */
  basis: CostBasis | undefined
  /** The statuses that can be billed, if no reason asks for others. */
  status: string[]
}

const entries =
  (filters: Parameters<typeof addressOf>[1]) =>
  ({ before: _before, billed: _billed, ...scope }: Scope) =>
    addressOf('/entries', { ...scope, billable: 'true', ...filters })

/** Entries outside of the bill's scope. */
const outside =
  (filters: Parameters<typeof addressOf>[1]) =>
  ({ before: _before, billed: _billed, client: _client, project: _project, ...period }: Scope) =>
    addressOf('/entries', { ...period, status: OPEN, ...filters })

/** The statuses of entries that may still be billed. */
const OPEN = ['submitted', 'draft', 'pending', 'approved', 'held']

const REASONS: Record<Reason, Advice> = {
  unpriced: {
    title: 'Unpriced',
    advice: 'Their cost is unknown. Set a price for their models.',
    href: (scope) => entries({ priced: 'false', period: scope.billed })(scope),
  },
  not_approved: { title: 'Not approved', advice: 'Approve them to bill them.', href: entries({ status: 'submitted' }) },
  on_sheets: {
    title: 'On token sheets',
    advice: 'Their token sheets are not approved yet.',
    href: entries({ status: ['draft', 'pending'] }),
  },
  rejected: {
    title: 'Rejected',
    advice: 'Reopen any entry that was rejected by mistake.',
    href: entries({ status: 'rejected' }),
  },
  held: {
    title: 'Possible duplicates',
    advice: 'Another person has reported the same sessions. Release or discard them.',
    href: entries({ status: 'held' }),
  },
  not_billable: {
    title: 'Not billable',
    advice: 'Their projects are marked as not billable.',
    href: entries({ billable: 'false', status: [...OPEN, 'rejected'] }),
  },
  earlier: {
    title: 'Before this period',
    advice: 'Left for another bill, or not approved yet.',
    href: (scope) => entries(scope.before)(scope),
  },
  unattributed: {
    title: 'Unattributed',
    advice: 'Not assigned to a project. Some may belong to this client.',
    href: outside({ placed: 'none' }),
  },
  without_client: {
    title: 'In projects without a client',
    advice: 'Assign these projects to a client.',
    href: outside({ client: 'none', billable: 'true' }),
  },
  without_project: {
    title: 'On tickets without a project',
    advice: 'Assign these tickets to a project.',
    href: outside({ project: 'none', placed: ['named', 'rule', 'manual'] }),
  },
  corrections: {
    title: 'Corrections of shares',
    advice: 'They concern shares of the fees of plans: bill them by allocated cost.',
    href: ({ client, project, billed, bill }) =>
      addressOf('/entries', { client, project, period: billed, bill, correction: 'true', basis: 'allocated' }),
  },
}

/** By another basis than the cost. */
const UNKNOWN: Pick<Advice, 'title' | 'advice'> = {
  title: 'Unknown on this basis',
  advice: 'Nothing says what pays for them, or they have no price. The amount is their reported cost or list value.',
}

/** The reasons that apply to a bill, in the order in which they are shown, each with the list of exactly its entries. */
export function reasonsIn(
  {
    basis = 'cost',
    left_out,
    scope,
    period,
    sections,
  }: Pick<BillDocument, 'basis' | 'left_out' | 'scope' | 'period' | 'sections'>,
  { isApprovalRequired, costBasis = 'cost' }: { isApprovalRequired: boolean; costBasis?: CostBasis },
) {
  const billable = isApprovalRequired ? ['approved'] : ['submitted', 'approved']
  // The period's own section has no title.
  const includesEarlier = sections.some(({ title }) => title !== null)
  const filters: Scope = {
    client: scope.project ? undefined : scope.client?.id,
    project: scope.project?.key,
    period: ownPeriod(period),
    before: {
      period: ownPeriod(before(period.from)),
      status: includesEarlier ? OPEN.filter((status) => !billable.includes(status)) : OPEN,
    },
    billed: ownPeriod(includesEarlier ? { from: FIRST_DAY, to: period.to } : period),
    bill: 'none',
    superseded: 'false',
    basis: basisInAddress(basis, { cost_basis: costBasis }),
    status: billable,
  }
  return (Object.keys(REASONS) as Reason[]).flatMap((reason) => {
    const left = left_out[reason]
    if (!left || left.entries === 0) return []
    const isUnknown = reason === 'unpriced' && basis !== 'cost'
    const href = isUnknown
      ? entries({ unknown_cost: basis, period: filters.billed })(filters)
      : REASONS[reason].href(filters)
    return [
      {
        ...REASONS[reason],
        ...(isUnknown && UNKNOWN),
        reason,
        left,
        href,
        isUnpriced: reason === 'unpriced' && !isUnknown,
      },
    ]
  })
}

/** "12 entries", "11 entries without a price: cost unknown", "12 entries (3 without a price)". */
export function entriesInWords({
  entries,
  unpriced_entries = 0,
  at_least,
  basis = 'cost',
}: Pick<BillDocument['left_out']['unpriced'], 'entries' | 'unpriced_entries' | 'at_least'> & {
  basis?: CostBasis | undefined
}): string {
  const all = `${at_least ? 'more than ' : ''}${counted(entries, 'entry', 'entries')}`
  if (unpriced_entries === 0) return all
  const unknown = basis === 'cost' ? 'without a price' : `of unknown ${BASIS_TITLES[basis].toLowerCase()}`
  if (unpriced_entries < entries) return `${all} (${count(unpriced_entries)} ${unknown})`
  return basis === 'cost' ? `${all} without a price: cost unknown` : `${all} ${unknown}`
}
