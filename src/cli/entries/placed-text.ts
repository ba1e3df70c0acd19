/** What became of entries that were placed, or made unattributed. */
import type { Problem } from '../../errors.ts'
import { CommandError } from '../failures.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print, printJson } from '../terminal/print.ts'

interface Placed {
  id: string
  result: 'placed' | 'unchanged' | 'refused'
  problem: Problem | null
}

/** @param outcome `placed` or `unattributed`. Throws if an entry was refused. */
export function printPlaced(
  results: readonly Placed[],
  { outcome, dryRun, json }: { outcome: string; dryRun: boolean; json?: boolean | undefined },
): void {
  const refused = results.flatMap(({ problem }) => problem ?? [])
  if (json) {
    printJson(
      results.map(({ id, result, problem }) => ({
        id,
        result,
        problem: problem && { code: problem.code, detail: problem.detail },
      })),
    )
  } else {
    const done = results.filter(({ result }) => result === 'placed').length
    print(`${counted(done, 'entry', 'entries')} ${dryRun ? `would be ${outcome}` : outcome}.`)
    for (const { detail } of refused) note(detail)
  }
  if (refused.length > 0) throw new CommandError(`${counted(refused.length, 'entry', 'entries')} refused.`)
}
