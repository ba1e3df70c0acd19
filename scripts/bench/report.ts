/**
 * Measures speed and size against their targets in one run: the executable in a temporary folder, with a separate load
 * generator over the loopback address. Two runs on a shared machine differ more than most changes to the program do:
 * compare the ratios within a run.
 *
 *   scripts/bench/report                     the whole table, in about a minute
 *   scripts/bench/report --seconds 10        longer measurements
 *   scripts/bench/report --entries 1000000   with this many entries already stored
 *   scripts/bench/report --rules 500         also the cost of this many placement rules for reports without a project
 *   scripts/bench/report --fsync-delay 10    with a disk whose fsync takes 10 ms longer (needs strace)
 *   scripts/bench/report --json              prints JSON
 */
import { Database as Connection } from 'bun:sqlite'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { builtExecutable, freePort, Installation, type Server } from '../../test/support/binary.ts'
import { compile } from '../build.ts'
import type { Load, LoadResult } from './load.ts'
import {
  commits,
  peakMegabytes,
  processorSeconds,
  residentMegabytes,
  wrappedProcess,
  writtenBytes,
} from './process-metrics.ts'

const ROOT = join(import.meta.dir, '../..')

/** On the checkout's disk: /tmp is often in memory, where an fsync costs nothing. */
const PARENT = join(ROOT, 'dist')

const SINGLE_CONNECTIONS = [1, 16, 64]
const BATCH = 100
/** Enough to keep the server busy while a client prepares its next batch. */
const BATCH_CONNECTIONS = 4

/** Warm-up time, during which Bun compiles the hot paths. */
const WARM_UP_SECONDS = 2

/** Stored entries are spread over two years, reported ones over a day. */
const STORED_DAYS = 730
const REPORTED_DAYS = 1

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    entries: { type: 'string', default: '0' },
    rules: { type: 'string', default: '0' },
    'fsync-delay': { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
})
const seconds = Number(options.seconds)
const storedBefore = Number(options.entries)
const rules = Number(options.rules)
const fsyncDelayMs = Number(options['fsync-delay'].replace(/ms$/, ''))
if (!(seconds > 0 && storedBefore >= 0 && rules >= 0 && fsyncDelayMs >= 0))
  throw new Error('--seconds, --entries, --rules and --fsync-delay must be numbers.')

interface Throughput extends Omit<LoadResult, 'firstAnswer'> {
  /** Share of one processor that the server used, all its threads. */
  serverProcessorShare: number
  commitsPerSecond: number | null
  writtenBytesPerEntry: number
}

async function generate(load: Load): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(load)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const [output, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
  if (code !== 0) throw new Error('The load generator failed.')
  return JSON.parse(output)
}

/** Puts a load on a server. Throws if a response is not the one that should be measured. */
async function measure(pid: number, load: Load, statuses: string[], databasePath?: string): Promise<Throughput> {
  const processorBefore = processorSeconds(pid)
  const writtenBefore = writtenBytes(pid)
  const commitsBefore = databasePath ? commits(databasePath) : 0
  const { firstAnswer, ...result } = await generate(load)
  const wrong = Object.keys(result.statuses).filter((status) => !statuses.includes(status))
  if (wrong.length > 0 || firstAnswer.includes('"rejected"')) {
    throw new Error(
      `Unexpected responses: ${JSON.stringify(result.statuses)}. The first response was ${firstAnswer.slice(0, 500)}`,
    )
  }
  return {
    ...result,
    serverProcessorShare: (processorSeconds(pid) - processorBefore) / result.seconds,
    commitsPerSecond: databasePath ? (commits(databasePath) - commitsBefore) / result.seconds : null,
    writtenBytesPerEntry: (writtenBytes(pid) - writtenBefore) / result.entries,
  }
}

/** Rows per second that the disk can commit one by one: the throughput of reporting without group commits. */
function oneCommitPerRow(folder: string): number {
  const connection = new Connection(join(folder, 'baseline.db'), { create: true })
  connection.run('PRAGMA journal_mode = WAL')
  connection.run('PRAGMA synchronous = FULL')
  connection.run(
    'CREATE TABLE rows (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, at INTEGER NOT NULL, rest BLOB NOT NULL)',
  )
  connection.run('CREATE INDEX rows_by_time ON rows (at)')
  const insert = connection.prepare('INSERT INTO rows (key, at, rest) VALUES (?, ?, ?)')
  const rest = Buffer.alloc(250, 'x')
  const begun = performance.now()
  let rows = 0
  while (performance.now() - begun < 2_000) {
    insert.run(Buffer.from(Bun.randomUUIDv7('buffer')), Date.now(), rest)
    rows += 1
  }
  const perSecond = (rows * 1000) / (performance.now() - begun)
  connection.close()
  return perSecond
}

/** A server for comparison, compiled like Tally and under the same load. */
async function validateOnly(folder: string, load: Omit<Load, 'port' | 'path'>): Promise<Throughput> {
  const port = freePort()
  const child = Bun.spawn([join(folder, 'validate-only'), String(port)], { stdout: 'ignore', stderr: 'inherit' })
  try {
    while (!(await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined))?.ok) await Bun.sleep(10)
    const full = { ...load, port, path: '/validate' }
    await generate({ ...full, seconds: WARM_UP_SECONDS })
    return await measure(child.pid, full, ['200'])
  } finally {
    child.kill()
    await child.exited
  }
}

/** A slower fsync, as on a network disk, by delaying the return of the system call. */
function slowDisk(): string[] {
  if (fsyncDelayMs === 0) return []
  if (!Bun.which('strace')) throw new Error('--fsync-delay needs strace: apt-get install strace.')
  const inject = `inject=fsync,fdatasync:delay_exit=${fsyncDelayMs * 1000}`
  return [
    '/usr/bin/strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    inject,
  ]
}

/** What the rules of a measurement test; `none` disables all rules. */
const RULE_SETS = ['none', 'labels', 'summary'] as const
type RuleSetName = (typeof RULE_SETS)[number]

/** Alternating, so that other load on the machine affects all of them. */
const RULE_ROUNDS = 3

/**
 * Adds two sets of rules with regular expressions, the matching ones last. Writes directly to the database, because
 * creating so many through the API would take too long.
 */
function addRules(databasePath: string): void {
  const conditions: Record<Exclude<RuleSetName, 'none'>, (number: number) => object> = {
    labels: (number) => ({ field: 'labels.branch', matches: `/^feature/(?<ticket>change-${number})$/` }),
    summary: (number) => ({ field: 'summary', matches: `/login (?<ticket>[0-9]+) (fails|breaks) ${number}$/` }),
  }
  const connection = new Connection(databasePath)
  connection.run('PRAGMA busy_timeout = 5000')
  connection.transaction(() => {
    for (const [name, conditionOf] of Object.entries(conditions)) {
      for (let number = rules - 1; number >= 0; number--) {
        connection.run(
          'INSERT INTO placement_rules (uid, position, enabled, created_at) VALUES (randomblob(16), 1, 0, 0)',
        )
        connection.run(
          `INSERT INTO placement_rule_versions (rule_id, version, name, conditions, project_id, ticket, created_at)
           SELECT last_insert_rowid(), 1, ?, ?, min(id), '{ticket}', 0 FROM projects`,
          [`${name} ${number}`, JSON.stringify([conditionOf(number)])],
        )
      }
    }
  })()
  connection.close()
}

function enableRules(databasePath: string, name: RuleSetName): void {
  const connection = new Connection(databasePath)
  connection.run('PRAGMA busy_timeout = 5000')
  connection.run(
    'UPDATE placement_rules SET enabled = id IN (SELECT rule_id FROM placement_rule_versions WHERE name LIKE ?)',
    [`${name} %`],
  )
  connection.close()
}

/** The median round of each set of rules by processor time. */
async function measureRules(
  report: (load: Load) => Promise<Throughput>,
  load: Load,
  databasePath: string,
): Promise<Record<RuleSetName, Throughput>> {
  addRules(databasePath)
  const rounds: Record<RuleSetName, Throughput[]> = { none: [], labels: [], summary: [] }
  for (let round = 0; round < RULE_ROUNDS; round++) {
    for (const name of RULE_SETS) {
      enableRules(databasePath, name)
      await report({ ...load, seconds: WARM_UP_SECONDS / 2 })
      rounds[name].push(await report(load))
    }
  }
  const middle = (results: Throughput[]) =>
    results.toSorted((one, other) => processorMicros(one) - processorMicros(other))[Math.floor(RULE_ROUNDS / 2)]!
  return { none: middle(rounds.none), labels: middle(rounds.labels), summary: middle(rounds.summary) }
}

/** Microseconds of the server's processor time per entry; independent of other load on the machine. */
function processorMicros({ serverProcessorShare, entriesPerSecond }: Throughput): number {
  return (serverProcessorShare * 1e6) / entriesPerSecond
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}

const portOf = (server: Server) => Number(new URL(server.url).port)

/** Stops the wrapped process: stopping strace would only detach it. */
async function stop(server: Server): Promise<void> {
  process.kill(wrappedProcess(server.process.pid), 'SIGTERM')
  await server.process.exited
}

async function run() {
  await mkdir(PARENT, { recursive: true })
  const folder = await mkdtemp(join(PARENT, 'bench-'))
  const tally = await Installation.make({ parent: folder, before: slowDisk() })
  try {
    printProgress('building')
    await compile({ program: 'scripts/bench/validate-only.ts', outfile: join(folder, 'validate-only') })
    printProgress('committing rows one by one')
    const baselinePerSecond = oneCommitPerRow(folder)

    printProgress('starting')
    const database = join(tally.folder, 'tally-data/tally.db')
    let server = await tally.serve()
    const firstStartMs = server.startedInMs
    await tally.addUser('bench@example.com', 'admin')
    const { token } = await tally.createToken('svc', 'bench@example.com')
    await stop(server)
    const emptyBytes = (await stat(database)).size
    const starts: number[] = []
    for (let start = 0; start < 3; start++) {
      server = await tally.serve()
      starts.push(server.startedInMs)
      if (start < 2) await stop(server)
    }
    const pid = wrappedProcess(server.process.pid)
    await Bun.sleep(1_000)
    const idleMegabytes = residentMegabytes(pid)

    const port = portOf(server)
    const single = { port, path: '/api/v1/token-entries', token, batch: 1, days: REPORTED_DAYS }
    const batch = { ...single, path: '/api/v1/token-entries/batch', batch: BATCH, connections: BATCH_CONNECTIONS }
    let stored = 0
    const report = async (load: Load): Promise<Throughput> => {
      const result = await measure(pid, load, load.batch === 1 ? ['201'] : ['200'], database)
      stored += result.entries
      return result
    }

    if (storedBefore > 0) {
      printProgress(`storing ${storedBefore} entries`)
      // With a limit, in case the server is much slower than expected.
      await report({ ...batch, days: STORED_DAYS, entries: storedBefore, seconds: 60 + storedBefore / 1_000 })
    }
    printProgress('warming up')
    await report({ ...single, connections: 16, seconds: WARM_UP_SECONDS })

    const singles: Record<string, Throughput> = {}
    for (const connections of SINGLE_CONNECTIONS) {
      printProgress(`single reports, ${connections} connections`)
      singles[connections] = await report({ ...single, connections, seconds })
    }
    const most = SINGLE_CONNECTIONS.at(-1)!
    printProgress('validation only')
    const validating = await validateOnly(folder, { token, batch: 1, days: REPORTED_DAYS, connections: most, seconds })
    printProgress('batches')
    await report({ ...batch, seconds: WARM_UP_SECONDS })
    const batches = await report({ ...batch, seconds })
    let placed: Record<RuleSetName, Throughput> | undefined
    if (rules > 0) {
      printProgress(`single reports without a project, with ${rules} rules and with none`)
      placed = await measureRules(report, { ...single, named: false, connections: most, seconds }, database)
    }
    const loadedMegabytes = residentMegabytes(pid)
    const peak = peakMegabytes(pid)

    printProgress('stopping and measuring sizes')
    await stop(server)
    const bytesPerEntry = ((await stat(database)).size - emptyBytes) / stored
    server = await tally.serve()
    const loadedStartMs = server.startedInMs
    await stop(server)

    return {
      singles,
      batches,
      placed: placed ?? null,
      validating,
      ratio: singles[most]!.entriesPerSecond / validating.entriesPerSecond,
      processorRatio: processorMicros(validating) / processorMicros(singles[most]!),
      baselinePerSecond,
      baselineRatio: singles[most]!.entriesPerSecond / baselinePerSecond,
      idleMegabytes,
      loadedMegabytes,
      peakMegabytes: peak,
      storedEntries: stored,
      bytesPerEntry,
      firstStartMs,
      startMs: median(starts),
      loadedStartMs,
      executableMegabytes: (await stat(await builtExecutable())).size / 1e6,
      fsyncDelayMs,
    }
  } finally {
    await tally.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Prints to standard error, so that standard output contains only JSON with `--json`. */
function printProgress(what: string): void {
  console.error(`… ${what}`)
}

function printTable(results: Awaited<ReturnType<typeof run>>): void {
  const whole = (value: number) => Math.round(value).toLocaleString('en-US')
  const rows = [['', 'entries/s', 'p50 ms', 'p99 ms', 'max ms', 'commits/s', 'written each', 'server CPU', 'load CPU']]
  const add = (name: string, result: Throughput) =>
    rows.push([
      name,
      whole(result.entriesPerSecond),
      result.p50Ms.toFixed(2),
      result.p99Ms.toFixed(2),
      result.maxMs.toFixed(1),
      result.commitsPerSecond === null ? '' : whole(result.commitsPerSecond),
      result.commitsPerSecond === null ? '' : `${(result.writtenBytesPerEntry / 1000).toFixed(1)} kB`,
      `${(result.serverProcessorShare * 100).toFixed(0)} %`,
      `${(result.processorShare * 100).toFixed(0)} %`,
    ])
  for (const [connections, result] of Object.entries(results.singles))
    add(`single reports, ${connections} connections`, result)
  add(`batches of ${BATCH}, ${BATCH_CONNECTIONS} connections`, results.batches)
  add(`validation only, ${SINGLE_CONNECTIONS.at(-1)} connections`, results.validating)
  const { placed } = results
  if (placed) {
    add('no project, no rules', placed.none)
    add(`no project, ${rules} rules on labels`, placed.labels)
    add(`no project, ${rules} rules on summaries`, placed.summary)
  }
  for (const row of rows) console.log(row.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(13))).join(''))

  console.log('')
  const line = (name: string, value: string, target = '') =>
    console.log(`${name.padEnd(46)}${value.padStart(14)}   ${target}`)
  line('throughput: reporting / validation only', results.ratio.toFixed(2), 'target: at least 0.30')
  line('same, by processor time', results.processorRatio.toFixed(2))
  if (placed) {
    const to = (result: Throughput) => (result.entriesPerSecond / placed.none.entriesPerSecond).toFixed(2)
    const byProcessor = (result: Throughput) => (processorMicros(placed.none) / processorMicros(result)).toFixed(2)
    line(`throughput: ${rules} rules on labels / no rules`, to(placed.labels), 'target: at least 0.80')
    line('same, by processor time', byProcessor(placed.labels))
    line(`throughput: ${rules} rules on summaries / no rules`, to(placed.summary))
    line('same, by processor time', byProcessor(placed.summary))
  }
  line('one commit per row, rows/s', whole(results.baselinePerSecond))
  line('throughput: reporting / one commit per row', results.baselineRatio.toFixed(1), 'target: at least 3')
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

const results = await run()
if (options.json) console.log(JSON.stringify(results, null, 2))
else printTable(results)
