import { type Issue, validationFailed } from '../../../errors.ts'
import { requireTokenScope } from '../../../http/access.ts'
import { type Call, endpoint, result } from '../../../operations/operation.ts'
import { Query, type QueryTexts } from '../../../schema/query.ts'
import { readFilter } from '../../selection/contract.ts'
import { entryFilters } from '../../selection/parameters.ts'
import type { SelectionService } from '../../selection/service.ts'
import { actionResults } from '../action-results.ts'
import { EXAMPLE_ACTION_RESULTS, EXAMPLE_ENTRY } from '../examples.ts'
import type { Selection } from '../listing/selection.ts'
import { TokenEntriesAction, TokenEntriesActionResults } from '../schema.ts'
import type { EntriesService } from '../service.ts'
import { WHO } from './approval.ts'

interface Needs {
  entries: Pick<EntriesService, 'approval' | 'places'>
  selection: SelectionService
}

export const actOnTokenEntries = endpoint({
  id: 'actOnTokenEntries',
  tag: 'Approval',
  allow: ['session'],
  scope: ['entries:approve', 'entries:place'],
  method: 'POST',
  path: '/token-entries/actions',
  summary:
    'Approve, reject, reopen, withdraw the approval of, release, discard, void, restore, place or unplace up to 10,000 entries',
  description: `Acts on the entries given in \`ids\`, or on all entries that match the filters of the query, in one transaction. If the action is not possible for an entry, its result contains the reason, and the other entries are still processed. \`unplace\` makes entries that a person placed unattributed again: rules and later reports may place them. ${WHO}`,
  query: entryFilters(),
  body: TokenEntriesAction,
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
  answer: result('One result per entry.', TokenEntriesActionResults, EXAMPLE_ACTION_RESULTS),
  problems: ['too_many_entries', 'preview_changed', 'database_deadline'],
  run: async (needs: Needs, call) => {
    const { action, dry_run: dryRun = false } = call.body
    const chosen = await needs.selection.read(call.asker, (timeZone) => readSelection(call.body, call.query, timeZone))
    requireTokenScope(call.served.caller, isPlacing(action) ? 'entries:place' : 'entries:approve')
    return actionResults(await act(needs.entries, chosen, call), { dryRun })
  },
})

function act(
  { approval, places }: Needs['entries'],
  chosen: Selection,
  { body, party, approver }: Pick<Call<unknown, unknown, TokenEntriesAction>, 'body' | 'party' | 'approver'>,
) {
  const { action, reason, later_reports: laterReports, dry_run: dryRun = false, project, ticket, digest } = body
  if (action === 'place') return places.placeEntries(chosen, { project, ticket }, party, { dryRun, digest })
  if (action === 'unplace') return places.unplaceEntries(chosen, party, { dryRun })
  return approval.decideEntries(chosen, { action, reason, laterReports, dryRun }, approver)
}

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
    ...(body.action === 'place' ? [] : (['project', 'ticket', 'digest'] as const)),
  ]
  for (const field of foreign) {
    if (body[field] === undefined || body[field] === null) continue
    issues.push({ pointer: `/${field}`, code: 'not_allowed', message: `is not allowed for the action ${body.action}` })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return body.ids ? { ids: body.ids } : { filter }
}
