/** Why a bill leaves entries out, what to do about it, and links to these entries. */
import { addressOf } from '../../address.ts'
import { before, ownPeriod } from '../../parts/period.ts'
import type { BillDocument } from './bill-body.ts'

type Reason = keyof BillDocument['left_out']

interface Advice {
  title: string
  /** What to do to bill these entries. */
  advice: string
  href: (scope: Scope) => string
}

/** Filters for the entries in the bill's scope. */
interface Scope {
  client: string | undefined
  project: string | undefined
  period: string
  /** The last day before the period, and everything before it. */
  before: string
}

const entries =
  (filters: Parameters<typeof addressOf>[1]) =>
  ({ before: _, ...scope }: Scope) =>
    addressOf('/entries', { ...scope, ...filters })

const REASONS: Record<Reason, Advice> = {
  unpriced: {
    title: 'Unpriced',
    advice: 'Their cost is unknown. Set a price for their models.',
    href: entries({ priced: 'false' }),
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
    href: entries({ billable: 'false' }),
  },
  earlier: {
    title: 'Before this period',
    advice: 'Unbilled entries left for another bill.',
    href: ({ before, ...scope }) => addressOf('/entries', { ...scope, period: before, bill: 'none' }),
  },
  unattributed: {
    title: 'Unattributed',
    advice: 'Not assigned to a project. Some may belong to this client.',
    href: () => '/unattributed',
  },
  without_client: {
    title: 'In projects without a client',
    advice: 'Assign these projects to a client.',
    href: () => addressOf('/work', { client: 'none' }),
  },
  without_project: {
    title: 'On tickets without a project',
    advice: 'Assign these tickets to a project.',
    href: () => addressOf('/work', { tab: 'tickets', project: 'none' }),
  },
}

/** The reasons that apply to a bill, in the order in which they are shown. */
export function reasonsIn({ left_out, scope, period }: Pick<BillDocument, 'left_out' | 'scope' | 'period'>) {
  const filters: Scope = {
    client: scope.project ? undefined : scope.client?.id,
    project: scope.project?.key,
    period: ownPeriod(period),
    before: ownPeriod(before(period.from)),
  }
  return (Object.keys(REASONS) as Reason[]).flatMap((reason) => {
    const left = left_out[reason]
    return left && left.entries > 0 ? [{ ...REASONS[reason], reason, left, href: REASONS[reason].href(filters) }] : []
  })
}
