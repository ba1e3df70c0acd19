/** Whether amounts of a report may change without a change of its entries, since a period of a plan is not closed. */
import type { Viewer } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import { sumColumns } from '../rollup/service.ts'
import { counted } from './counted-entries.ts'
import type { UsageQuery } from './query.ts'
import { listOpenPlans } from './store/open-plans.ts'

/**
 * For who sees everything, of any plan: to look for its entries would take longer than the report. Others do not learn of
 * plans that pay for none of the entries.
 */
export async function isProvisional(
  reader: Reader,
  viewer: Viewer,
  { basis, filter, startingAt, endingAt }: Pick<UsageQuery, 'basis' | 'filter' | 'startingAt' | 'endingAt'>,
): Promise<boolean> {
  if (basis !== 'marginal' && basis !== 'allocated') return false
  const plan = await listOpenPlans(reader, basis, { startingAt, endingAt })
  if (plan.length === 0 || viewer.sees === 'everything') return plan.length > 0
  const task = {
    viewer,
    filter: { ...counted(filter), plan },
    bounds: [startingAt, endingAt],
    groupings: [],
    figures: [],
  }
  return (await sumColumns(reader, { ...task, onlyStraddling: false })).length > 0
}
