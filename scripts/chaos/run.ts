/**
 * Chaos tests: injects the faults that machines and people cause into the executable, and reports what was lost.
 * `scripts/chaos/run` runs all scenarios in about an hour, `--short` runs them as continuous integration does; pass
 * parts of names to run only some. Exits with 1 if anything was lost, duplicated or wrongly refused.
 */
import { anonymousLoad } from './anonymous-load.ts'
import { badClients } from './bad-clients.ts'
import { bombs } from './bombs.ts'
import { clockJumps } from './clock-jumps.ts'
import { crashes } from './crashes.ts'
import { failedSync, fullDisk, slowSync } from './failing-disk.ts'
import { fuzz } from './fuzz.ts'
import { lostFiles } from './lost-files.ts'
import { failedCheckpointSync, failedCheckpointWrite, powerLoss } from './power-loss.ts'
import { type Figures, quantile, type Scenario } from './scenario.ts'
import { soak } from './soak.ts'
import { together } from './together.ts'

export const SCENARIOS: readonly Scenario[] = [
  crashes,
  powerLoss,
  failedCheckpointSync,
  failedCheckpointWrite,
  failedSync,
  lostFiles,
  slowSync,
  fullDisk,
  together,
  clockJumps,
  badClients,
  anonymousLoad,
  bombs,
  fuzz,
  soak,
]

function lineOf({ rounds, acknowledged, lost, doubled, readyMs, says }: Figures): string {
  const ready =
    readyMs.length === 0 ? '–' : `${Math.round(quantile(readyMs, 0.5))} / ${Math.round(Math.max(...readyMs))}`
  const cells = [rounds, acknowledged, lost, doubled].map((figure) => figure.toLocaleString('en'))
  return [...cells, ready, says ?? ''].join(' | ')
}

async function main(args: string[]): Promise<number> {
  const size = args.includes('--short') ? 'short' : 'long'
  const names = args.filter((arg) => !arg.startsWith('--'))
  const asked = SCENARIOS.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))
  console.log('| scenario | rounds | acknowledged | lost | duplicated | ready again, median / longest (ms) | |')
  console.log('| --- | --- | --- | --- | --- | --- | --- |')
  let isWell = asked.length > 0
  for (const scenario of asked) {
    const missing = scenario.lacks()
    if (missing) {
      console.log(`| ${scenario.name} | skipped: ${missing} |`)
      continue
    }
    try {
      const figures = await scenario.run(size)
      console.log(`| ${scenario.name} | ${lineOf(figures)} |`)
      isWell &&= figures.lost === 0 && figures.doubled === 0
    } catch (error) {
      console.log(`| ${scenario.name} | FAILED: ${(error as Error).message} |`)
      isWell = false
    }
  }
  return isWell ? 0 : 1
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)))
