/** Why a bill leaves entries out, what to do about it, and links to these entries. */
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { before, ownPeriod } from '../../parts/period.ts'
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
  /** The last day before the period, and everything before it. */
  before: string
  bill: 'none'
  superseded: 'false'
  /** The statuses that can be billed, if no reason asks for others. */
  status: string[]
}

const entries =
  (filters: Parameters<typeof addressOf>[1]) =>
  ({ before: _, ...scope }: Scope) =>
    addressOf('/entries', { ...scope, billable: 'true', ...filters })

/** Entries outside of the bill's scope. */
const outside =
  (filters: Parameters<typeof addressOf>[1]) =>
  ({ before: _, client: _client, project: _project, ...period }: Scope) =>
    addressOf('/entries', { ...period, ...filters })

/** The statuses of entries that could still be billed. */
const UNBILLED = ['submitted', 'draft', 'pending', 'approved', 'rejected', 'held']

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
    href: entries({ billable: 'false', status: UNBILLED }),
  },
  earlier: {
    title: 'Before this period',
    advice: 'Unbilled entries left for another bill.',
    href: ({ before, ...scope }) => addressOf('/entries', { ...scope, period: before, billable: 'true' }),
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
}

/** The reasons that apply to a bill, in the order in which they are shown, each with the list of exactly its entries. */
export function reasonsIn(
  { left_out, scope, period }: Pick<BillDocument, 'left_out' | 'scope' | 'period'>,
  { isApprovalRequired }: { isApprovalRequired: boolean },
) {
  const filters: Scope = {
    client: scope.project ? undefined : scope.client?.id,
    project: scope.project?.key,
    period: ownPeriod(period),
    before: ownPeriod(before(period.from)),
    bill: 'none',
    superseded: 'false',
    status: isApprovalRequired ? ['approved'] : ['submitted', 'approved'],
  }
  return (Object.keys(REASONS) as Reason[]).flatMap((reason) => {
    const left = left_out[reason]
    return left && left.entries > 0 ? [{ ...REASONS[reason], reason, left, href: REASONS[reason].href(filters) }] : []
  })
}

/** "12 entries", "11 entries without a price: cost unknown", "12 entries (3 without a price)". */
export function entriesInWords({
  entries,
  unpriced_entries = 0,
  at_least,
}: Pick<BillDocument['left_out']['unpriced'], 'entries' | 'unpriced_entries' | 'at_least'>): string {
  const all = `${at_least ? 'more than ' : ''}${counted(entries, 'entry', 'entries')}`
  if (unpriced_entries === 0) return all
  return unpriced_entries === entries
    ? `${all} without a price: cost unknown`
    : `${all} (${count(unpriced_entries)} without a price)`
}
