/** Results of actions on entries, as the API returns them. */
import { moneyNumber } from '../../lib/money.ts'
import type { DecidedMany } from './approval/service.ts'
import type { PlacedMany } from './places/manual-placement.ts'
import type { TokenEntriesActionResults } from './schema.ts'

export function actionResults(
  outcome: DecidedMany | PlacedMany,
  { dryRun = false }: { dryRun?: boolean } = {},
): TokenEntriesActionResults {
  const results = outcome.results.map((one) => ({
    id: one.id,
    result: 'result' in one ? PLACED_AS[one.result] : one.problem ? ('refused' as const) : ('done' as const),
    status: 'status' in one ? one.status : null,
    problem: one.problem && { code: one.problem.code, detail: one.problem.detail },
  }))
  return {
    dry_run: dryRun,
    done: results.filter(({ result }) => result === 'done').length,
    refused: results.filter(({ result }) => result === 'refused').length,
    cost: moneyNumber(outcome.costNanos),
    unpriced_entries: outcome.unpricedEntries,
    ...('digest' in outcome && { digest: outcome.digest }),
    results,
  }
}

const PLACED_AS = { placed: 'done', unchanged: 'unchanged', refused: 'refused' } as const
