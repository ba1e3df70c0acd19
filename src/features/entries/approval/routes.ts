import { Elysia, t } from 'elysia'
import { type Issue, validationFailed } from '../../../errors.ts'
import { access, approverOf, askerOf, partyOf, requireTokenScope } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { Query, type QueryTexts } from '../../../schema/query.ts'
import { readFilter } from '../../selection/contract.ts'
import { entryFilters } from '../../selection/parameters.ts'
import type { SelectionService } from '../../selection/service.ts'
import { actionResults } from '../action-results.ts'
import { EXAMPLE_ACTION_RESULTS, EXAMPLE_ENTRY } from '../examples.ts'
import type { Selection } from '../listing/selection.ts'
import { EntryVoiding, Reason, TokenEntriesAction, TokenEntriesActionResults, TokenEntry } from '../schema.ts'
import type { EntriesService } from '../service.ts'

const tag = 'Approval'

const WHO =
  'Requires the role billing or admin, or being a lead or approver of the entry’s project, or the deputy of one. Entries on a token sheet are approved and returned with the sheet.'
const path = { id: 'ID of the entry (ent_…).' }
const problems = ['wrong_status', 'on_a_sheet'] as const

const entryNow = (status: TokenEntry['status']) => ({
  200: { description: 'The updated entry.', schema: TokenEntry, example: { ...EXAMPLE_ENTRY, status } },
})

export const approvalRoutes = ({ entries, selection }: { entries: EntriesService; selection: SelectionService }) =>
  new Elysia({ name: 'approval', normalize: false })
    .use(access())
    .post(
      '/:id/approve',
      ({ params, caller, address }) =>
        entries.approval.decideEntry(params.id, { action: 'approve' }, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        detail: documented({
          id: 'approveTokenEntry',
          tag,
          summary: 'Approve a submitted entry',
          description: `An approved entry’s figures and placement can no longer change. ${WHO} Only admins can approve their own entries, and a deputy does not approve those of the person for whom they act.`,
          path,
          responses: entryNow('approved'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/reject',
      ({ params, body, caller, address }) =>
        entries.approval.decideEntry(
          params.id,
          { action: 'reject', reason: body.reason },
          approverOf({ caller, address }),
        ),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        parse: 'report',
        body: Reason,
        detail: documented({
          id: 'rejectTokenEntry',
          tag,
          summary: 'Reject a submitted entry',
          description: `A rejected entry is excluded from bills, and stays rejected when its session continues. ${WHO}`,
          path,
          body: { example: { reason: 'Test run, not billable' } },
          responses: entryNow('rejected'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/reopen',
      ({ params, caller, address }) =>
        entries.approval.decideEntry(params.id, { action: 'reopen' }, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        detail: documented({
          id: 'reopenTokenEntry',
          tag,
          summary: 'Reopen a rejected entry',
          description: `The entry becomes \`submitted\` again. ${WHO} Only admins can reopen their own entries.`,
          path,
          responses: entryNow('submitted'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/withdraw-approval',
      ({ params, caller, address }) =>
        entries.approval.decideEntry(params.id, { action: 'withdraw_approval' }, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        detail: documented({
          id: 'withdrawApprovalOfTokenEntry',
          tag,
          summary: 'Withdraw the approval of an entry',
          description: WHO,
          path,
          responses: entryNow('submitted'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/release',
      ({ params, caller, address }) =>
        entries.approval.decideEntry(params.id, { action: 'release' }, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        detail: documented({
          id: 'releaseTokenEntry',
          tag,
          summary: 'Count a held entry',
          description: `The session is not a duplicate: all its entries that are held or discarded become \`submitted\`, and later reports of it count. Requires the role billing or admin. Only admins can release their own entries.`,
          path,
          responses: entryNow('submitted'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/discard',
      ({ params, caller, address }) =>
        entries.approval.decideEntry(params.id, { action: 'discard' }, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        detail: documented({
          id: 'discardTokenEntry',
          tag,
          summary: 'Discard a held entry',
          description:
            'The session is a duplicate: its entries that are held, and those of later reports of it, are kept but never counted. Requires the role billing or admin, or being the owner.',
          path,
          responses: entryNow('discarded'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/void',
      ({ params, body: { reason, later_reports: laterReports }, caller, address }) =>
        entries.approval.decideEntry(
          params.id,
          { action: 'void', reason, laterReports },
          approverOf({ caller, address }),
        ),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        parse: 'report',
        body: EntryVoiding,
        detail: documented({
          id: 'voidTokenEntry',
          tag,
          summary: 'Void an entry that was reported by mistake',
          description: `A voided entry is kept, but not counted: in no report, no budget and no bill. It can be restored. Void the bill of a billed entry first, or credit it. ${WHO}`,
          path,
          body: { example: { reason: 'Test run with a wrong price' } },
          responses: entryNow('voided'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/restore',
      ({ params, caller, address }) =>
        entries.approval.decideEntry(params.id, { action: 'restore' }, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'ent',
        detail: documented({
          id: 'restoreTokenEntry',
          tag,
          summary: 'Restore a voided entry',
          description: `The entry becomes \`submitted\` again, and is counted. ${WHO} Only admins can restore their own entries.`,
          path,
          responses: entryNow('submitted'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/actions',
      async ({ body, query, caller, address }) => {
        const chosen = await selection.read(askerOf(caller), (timeZone) => readSelection(body, query, timeZone))
        const { action, reason, later_reports: laterReports, dry_run: dryRun = false, project, ticket } = body
        requireTokenScope(caller, isPlacing(action) ? 'entries:place' : 'entries:approve')
        if (action === 'place') {
          return actionResults(
            await entries.places.placeEntries(chosen, { project, ticket }, partyOf({ caller, address }), { dryRun }),
            {
              dryRun,
            },
          )
        }
        if (action === 'unplace') {
          const party = partyOf({ caller, address })
          return actionResults(await entries.places.unplaceEntries(chosen, party, { dryRun }), { dryRun })
        }
        return actionResults(
          await entries.approval.decideEntries(
            chosen,
            { action, reason, laterReports, dryRun },
            approverOf({ caller, address }),
          ),
          {
            dryRun,
          },
        )
      },
      {
        allow: ['session'],
        scope: ['entries:approve', 'entries:place'],
        parse: 'report',
        body: TokenEntriesAction,
        query: t.Object(entryFilters(), { additionalProperties: false }),
        detail: documented({
          id: 'actOnTokenEntries',
          tag,
          summary:
            'Approve, reject, reopen, withdraw the approval of, release, discard, void, restore, place or unplace up to 10,000 entries',
          description: `Acts on the entries given in \`ids\`, or on all entries that match the filters of the query, in one transaction. If the action is not possible for an entry, its result contains the reason, and the other entries are still processed. \`unplace\` makes entries that a person placed unattributed again: rules and later reports may place them. ${WHO}`,
          body: {
            examples: {
              approve: { summary: 'Approve the entries that match the filters', value: { action: 'approve' } },
              reject: {
                summary: 'Reject two entries',
                value: {
                  action: 'reject',
                  ids: ['ent_01a1fa172a0277f3983322718874f2ef', 'ent_01a1fa172a0277f3983322718874f2ee'],
                  reason: 'Test run, not billable',
                },
              },
              place: {
                summary: 'Place an entry',
                value: { action: 'place', ids: [EXAMPLE_ENTRY.id], ticket: 'ACME-42' },
              },
            },
          },
          responses: {
            200: {
              description: 'One result per entry.',
              schema: TokenEntriesActionResults,
              example: EXAMPLE_ACTION_RESULTS,
            },
          },
          problems: ['too_many_entries', 'database_deadline'],
        }),
      },
    )

const isPlacing = (action: TokenEntriesAction['action']) => action === 'place' || action === 'unplace'

/** Throws 422 where neither ids nor filters say which entries, or both do, or fields belong to another action. */
function readSelection(body: TokenEntriesAction, texts: QueryTexts, timeZone: string): Selection {
  const issues: Issue[] = []
  const query = new Query(texts)
  const filter = readFilter(query, timeZone)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  query.finish()
  if ((body.ids !== undefined) === isFiltered) {
    const message = isFiltered
      ? 'cannot be combined with filters in the query. Send one or the other'
      : 'is required unless the query has filters'
    issues.push({ pointer: '/ids', code: isFiltered ? 'not_allowed' : 'required', message })
  }
  const foreign = [
    ...(isPlacing(body.action) ? (['reason', 'later_reports'] as const) : []),
    ...(body.action === 'place' ? [] : (['project', 'ticket'] as const)),
  ]
  for (const field of foreign) {
    if (body[field] === undefined || body[field] === null) continue
    issues.push({ pointer: `/${field}`, code: 'not_allowed', message: `is not allowed for the action ${body.action}` })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return body.ids ? { ids: body.ids } : { filter }
}
