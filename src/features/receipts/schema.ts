/** Receipts in the API. One source for OpenAPI and the validation of responses in tests. */
import { type Static, Type } from '@sinclair/typebox'
import { array, component, moment, object, orNull, text } from '../../schema/types.ts'
import { BudgetCheck } from '../budgets/schema.ts'
import { UsageReport, UsageResult } from '../reports/schema.ts'

const { time_zone, currency, basis, provisional, totals } = UsageReport.properties

export const Receipt = component(
  'Receipt',
  'What a branch or a ticket has cost: the entries that reports count, visible to the caller.',
  {
    repository: orNull(text('As requested.')),
    branch: orNull(text('As requested.')),
    ticket: orNull(text('As requested.')),
    starting_at: orNull(moment('Start of the period, inclusive; null without one.')),
    ending_at: orNull(moment('End of the period, exclusive; null without one.')),
    ...{ time_zone, currency, basis, provisional, totals },
    models: array('The same by model, highest cost first.', UsageResult),
    people: orNull(array('The same by agent manager, if requested, highest cost first.', UsageResult)),
    unattributed: orNull(
      object('Of the totals, the entries that are not assigned to a project or a ticket.', {
        ...Type.Pick(totals, ['entries', 'unpriced_entries', 'cost']).properties,
        list: text('Path of the list of these entries.'),
      }),
    ),
    budgets: orNull(BudgetCheck),
    list: text('Path of the list of the entries, which has the same totals.'),
    page: text('Path of the page with the same list.'),
  },
)
export type Receipt = Static<typeof Receipt>
