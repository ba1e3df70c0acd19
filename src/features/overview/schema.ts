/** The overview in the API. One source for OpenAPI and the validation of responses in tests. */
import type { Static } from '@sinclair/typebox'
import { array, component, integer, moment, money, object, orNull, text } from '../../schema/types.ts'
import { BudgetBody } from '../budgets/schema.ts'
import { CompletenessReport, UsageReport } from '../reports/schema.ts'

export const MonthForecast = component(
  'MonthForecast',
  'The cost of the current month in the organization’s time zone, on the basis of the usage: what is spent, and for each remaining day the average of its weekday. It is made for a full hour, and changes with the next one. Null after less than three days with usage.',
  {
    month: text('The month.', { examples: ['2026-11'] }),
    at: moment('The hour that it is made for.'),
    spent: money('Known cost of the month until then.'),
    amount: money('Expected cost of the whole month.'),
    low: money('Nine of ten cases are above.'),
    high: money('Nine of ten cases are below.'),
  },
)
export type MonthForecast = Static<typeof MonthForecast>

export const Overview = component(
  'Overview',
  'Usage reports of a period: over time with all buckets (`usage`), its groups and those of the previous period in one bucket each (`groups`, `previous`), and the groups with the highest cost and those with the most tokens, up to six of each, over time (`largest`; null if there are none). `budgets` is null for an API token without `budgets:read`.',
  {
    usage: UsageReport,
    groups: UsageReport,
    previous: UsageReport,
    largest: orNull(UsageReport),
    completeness: CompletenessReport,
    forecast: orNull(MonthForecast),
    budgets: orNull(
      object({
        total: integer('Number of budgets of which at least 80% is spent.', { minimum: 0 }),
        data: array('The most used of them, up to six.', BudgetBody),
      }),
    ),
  },
)
export type Overview = Static<typeof Overview>
