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
    'What the work on it has cost: its entries by model, those of them that are not assigned to a project, and the budgets that they count for (null for an API token without `budgets:read`). A branch has the entries with both labels, `repository` and `branch`, as agents’ session files and hooks report them. Its totals are those of the list that it names.',
  allow: ['read', 'session'],
  scope: 'entries:read',
  forProjects: true,
  query: {
    repository: textParameter('The label `repository`, such as `acme/web`; together with `branch`.'),
    branch: textParameter('The label `branch`; together with `repository`.'),
    ticket: textParameter('Id or key of a ticket.'),
    starting_at: textParameter(
      'Sessions that started at or after this moment, such as when the branch was created: a timestamp with its offset, or a date. All where absent.',
    ),
    ending_at: textParameter('Sessions that started before this moment. All where absent.'),
    basis: costBasis(),
    people: flagParameter('Whether to return the entries by agent manager as well.'),
  },
  answer: result('The receipt.', Receipt, EXAMPLE_RECEIPT),
  problems: ['database_deadline', 'fees_hidden'],
  run: ({ receipts }: { receipts: ReceiptsService }, call) =>
    receipts.receipt(
      { viewer: call.viewer, asker: call.asker, seesBudgets: call.hasScope('budgets:read') },
      call.query,
    ),
})
