import type { Party } from '../../../access/actor.ts'
import { type Answer, type AnyAction, operation, result } from '../../../operations/operation.ts'
import type { Decision } from '../approval/states.ts'
import { EXAMPLE_ENTRY } from '../examples.ts'
import { EntryVoiding, Reason, TokenEntry } from '../schema.ts'
import type { EntriesService } from '../service.ts'

interface Needs {
  entries: Pick<EntriesService, 'approval'>
}

export const WHO =
  'Requires the role billing or admin, or being a lead or approver of the entry’s project, or the deputy of one. Entries on a token sheet are approved and returned with the sheet.'

/** What all decisions about an entry have in common. */
const DECIDING = {
  tag: 'Approval',
  allow: ['session'],
  scope: 'entries:approve',
  object: 'ent',
  method: 'POST',
  params: { id: 'ID of the entry (ent_…).' },
  problems: ['wrong_status', 'on_a_sheet'],
} as const satisfies Partial<AnyAction>

const entryNow = (status: TokenEntry['status']): Answer =>
  result('The updated entry.', TokenEntry, { ...EXAMPLE_ENTRY, status })

/** Of decisions without a reason. */
const decide =
  (action: Decision) =>
  ({ entries }: Needs, { params, approver }: { params: { id: string }; approver: Party }) =>
    entries.approval.decideEntry(params.id, { action }, approver)

const approveTokenEntry = operation({
  ...DECIDING,
  id: 'approveTokenEntry',
  path: '/token-entries/:id/approve',
  summary: 'Approve a submitted entry',
  description: `An approved entry’s figures and placement can no longer change. ${WHO} Only admins can approve their own entries, and a deputy does not approve those of the person for whom they act.`,
  answer: entryNow('approved'),
  run: decide('approve'),
})

const rejectTokenEntry = operation({
  ...DECIDING,
  id: 'rejectTokenEntry',
  path: '/token-entries/:id/reject',
  summary: 'Reject a submitted entry',
  description: `A rejected entry is excluded from bills, and stays rejected when its session continues. ${WHO}`,
  body: Reason,
  example: { reason: 'Test run, not billable' },
  answer: entryNow('rejected'),
  run: ({ entries }: Needs, { params, body: { reason }, approver }) =>
    entries.approval.decideEntry(params.id, { action: 'reject', reason }, approver),
})

const reopenTokenEntry = operation({
  ...DECIDING,
  id: 'reopenTokenEntry',
  path: '/token-entries/:id/reopen',
  summary: 'Reopen a rejected entry',
  description: `The entry becomes \`submitted\` again. ${WHO} Only admins can reopen their own entries.`,
  answer: entryNow('submitted'),
  run: decide('reopen'),
})

const withdrawApprovalOfTokenEntry = operation({
  ...DECIDING,
  id: 'withdrawApprovalOfTokenEntry',
  path: '/token-entries/:id/withdraw-approval',
  summary: 'Withdraw the approval of an entry',
  description: WHO,
  answer: entryNow('submitted'),
  run: decide('withdraw_approval'),
})

const releaseTokenEntry = operation({
  ...DECIDING,
  id: 'releaseTokenEntry',
  path: '/token-entries/:id/release',
  summary: 'Count a held entry',
  description: `The session is not a duplicate: all its entries that are held or discarded become \`submitted\`, and later reports of it count. Requires the role billing or admin. Only admins can release their own entries.`,
  answer: entryNow('submitted'),
  run: decide('release'),
})

const discardTokenEntry = operation({
  ...DECIDING,
  id: 'discardTokenEntry',
  path: '/token-entries/:id/discard',
  summary: 'Discard a held entry',
  description:
    'The session is a duplicate: its entries that are held, and those of later reports of it, are kept but never counted. Requires the role billing or admin, or being the owner.',
  answer: entryNow('discarded'),
  run: decide('discard'),
})

const voidTokenEntry = operation({
  ...DECIDING,
  id: 'voidTokenEntry',
  path: '/token-entries/:id/void',
  summary: 'Void an entry that was reported by mistake',
  description: `A voided entry is kept, but not counted: in no report, no budget and no bill. It can be restored. Void the bill of a billed entry first, or credit it. ${WHO}`,
  body: EntryVoiding,
  example: { reason: 'Test run with a wrong price' },
  answer: entryNow('voided'),
  run: ({ entries }: Needs, { params, body: { reason, later_reports: laterReports }, approver }) =>
    entries.approval.decideEntry(params.id, { action: 'void', reason, laterReports }, approver),
})

const restoreTokenEntry = operation({
  ...DECIDING,
  id: 'restoreTokenEntry',
  path: '/token-entries/:id/restore',
  summary: 'Restore a voided entry',
  description: `The entry becomes \`submitted\` again, and is counted. ${WHO} Only admins can restore their own entries.`,
  answer: entryNow('submitted'),
  run: decide('restore'),
})

export const approvalOperations = [
  approveTokenEntry,
  rejectTokenEntry,
  reopenTokenEntry,
  withdrawApprovalOfTokenEntry,
  releaseTokenEntry,
  discardTokenEntry,
  voidTokenEntry,
  restoreTokenEntry,
] as const
