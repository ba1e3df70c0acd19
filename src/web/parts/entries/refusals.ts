import { sentence } from '../../server/problem.ts'
import type { ActionResults } from './entry.ts'

/** The entries that an action skips, by reason, which names them “it” instead of by their ids. */
export const refusalsByReason = ({ results }: Pick<ActionResults, 'results'>) =>
  Map.groupBy(
    results.filter(({ problem }) => problem !== null),
    ({ problem, id }) => sentence(problem!.detail.replaceAll(id, 'it').replace(/\b(?:the )?entry it\b/gi, 'it')),
  )
