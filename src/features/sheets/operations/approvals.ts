import { operation, result } from '../../../operations/operation.ts'
import { EXAMPLE_APPROVALS } from '../examples.ts'
import { moments } from '../parameters.ts'
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
  description: 'Token sheets and reported entries that the caller can approve, with totals.',
  query: moments,
  answer: result('The pending approvals.', Approvals, EXAMPLE_APPROVALS),
  problems: ['database_deadline'],
  run: async ({ sheets }: Needs, { asker: { viewer, self }, party: { person }, query }) =>
    sheets.listApprovals(await sheets.readApprovals(query), { viewer, person: person && { ...person, ...self! } }),
})
