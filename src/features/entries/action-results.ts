/** What became of the entries that an action was about, as the API answers it. */
import { moneyNumber } from '../../lib/money.ts'
import type { DecidedMany } from './deciding.ts'
import type { Placed } from './placing.ts'
import type { TokenEntriesActionResults } from './schema.ts'

/** Of entries that were decided about, or placed. */
export function actionResults(
  outcome: DecidedMany | Placed[],
  { dryRun = false }: { dryRun?: boolean } = {},
): TokenEntriesActionResults {
  const isDecided = !Array.isArray(outcome)
  const results = isDecided
    ? outcome.results.map(
        ({ problem, ...rest }) => ({ ...rest, result: problem ? 'refused' : 'done', problem }) as const,
      )
    : outcome.map(
        ({ result, ...rest }) => ({ ...rest, result: result === 'placed' ? 'done' : result, status: null }) as const,
      )
  return {
    dry_run: dryRun,
    done: results.filter(({ result }) => result === 'done').length,
    refused: results.filter(({ result }) => result === 'refused').length,
    cost: isDecided ? moneyNumber(outcome.costNanos) : null,
    unpriced_entries: isDecided ? outcome.unpricedEntries : null,
    results: results.map(({ id, result, status, problem }) => ({
      id,
      result,
      status,
      problem: problem && { code: problem.code, detail: problem.detail },
    })),
  }
}
