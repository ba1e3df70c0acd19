import { operation, result } from '../../../operations/operation.ts'
import { paging } from '../../../operations/parameters.ts'
import { EXAMPLE_APPROVALS } from '../examples.ts'
import { moments } from '../parameters.ts'
import { WAITING_SHOWN } from '../query.ts'
import { Approvals } from '../schema.ts'
import type { Needs } from './sheet.ts'

export const listApprovals = operation({
  id: 'listApprovals',
  tag: 'Approval',
  allow: ['read', 'session'],
  scope: 'entries:read',
  method: 'GET',
  path: '/approvals',
  summary: 'List pending approvals',
  description:
    'Token sheets and reported entries that the caller can approve, with totals. The sheets are in pages, and each page has the totals of all.',
  query: { ...moments, ...paging('Token sheets', { usual: WAITING_SHOWN }) },
  answer: result('The pending approvals.', Approvals, EXAMPLE_APPROVALS),
  problems: ['database_deadline'],
  run: async ({ sheets }: Needs, { asker: { viewer, self }, party: { person }, query }) =>
    sheets.listApprovals(await sheets.readApprovals(query), { viewer, person: person && { ...person, ...self! } }),
})
