/**
 * Two hundred connections without a valid credential while agents report: compares the throughput of reports with and
 * without them, alternating in the same run. `bun scripts/chaos/anonymous-load.ts` prints a table.
 * `--executable <path>` measures another executable, `--seconds <number>` and `--rounds <number>` set the length and
 * number of turns, and `--attack <name>` runs only one attack.
 */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Load, LoadResult } from '../bench/load.ts'
import { peakMegabytes } from '../bench/process-metrics.ts'
import { type AnonymousLoad, type AnonymousResult, ATTACKS, type Attack } from './anonymous-clients.ts'
import { type Outcome, quantile, type Scenario, Victim } from './scenario.ts'

const CONNECTIONS = 200

/** The share of the throughput that must remain. */
const PROMISED_SHARE = 0.7

interface Sizes {
  seconds: number
  rounds: number
  /** Connections that report. */
  reporters: number
  attacks?: readonly Attack[]
}

const SIZES = { short: { seconds: 1, rounds: 1 }, long: { seconds: 5, rounds: 3 } } as const

interface Measured {
  attack: Attack
  addresses: AnonymousLoad['addresses']
  /** Entries per second without and with the anonymous calls, by round. */
  without: number[]
  with: number[]
  refusedReports: number
  p99Ms: number
  attacks: AnonymousResult[]
}

const median = (values: readonly number[]) => quantile(values, 0.5)
const shareOf = (measured: Measured) => median(measured.with) / median(measured.without)

async function child<Result>(script: string, options: object): Promise<Result> {
  const spawned = Bun.spawn([process.execPath, script, JSON.stringify(options)], { stdout: 'pipe', stderr: 'inherit' })
  const text = await spawned.stdout.text()
  if ((await spawned.exited) !== 0) throw new Error(`${script} failed`)
  return JSON.parse(text) as Result
}

class Measurement {
  acknowledged = 0

  constructor(
    readonly victim: Victim,
    readonly sizes: Sizes,
  ) {}

  get port(): number {
    return Number(new URL(this.victim.server.url).port)
  }

  async report(): Promise<LoadResult> {
    const load: Load = {
      ports: [this.port],
      connections: this.sizes.reporters,
      seconds: this.sizes.seconds,
      path: '/api/v1/token-entries',
      token: this.victim.token,
      batch: 1,
      days: 30,
    }
    const result = await child<LoadResult>(join(import.meta.dir, '../bench/load.ts'), load)
    this.acknowledged += result.statuses['201'] ?? 0
    return result
  }

  async attack(attack: Attack, addresses: AnonymousLoad['addresses']): Promise<Measured> {
    const measured: Measured = { attack, addresses, without: [], with: [], refusedReports: 0, p99Ms: 0, attacks: [] }
    for (let round = 0; round < this.sizes.rounds; round += 1) {
      measured.without.push((await this.report()).entriesPerSecond)
      const load: AnonymousLoad = {
        port: this.port,
        attack,
        addresses,
        connections: CONNECTIONS,
        // Longer than the reports, which start later.
        seconds: this.sizes.seconds + 2,
      }
      const attacking = child<AnonymousResult>(join(import.meta.dir, 'anonymous-clients.ts'), load)
      await Bun.sleep(1_000)
      const under = await this.report()
      measured.with.push(under.entriesPerSecond)
      measured.refusedReports += under.requests - (under.statuses['201'] ?? 0)
      measured.p99Ms = Math.max(measured.p99Ms, under.p99Ms)
      measured.attacks.push(await attacking)
    }
    return measured
  }
}

function rowOf(measured: Measured): string {
  const statuses: Record<string, number> = {}
  for (const attack of measured.attacks) {
    for (const [status, count] of Object.entries(attack.statuses)) statuses[status] = (statuses[status] ?? 0) + count
  }
  const cells = [
    measured.attack,
    measured.addresses,
    Math.round(median(measured.without)),
    Math.round(median(measured.with)),
    shareOf(measured).toFixed(2),
    `${measured.p99Ms.toFixed(0)} ms`,
    measured.refusedReports,
    Object.entries(statuses)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
  ]
  return `| ${cells.join(' | ')} |`
}

async function measure(sizes: Sizes, { executable, print }: { executable?: string; print?: (row: string) => void }) {
  const victim = await Victim.make('long')
  try {
    if (executable) await copyFile(executable, join(victim.installation.folder, 'tally'))
    await victim.installation.run(
      ['users', 'set-password', 'ada@example.com', '--password-stdin'],
      'quite another phrase',
    )
    await victim.start(['--trusted-proxies', '127.0.0.1'])
    const measurement = new Measurement(victim, sizes)
    // Warm-up: the first reports create names and projects, and load prices.
    await measurement.report()
    const all: Measured[] = []
    for (const attack of sizes.attacks ?? ATTACKS) {
      for (const addresses of ['one', 'many'] as const) {
        const measured = await measurement.attack(attack, addresses)
        print?.(rowOf(measured))
        all.push(measured)
      }
    }
    const peak = peakMegabytes(victim.server.process.pid)
    const { code } = await victim.server.stop()
    if (code !== 0) throw new Error(`The server exited with ${code}`)
    return { all, acknowledged: measurement.acknowledged, peak }
  } finally {
    await victim.remove()
  }
}

export const anonymousLoad: Scenario = {
  name: '200 anonymous connections',
  missingRequirement: () => undefined,
  async run(size): Promise<Outcome> {
    const { all, acknowledged, peak } = await measure({ ...SIZES[size], reporters: 1 }, {})
    const worst = all.reduce((one, other) => (shareOf(other) < shareOf(one) ? other : one))
    const refused = all.reduce((sum, { refusedReports }) => sum + refusedReports, 0)
    if (refused > 0) throw new Error(`${refused} reports were refused`)
    const percent = Math.round(shareOf(worst) * 100)
    const remark = `reports keep ${percent}% of their rate under ${worst.attack}, the worst; at most ${Math.round(peak)} MB`
    return { rounds: all.length, acknowledged, lost: 0, duplicated: 0, readyMs: [], remark }
  },
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      executable: { type: 'string' },
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '3' },
      reporters: { type: 'string', default: '1' },
      attack: { type: 'string' },
    },
  })
  const sizes = {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    reporters: Number(values.reporters),
    attacks: ATTACKS.filter((attack) => values.attack === undefined || attack === values.attack),
  }
  console.log('| 200 connections of | addresses | reports/s without | with | share | p99 with | refused | responses |')
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |')
  const options = {
    print: (row: string) => console.log(row),
    ...(values.executable && { executable: values.executable }),
  }
  const { all, peak } = await measure(sizes, options)
  console.log(`\npeak resident memory: ${Math.round(peak)} MB`)
  process.exit(all.every((measured) => shareOf(measured) >= PROMISED_SHARE) ? 0 : 1)
}
