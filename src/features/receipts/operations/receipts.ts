import { operation, result } from '../../../operations/operation.ts'
import { flagParameter, textParameter } from '../../../operations/parameters.ts'
import { costBasis } from '../../selection/parameters.ts'
import { EXAMPLE_RECEIPT } from '../examples.ts'
import { Receipt } from '../schema.ts'
import type { ReceiptsService } from '../service.ts'

export const getReceipt = operation({
  id: 'getReceipt',
  tag: 'Reports',
  method: 'GET',
  path: '/reports/receipt',
  summary: 'Get the receipt of a branch or a ticket',
  description:
    'What the work on it has cost: its entries by model, those that are not assigned to a project, and the budgets that they count for (null for an API token without `budgets:read`). A branch has the entries with both labels, `repository` and `branch`, which hooks and scans report. `list` has the same totals.',
  allow: ['read', 'session'],
  scope: 'entries:read',
  forProjects: true,
  query: {
    repository: textParameter('The label `repository`, such as `acme/web`; together with `branch`.'),
    branch: textParameter('The label `branch`; together with `repository`.'),
    ticket: textParameter('Id or key of a ticket.'),
    starting_at: textParameter(
      'Only sessions that started at or after this moment, such as when the branch was created: a timestamp with its UTC offset, or a date. Default: all.',
    ),
    ending_at: textParameter('Only sessions that started before this moment. Default: all.'),
    basis: costBasis(),
    people: flagParameter('Whether to also return the entries by agent manager.'),
  },
  answer: result('The receipt.', Receipt, EXAMPLE_RECEIPT),
  problems: ['database_deadline', 'fees_hidden'],
  run: ({ receipts }: { receipts: ReceiptsService }, call) =>
    receipts.receipt(
      { viewer: call.viewer, asker: call.asker, seesBudgets: call.hasScope('budgets:read') },
      call.query,
    ),
})
