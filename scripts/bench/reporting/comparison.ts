/**
 * Compares the executable of the work tree with that of a commit. In each round, both serve a new copy of the same
 * database, and each load is put on one right after the other, in changing order; the one that waits is stopped. Other
 * load on the machine so affects both, and the ratio of a round is more precise than either of its numbers.
 */
import { builtExecutable } from '../../../test/support/binary.ts'
import { printProgress } from '../clean-up.ts'
import { ADMIN } from '../population.ts'
import { median, ratiosOf, type Spread, spreadOf, spreadText } from '../spread.ts'
import { buildCommit, nameOfWorkTree } from './commit-executable.ts'
import type { BenchmarkDatabase, Engine } from './databases.ts'
import type { ReportOptions } from './options.ts'
import { TallyServers } from './servers.ts'
import { storing } from './table.ts'
import {
  BATCH,
  BATCH_CONNECTIONS,
  batch,
  type LoadShape,
  measure,
  single,
  type Throughput,
  WARM_UP_SECONDS,
} from './throughput.ts'

const SIDES = ['old', 'new'] as const
type Side = (typeof SIDES)[number]

const CONNECTIONS = 64

function loadsOf({ seconds, repeat }: ReportOptions): Record<string, LoadShape> {
  return {
    'single reports, 16 connections': { ...single, connections: 16, seconds },
    [`single reports, ${CONNECTIONS} connections`]: { ...single, connections: CONNECTIONS, seconds },
    [`batches of ${BATCH}, ${BATCH_CONNECTIONS} connections`]: { ...batch, seconds },
    [`${repeat} reports each, ${CONNECTIONS} connections`]: { ...single, connections: CONNECTIONS, repeat, seconds },
  }
}

/** The metrics that are compared, of one load. */
type Compared = Pick<Throughput, 'processorMicros' | 'databaseProcessorMicros' | 'entriesPerSecond' | 'p50Ms' | 'p99Ms'>

interface LoadComparison {
  /** Medians of the rounds. */
  old: Compared
  new: Compared
  /** New to old, of each round's processor time per entry. */
  ratio: Spread
  /** The same of PostgreSQL's server. */
  databaseRatio: Spread | null
  rounds: Record<Side, Throughput>[]
}

export interface Comparison {
  engine: string
  servers: number
  commits: Record<Side, string>
  loads: Record<string, LoadComparison>
}

export async function compare(
  against: string,
  options: ReportOptions,
  engine: Engine,
  parent: string,
  stack: AsyncDisposableStack,
): Promise<Comparison> {
  const template = await engine.create(stack)
  const commit = await buildCommit(against, parent, stack)
  printProgress('building the work tree')
  const executables: Record<Side, string> = { old: commit.path, new: await builtExecutable() }
  const install = (side: Side, database: BenchmarkDatabase, on: AsyncDisposableStack) =>
    TallyServers.install({ parent, database, count: options.servers, executable: executables[side] }, on)

  printProgress('preparing a database')
  const oldServers = await install('old', template, stack)
  const token = await prepare(oldServers, engine, options)
  const templates: Record<Side, BenchmarkDatabase> = { old: template, new: await template.copy(stack) }
  await (await install('new', templates.new, stack)).migrate()

  const loads = loadsOf(options)
  const rounds: Record<string, Record<Side, Throughput>[]> = {}
  for (const name of Object.keys(loads)) rounds[name] = []
  for (let round = 0; round < options.rounds; round++) {
    const roundStack = stack.use(new AsyncDisposableStack())
    const start = async (side: Side) => {
      const servers = await install(side, await templates[side].copy(roundStack), roundStack)
      await servers.start()
      servers.pause()
      return servers
    }
    const servers: Record<Side, TallyServers> = { old: await start('old'), new: await start('new') }
    const put = async (side: Side, shape: LoadShape) => {
      servers[side].resume()
      // Only the new side: the old one may be from before slices.
      const slices = side === 'new' ? options.slices : 0
      const result = await measure(servers[side], engine, token, { ...shape, slices })
      servers[side].pause()
      return result
    }
    const order: Side[] = round % 2 === 0 ? ['old', 'new'] : ['new', 'old']
    for (const [name, shape] of Object.entries(loads)) {
      printProgress(`round ${round + 1} of ${options.rounds}: ${name}`)
      const results: Partial<Record<Side, Throughput>> = {}
      for (const side of order) await put(side, { ...shape, seconds: WARM_UP_SECONDS })
      for (const side of order) results[side] = await put(side, shape)
      rounds[name]!.push(results as Record<Side, Throughput>)
    }
    await roundStack.disposeAsync()
  }
  return {
    engine: engine.name,
    servers: options.servers,
    commits: { old: commit.name, new: await nameOfWorkTree() },
    loads: Object.fromEntries(Object.entries(rounds).map(([name, results]) => [name, summarize(results)])),
  }
}

/** Makes the database that both sides get copies of, and returns a token for it. */
async function prepare(servers: TallyServers, engine: Engine, { entries, data }: ReportOptions): Promise<string> {
  const token = await servers.createToken(data === undefined ? undefined : ADMIN)
  if (entries > 0) {
    await servers.start()
    printProgress(`storing ${entries} entries`)
    await measure(servers, engine, token, storing(entries))
    await servers.stop()
  }
  return token
}

function summarize(rounds: Record<Side, Throughput>[]): LoadComparison {
  const medianOf = (side: Side, metric: keyof Compared) => median(rounds.map((round) => round[side][metric] ?? 0))
  const hasDatabaseServer = rounds[0]!.new.databaseProcessorMicros !== null
  const mediansOf = (side: Side): Compared => ({
    processorMicros: medianOf(side, 'processorMicros'),
    databaseProcessorMicros: hasDatabaseServer ? medianOf(side, 'databaseProcessorMicros') : null,
    entriesPerSecond: medianOf(side, 'entriesPerSecond'),
    p50Ms: medianOf(side, 'p50Ms'),
    p99Ms: medianOf(side, 'p99Ms'),
  })
  const ratios = (metric: keyof Compared): Spread => {
    const [old, now] = SIDES.map((side) => rounds.map((round) => round[side][metric]!))
    return spreadOf(ratiosOf(now!, old!))
  }
  return {
    old: mediansOf('old'),
    new: mediansOf('new'),
    ratio: ratios('processorMicros'),
    databaseRatio: hasDatabaseServer ? ratios('databaseProcessorMicros') : null,
    rounds,
  }
}

export function printComparison(
  { engine, servers, commits, loads }: Comparison,
  { rounds, seconds, slices }: ReportOptions,
): void {
  console.log(`old: ${commits.old}`)
  console.log(`new: ${commits.new}${slices === 0 ? '' : `; slices of each session: ${slices}`}`)
  const serverCount = servers === 1 ? '' : `, ${servers} servers of Tally`
  console.log(`${engine}${serverCount}; medians of ${rounds} rounds of ${seconds} s, with the range of the ratio\n`)
  const micros = (value: number | null) => `${value!.toFixed(value! < 10 ? 1 : 0)} µs`
  const whole = (value: number) => Math.round(value).toLocaleString('en-US')

  printColumns([
    ['CPU each, Tally', 'old', 'new', 'new/old'],
    ...Object.entries(loads).map(([name, load]) => [
      name,
      micros(load.old.processorMicros),
      micros(load.new.processorMicros),
      spreadText(load.ratio),
    ]),
  ])
  if (Object.values(loads).some(({ databaseRatio }) => databaseRatio)) {
    printColumns([
      ['CPU each, PostgreSQL', 'old', 'new', 'new/old'],
      ...Object.entries(loads).map(([name, load]) => [
        name,
        micros(load.old.databaseProcessorMicros),
        micros(load.new.databaseProcessorMicros),
        spreadText(load.databaseRatio!),
      ]),
    ])
  }
  printColumns([
    ['', 'old entries/s', 'new', 'old p50 ms', 'new', 'old p99 ms', 'new'],
    ...Object.entries(loads).map(([name, load]) => [
      name,
      whole(load.old.entriesPerSecond),
      whole(load.new.entriesPerSecond),
      load.old.p50Ms.toFixed(2),
      load.new.p50Ms.toFixed(2),
      load.old.p99Ms.toFixed(2),
      load.new.p99Ms.toFixed(2),
    ]),
  ])
}

function printColumns(rows: string[][]): void {
  for (const [name, ...cells] of rows) {
    const padded = cells.map((cell) => cell.padStart(cell.includes('(') || cell === 'new/old' ? 22 : 14))
    console.log(name!.padEnd(34) + padded.join(''))
  }
  console.log('')
}
