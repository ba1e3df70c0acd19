/** Speed and size of the work tree's executable, with the targets that they should meet. */
import { stat } from 'node:fs/promises'
import { builtExecutable } from '../../../test/support/binary.ts'
import { printProgress, UsageError } from '../clean-up.ts'
import { median } from '../spread.ts'
import { compileValidateOnly, oneCommitPerRow, validateOnly } from './baselines.ts'
import { measureBudgets } from './budgets.ts'
import type { Engine } from './databases.ts'
import type { ReportOptions } from './options.ts'
import { measureRules, type RuleSetName } from './rules.ts'
import { TallyServers } from './servers.ts'
import { measureSlices, type SliceCost } from './slices.ts'
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
import { DELIVERS_TO_THIS_MACHINE, measureWebhooks } from './webhooks.ts'

const SINGLE_CONNECTIONS = [1, 16, 64]
const MOST_CONNECTIONS = 64

/** Stored entries are spread over two years. */
const STORED_DAYS = 730

/** A slower fsync, as on a network disk, by delaying the return of the system call. */
function slowDisk(fsyncDelayMs: number): string[] {
  if (fsyncDelayMs === 0) return []
  const strace = Bun.which('strace')
  if (!strace) throw new UsageError('--fsync-delay needs strace: apt-get install strace.')
  const inject = `inject=fsync,fdatasync:delay_exit=${fsyncDelayMs * 1000}`
  return [strace, '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', inject]
}

/** Stores entries as batches, with a limit in case the servers are much slower than expected. */
export function storing(entries: number): LoadShape {
  return { ...batch, days: STORED_DAYS, entries, seconds: 60 + entries / 1_000 }
}

export async function measureTable(
  { seconds, entries, rules, slices, budgets, webhooks, fsyncDelayMs, repeat, servers: count }: ReportOptions,
  engine: Engine,
  parent: string,
  stack: AsyncDisposableStack,
) {
  printProgress('building')
  const validateOnlyProgram = await compileValidateOnly(parent)
  const database = await engine.create(stack)
  const servers = await TallyServers.install(
    {
      parent,
      database,
      count,
      before: slowDisk(fsyncDelayMs),
      variables: webhooks > 0 ? DELIVERS_TO_THIS_MACHINE : {},
    },
    stack,
  )
  let baselinePerSecond: number | null = null
  if (database.file !== undefined) {
    printProgress('committing rows one by one')
    baselinePerSecond = oneCommitPerRow(parent)
  }

  printProgress('starting')
  const firstStartMs = await servers.start()
  const token = await servers.createToken()
  await servers.stop()
  const emptyBytes = await database.bytes()
  const starts: number[] = []
  for (let start = 0; start < 3; start++) {
    starts.push(await servers.start())
    if (start < 2) await servers.stop()
  }
  await Bun.sleep(1_000)
  const idleMegabytes = servers.residentMegabytes()

  let stored = 0
  const report = async (shape: LoadShape): Promise<Throughput> => {
    const result = await measure(servers, engine, token, shape)
    stored += result.entries
    return result
  }

  if (entries > 0) {
    printProgress(`storing ${entries} entries`)
    await report(storing(entries))
  }
  printProgress('warming up')
  await report({ ...single, connections: 16, seconds: WARM_UP_SECONDS })

  const singles: Record<string, Throughput> = {}
  for (const connections of SINGLE_CONNECTIONS) {
    printProgress(`single reports, ${connections} connections`)
    singles[connections] = await report({ ...single, connections, seconds })
  }
  printProgress('validation only')
  const most = { ...single, connections: MOST_CONNECTIONS, seconds }
  const validating = await validateOnly(validateOnlyProgram, { ...most, token })
  printProgress('batches')
  await report({ ...batch, seconds: WARM_UP_SECONDS })
  const batches = await report({ ...batch, seconds })
  let placed: Record<RuleSetName, Throughput> | undefined
  if (rules > 0 && database.file !== undefined) {
    printProgress(`single reports without a project, with ${rules} rules and with none`)
    placed = await measureRules(report, { ...most, named: false }, database.file, rules)
  }
  let sliced: SliceCost[] | undefined
  if (slices > 0) {
    printProgress(`single reports without slices, with one and with ${slices}`)
    sliced = await measureSlices(report, most, slices)
  }
  let budgeted: Awaited<ReturnType<typeof measureBudgets>> | undefined
  if (budgets > 0 && database.file !== undefined) {
    printProgress(`single reports with ${budgets} budgets and with none`)
    budgeted = await measureBudgets(report, most, database.file, budgets)
  }
  const loadedMegabytes = servers.residentMegabytes()
  const peakMegabytes = servers.peakMegabytes()

  printProgress('stopping and measuring sizes')
  await servers.stop()
  const storedEntries = stored
  const bytesPerEntry = ((await database.bytes()) - emptyBytes) / storedEntries
  const loadedStartMs = await servers.start()
  // After the size, because several of these reports share an entry, and events of their own are added for webhooks.
  printProgress(`reports of sessions that are reported ${repeat} times each`)
  await report({ ...most, repeat, seconds: WARM_UP_SECONDS })
  const updates = await report({ ...most, repeat })
  let delivering: Awaited<ReturnType<typeof measureWebhooks>> | undefined
  if (webhooks > 0 && database.file !== undefined) {
    printProgress(`single reports with ${webhooks} events that wait for a webhook and with none`)
    delivering = await measureWebhooks(report, most, database.file, webhooks)
  }
  await servers.stop()

  const singlesAtMost = singles[MOST_CONNECTIONS]!
  return {
    engine: engine.name,
    servers: count,
    singles,
    batches,
    updates,
    placed: placed ?? null,
    sliced: sliced ?? null,
    budgeted: budgeted ?? null,
    delivering: delivering ?? null,
    validating,
    ratio: singlesAtMost.entriesPerSecond / validating.entriesPerSecond,
    processorRatio: validating.processorMicros / singlesAtMost.processorMicros,
    baselinePerSecond,
    baselineRatio: baselinePerSecond === null ? null : singlesAtMost.entriesPerSecond / baselinePerSecond,
    idleMegabytes,
    loadedMegabytes,
    peakMegabytes,
    storedEntries,
    bytesPerEntry,
    firstStartMs,
    startMs: median(starts),
    loadedStartMs,
    executableMegabytes: (await stat(await builtExecutable())).size / 1e6,
    fsyncDelayMs,
  }
}

type Results = Awaited<ReturnType<typeof measureTable>>

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

function printThroughputs(results: Results, { rules, budgets, webhooks, repeat }: ReportOptions): void {
  const rows = [
    ['', 'entries/s', 'p50 ms', 'p99 ms', 'max ms', 'commits/s', 'written each', 'server CPU', 'load CPU', 'CPU each'],
  ]
  const hasDatabaseServer = results.batches.databaseProcessorMicros !== null
  if (hasDatabaseServer) rows[0]!.push('PostgreSQL')
  const micros = (value: number | null) => (value === null ? '' : `${value.toFixed(value < 10 ? 1 : 0)} µs`)
  const add = (name: string, result: Throughput) =>
    rows.push([
      name,
      whole(result.entriesPerSecond),
      result.p50Ms.toFixed(2),
      result.p99Ms.toFixed(2),
      result.maxMs.toFixed(1),
      result.commitsPerSecond === null ? '' : whole(result.commitsPerSecond),
      result.writtenBytesPerEntry === null ? '' : `${(result.writtenBytesPerEntry / 1000).toFixed(1)} kB`,
      `${(result.serverProcessorShare * 100).toFixed(0)} %`,
      `${(result.processorShare * 100).toFixed(0)} %`,
      micros(result.processorMicros),
      ...(hasDatabaseServer ? [micros(result.databaseProcessorMicros)] : []),
    ])
  for (const [connections, result] of Object.entries(results.singles))
    add(`single reports, ${connections} connections`, result)
  add(`batches of ${BATCH}, ${BATCH_CONNECTIONS} connections`, results.batches)
  add(`${repeat} reports each, ${MOST_CONNECTIONS} connections`, results.updates)
  add(`validation only, ${MOST_CONNECTIONS} connections`, results.validating)
  if (results.placed) {
    add('no project, no rules', results.placed.none)
    add(`no project, ${rules} rules on labels`, results.placed.labels)
    add(`no project, ${rules} rules on summaries`, results.placed.summary)
  }
  if (results.budgeted) {
    add('no budgets', results.budgeted.none)
    add(`${budgets} budgets`, results.budgeted.all)
  }
  if (results.delivering) {
    add('no webhook', results.delivering.none.throughput)
    add(`${webhooks} events wait, quick receiver`, results.delivering.quick.throughput)
    add(`${webhooks} events wait, slow receiver`, results.delivering.slow.throughput)
  }
  for (const row of rows) console.log(row.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(13))).join(''))
}

export function printTable(results: Results, options: ReportOptions): void {
  const { rules, budgets, webhooks } = options
  if (results.engine !== 'SQLite') {
    console.log(`${results.engine}, ${results.servers} ${results.servers === 1 ? 'server' : 'servers'} of Tally\n`)
  }
  printThroughputs(results, options)
  console.log('')
  const line = (name: string, value: string, target = '') =>
    console.log(`${name.padEnd(46)}${value.padStart(14)}   ${target}`.trimEnd())
  line('throughput: reporting / validation only', results.ratio.toFixed(2), 'target: at least 0.30')
  line('same, by processor time', results.processorRatio.toFixed(2))
  const { placed } = results
  if (placed) {
    const to = (result: Throughput) => (result.entriesPerSecond / placed.none.entriesPerSecond).toFixed(2)
    const byProcessor = (result: Throughput) => (placed.none.processorMicros / result.processorMicros).toFixed(2)
    line(`throughput: ${rules} rules on labels / no rules`, to(placed.labels), 'target: at least 0.80')
    line('same, by processor time', byProcessor(placed.labels))
    line(`throughput: ${rules} rules on summaries / no rules`, to(placed.summary))
    line('same, by processor time', byProcessor(placed.summary))
  }
  for (const { slices, repeat, processorMicros, ratio } of results.sliced ?? []) {
    if (slices === 0) continue
    const name = `processor time: ${slices === 1 ? '1 slice' : `${slices} slices`} / none, ${repeat} reports each`
    const target = slices === 1 ? 1.02 : 3
    line(name, `${ratio.toFixed(2)} (${processorMicros.toFixed(0)} µs)`, `target: at most ${target}`)
  }
  const { budgeted } = results
  if (budgeted) {
    const share = budgeted.all.processorMicros / budgeted.none.processorMicros
    line(`processor time: ${budgets} budgets / none`, share.toFixed(2), 'target: at most 1.10')
  }
  for (const name of ['quick', 'slow'] as const) {
    const cost = results.delivering?.[name]
    if (!cost) continue
    line(`p99: ${webhooks} events wait, ${name} receiver / none`, cost.p99Ratio.toFixed(2), 'target: at most 1.10')
    line('same, by processor time', cost.processorRatio.toFixed(2))
    line(`messages to the ${name} receiver, per second`, cost.messagesPerSecond.toFixed(1))
  }
  if (results.baselinePerSecond !== null && results.baselineRatio !== null) {
    line('one commit per row, rows/s', whole(results.baselinePerSecond))
    line('throughput: reporting / one commit per row', results.baselineRatio.toFixed(1), 'target: at least 3')
  }
  line('resident memory, idle', `${whole(results.idleMegabytes)} MB`, 'target: at most 100')
  line('resident memory, after the load', `${whole(results.loadedMegabytes)} MB`, 'target: at most 250')
  line('resident memory, peak', `${whole(results.peakMegabytes)} MB`)
  line(
    `disk space per entry, with ${whole(results.storedEntries)} entries`,
    `${whole(results.bytesPerEntry)} bytes`,
    'target: at most 500',
  )
  line('start to ready, first start', `${whole(results.firstStartMs)} ms`)
  line('start to ready', `${whole(results.startMs)} ms`, 'target: at most 300')
  line('start to ready, with these entries', `${whole(results.loadedStartMs)} ms`)
  line('executable', `${results.executableMegabytes.toFixed(1)} MB`, 'target: at most 130')
  if (results.fsyncDelayMs > 0) line('delay added to every fsync', `${results.fsyncDelayMs} ms`)
}
