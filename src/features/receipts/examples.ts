/** The receipt of a branch, for the OpenAPI document. */
import { EXAMPLE_BUDGET_CHECK } from '../budgets/examples.ts'
import { EXAMPLE_USAGE } from '../reports/examples.ts'
import type { Receipt } from './schema.ts'

const { totals, data } = EXAMPLE_USAGE
const { project: _, ...MODEL } = data[0]!.results[0]!
const LABELS = 'label=repository%3Aacme%2Fweb&label=branch%3Afeature%2FACME-42'
const COUNTED = 'status=submitted&status=approved&status=rejected&status=billed&superseded=false'

export const EXAMPLE_RECEIPT: Receipt = {
  repository: 'acme/web',
  branch: 'feature/ACME-42',
  ticket: null,
  starting_at: null,
  ending_at: null,
  ...{ time_zone: 'Europe/Berlin', currency: 'USD', basis: 'cost' },
  totals: { ...totals, sessions: 4, active_seconds: 5820, untimed_entries: 0 },
  models: [{ ...MODEL, sessions: 4 }],
  people: null,
  unattributed: {
    ...{ entries: 2, unpriced_entries: 0, cost: 0.11 },
    list: `/api/v1/token-entries?placed=none&${LABELS}&${COUNTED}`,
  },
  budgets: EXAMPLE_BUDGET_CHECK,
  list: `/api/v1/token-entries?${LABELS}&${COUNTED}`,
  page: `/entries?${LABELS}`,
}
