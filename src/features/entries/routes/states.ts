import { Elysia, t } from 'elysia'
import { type Issue, validationFailed } from '../../../errors.ts'
import { access, partyOf } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { entryFilters } from '../../../http/entry-filters.ts'
import { Query, type QueryTexts } from '../../../query.ts'
import { actionResults } from '../action-results.ts'
import { EXAMPLE_ACTION_RESULTS, EXAMPLE_ENTRY } from '../examples.ts'
import { readSelectingFilter } from '../filter.ts'
import { Reason, TokenEntriesAction, TokenEntriesActionResults, TokenEntry } from '../schema.ts'
import type { Selection } from '../selection.ts'
import type { EntriesService } from '../service.ts'

const tag = 'Approval'

const WHO =
  'Billing and admin may for every entry, leads for those of projects that they lead. Entries made by hand go with their token sheet.'
const path = { id: 'Id of the entry (ent_…).' }
const problems = ['wrong_status', 'on_a_sheet'] as const

const entryNow = (status: TokenEntry['status']) => ({
  200: { description: 'The entry as it is now.', schema: TokenEntry, example: { ...EXAMPLE_ENTRY, status } },
})

export const statesRoutes = ({ entries }: { entries: EntriesService }) =>
  new Elysia({ name: 'states', prefix: '/api/v1/token-entries', normalize: false })
    .use(access())
    .post(
      '/:id/approve',
      ({ params, caller, address }) =>
        entries.decideEntry(params.id, { action: 'approve' }, partyOf({ caller, address })),
      {
        allow: ['session'],
        detail: documented({
          id: 'approveTokenEntry',
          tag,
          summary: 'Approve a submitted entry',
          description: `Its figures and its place are fixed from then on. ${WHO} Nobody but an admin approves their own.`,
          path,
          responses: entryNow('approved'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/reject',
      ({ params, body, caller, address }) =>
        entries.decideEntry(params.id, { action: 'reject', reason: body.reason }, partyOf({ caller, address })),
      {
        allow: ['session'],
        parse: 'report',
        body: Reason,
        detail: documented({
          id: 'rejectTokenEntry',
          tag,
          summary: 'Reject a submitted entry',
          description: `It is left out of bills, and stays rejected when its session goes on. ${WHO}`,
          path,
          body: { example: { reason: 'A test run that nobody pays for' } },
          responses: entryNow('rejected'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/reopen',
      ({ params, caller, address }) =>
        entries.decideEntry(params.id, { action: 'reopen' }, partyOf({ caller, address })),
      {
        allow: ['session'],
        detail: documented({
          id: 'reopenTokenEntry',
          tag,
          summary: 'Make a rejected entry a submitted one again',
          description: `${WHO} Nobody but an admin re-opens their own.`,
          path,
          responses: entryNow('submitted'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/:id/withdraw-approval',
      ({ params, caller, address }) =>
        entries.decideEntry(params.id, { action: 'withdraw_approval' }, partyOf({ caller, address })),
      {
        allow: ['session'],
        detail: documented({
          id: 'withdrawApprovalOfTokenEntry',
          tag,
          summary: 'Make an approved entry a submitted one again',
          description: WHO,
          path,
          responses: entryNow('submitted'),
          problems: [...problems],
        }),
      },
    )
    .post(
      '/actions',
      async ({ body, query, caller, address }) => {
        const selection = readSelection(body, query)
        const party = partyOf({ caller, address })
        const { action, reason, dry_run: dryRun = false, project, ticket } = body
        if (action === 'place') {
          return actionResults(await entries.placeEntries(selection, { project, ticket }, party, { dryRun }), {
            dryRun,
          })
        }
        return actionResults(await entries.decideEntries(selection, { action, reason, dryRun }, party), { dryRun })
      },
      {
        allow: ['session'],
        parse: 'report',
        body: TokenEntriesAction,
        query: t.Object(entryFilters(), { additionalProperties: false }),
        detail: documented({
          id: 'actOnTokenEntries',
          tag,
          summary: 'Approve, reject, re-open, withdraw the approval of, or place up to 10,000 entries',
          description: `Those with the \`ids\` of the body, or those that the filters of the query let through, in one transaction. What cannot be done with one of them is told of that one and done with the others. ${WHO}`,
          body: {
            examples: {
              approve: { summary: 'Approve what a filter lets through', value: { action: 'approve' } },
              reject: {
                summary: 'Reject two',
                value: {
                  action: 'reject',
                  ids: ['ent_01a1fa172a0277f3983322718874f2ef', 'ent_01a1fa172a0277f3983322718874f2ee'],
                  reason: 'A test run that nobody pays for',
                },
              },
              place: { summary: 'Place one', value: { action: 'place', ids: [EXAMPLE_ENTRY.id], ticket: 'ACME-42' } },
            },
          },
          responses: {
            200: {
              description: 'What became of each.',
              schema: TokenEntriesActionResults,
              example: EXAMPLE_ACTION_RESULTS,
            },
          },
          problems: ['too_many_entries', 'database_deadline'],
        }),
      },
    )

/** Throws 422 where neither ids nor filters say which entries, or both do, or fields belong to another action. */
function readSelection(body: TokenEntriesAction, texts: QueryTexts): Selection {
  const issues: Issue[] = []
  const query = new Query(texts)
  const filter = readSelectingFilter(query)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  query.finish()
  if ((body.ids !== undefined) === isFiltered) {
    const message = isFiltered
      ? 'cannot stand beside filters in the query: send one of both'
      : 'is required where no filter in the query says which entries'
    issues.push({ pointer: '/ids', code: isFiltered ? 'not_allowed' : 'required', message })
  }
  const foreign = body.action === 'place' ? (['reason'] as const) : (['project', 'ticket'] as const)
  for (const field of foreign) {
    if (body[field] === undefined) continue
    issues.push({ pointer: `/${field}`, code: 'not_allowed', message: `does not go with the action ${body.action}` })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return body.ids ? { ids: body.ids } : { filter }
}
