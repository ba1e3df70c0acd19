/** The overview of a small November, for the OpenAPI document. */
import { EXAMPLE_BUDGET } from '../budgets/examples.ts'
import { EXAMPLE_COMPLETENESS, EXAMPLE_USAGE } from '../reports/examples.ts'
import type { Overview } from './schema.ts'

const [BUCKET] = EXAMPLE_USAGE.data
const [{ model: _, ...PROJECT }] = BUCKET!.results as [(typeof EXAMPLE_USAGE)['data'][number]['results'][number]]
const BY_PROJECT = { ...EXAMPLE_USAGE, group_by: ['project'], data: [{ ...BUCKET!, results: [PROJECT] }] }
const { project: __, ...ALL } = PROJECT

export const EXAMPLE_OVERVIEW: Overview = {
  usage: { ...EXAMPLE_USAGE, group_by: [], data: [{ ...BUCKET!, results: [ALL] }] },
  groups: { ...BY_PROJECT, bucket_width: 'all' },
  previous: { ...BY_PROJECT, bucket_width: 'all', data: [] },
  largest: BY_PROJECT,
  completeness: EXAMPLE_COMPLETENESS,
  forecast: { month: '2026-11', at: '2026-11-20T12:00:00.000Z', spent: 0.37, amount: 0.55, low: 0.48, high: 0.62 },
  budgets: { total: 1, data: [EXAMPLE_BUDGET] },
}
