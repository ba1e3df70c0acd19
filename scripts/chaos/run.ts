/**
 * Chaos tests: injects faults of machines and people into the executable, and reports lost entries.
 * `scripts/chaos/run` runs all scenarios in about an hour, `--short` runs them as the long tier of `scripts/test` does; pass
 * parts of names to run only some. Exits with 1 if anything was lost, duplicated or wrongly refused.
 */
import { parseArgs } from 'node:util'
import { anonymousLoad } from './anonymous-load.ts'
import { badClients } from './bad-clients.ts'
import { bombs } from './bombs.ts'
import { clockJumps } from './clock-jumps.ts'
import { crashes } from './crashes.ts'
import { failedSync, fullDisk, slowSync } from './failing-disk.ts'
import { failover } from './failover.ts'
import { fuzz } from './fuzz.ts'
import { lostFiles } from './lost-files.ts'
import { billsMeanwhile } from './postgres-bills.ts'
import { postgresClockJumps } from './postgres-clock.ts'
import { conflicts } from './postgres-conflicts.ts'
import { connectionsTaken } from './postgres-connections.ts'
import { postgresCrashes, terminatedBackends, terminatedThroughPgBouncer } from './postgres-crashes.ts'
import { postgresDiskFull } from './postgres-disk.ts'
import { cutConnections, farAway, stalledConnections } from './postgres-network.ts'
import { failedCheckpointSync, failedCheckpointWrite, powerLoss } from './power-loss.ts'
import { postgresRestores, restores } from './restores.ts'
import { type Outcome, quantile, type Scenario } from './scenario.ts'
import { soak } from './soak.ts'
import { together } from './together.ts'

export const SCENARIOS: readonly Scenario[] = [
  crashes,
  powerLoss,
  failedCheckpointSync,
  failedCheckpointWrite,
  failedSync,
  lostFiles,
  restores,
  slowSync,
  fullDisk,
  together,
  failover,
  postgresCrashes,
  terminatedBackends,
  terminatedThroughPgBouncer,
  farAway,
  cutConnections,
  stalledConnections,
  postgresDiskFull,
  postgresRestores,
  connectionsTaken,
  postgresClockJumps,
  conflicts,
  billsMeanwhile,
  clockJumps,
  badClients,
  anonymousLoad,
  bombs,
  fuzz,
  soak,
]

function lineOf({ rounds, acknowledged, lost, duplicated, readyMs, longestRefusalMs, remark }: Outcome): string {
  const ready =
    readyMs.length === 0 ? '–' : `${Math.round(quantile(readyMs, 0.5))} / ${Math.round(Math.max(...readyMs))}`
  const cells = [rounds, acknowledged, lost, duplicated].map((count) => count.toLocaleString('en'))
  const refusal = longestRefusalMs === undefined ? '–' : Math.round(longestRefusalMs)
  return [...cells, ready, refusal, remark ?? ''].join(' | ')
}

async function main(args: string[]): Promise<number> {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: { short: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) {
    console.log(`Usage: scripts/chaos/run [--short] [part of a name …]\n\nThe scenarios, of which each takes minutes:`)
    for (const { name } of SCENARIOS) console.log(`  ${name}`)
    return 0
  }
  const size = values.short ? 'short' : 'long'
  const selected = SCENARIOS.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))
  console.log(
    '| scenario | rounds | acknowledged | lost | duplicated | ready again, median / longest (ms) | longest refusal (ms) | |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |')
  let hasPassed = selected.length > 0
  for (const scenario of selected) {
    const missing = scenario.missingRequirement()
    if (missing) {
      console.log(`| ${scenario.name} | skipped: ${missing} |`)
      continue
    }
    try {
      const outcome = await scenario.run(size)
      console.log(`| ${scenario.name} | ${lineOf(outcome)} |`)
      hasPassed &&= outcome.lost === 0 && outcome.duplicated === 0
    } catch (error) {
      console.log(`| ${scenario.name} | FAILED: ${(error as Error).message} |`)
      hasPassed = false
    }
  }
  return hasPassed ? 0 : 1
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)))
