/**
 * Measures reads on a large database: the executable on a copy of a seeded database (scripts/bench/seed), with typical
 * queries over the loopback address. Prints Markdown.
 *
 *   scripts/bench/reports                   all of it, on dist/seeded
 *   scripts/bench/reports --data FOLDER     on another database
 *   scripts/bench/reports --rounds 50       runs of each query
 *   scripts/bench/reports --only lists,csv  some of: reports, lists, csv, reporting
 */
import { Database as Connection } from 'bun:sqlite'
import { copyFile, mkdir, stat } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Installation, type Server } from '../../test/support/binary.ts'
import type { Load, LoadResult } from './load.ts'
import { ADMIN, MEMBER } from './population.ts'
import { peakMegabytes, residentMegabytes } from './process-metrics.ts'
import { COMPLETENESS, HEAVY, LISTS, MEMBERS_LISTS, ONE_BY_ONE, REPORTS } from './queries.ts'

const ROOT = join(import.meta.dir, '../..')

/** The server computes the sums of a seeded database in idle time, a day or two per second. */
const SETTLE_LIMIT_MS = 1_800_000

/** Queries that take seconds are not repeated: they miss any target anyway. */
const QUESTION_LIMIT_MS = 10_000

/** Longer than any query here takes without a deadline. */
const RECOVERY_LIMIT_MS = 60_000

/** How long an export is observed. Constant memory shows within seconds, or never. */
const EXPORT_SECONDS = 20

const REPORTING_SECONDS = 10
const REPORTING_CONNECTIONS = 64

const PARTS = ['reports', 'lists', 'csv', 'reporting']

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: join(ROOT, 'dist/seeded') },
    rounds: { type: 'string', default: '20' },
    only: { type: 'string', default: PARTS.join(',') },
  },
})
const rounds = Number(options.rounds)
const parts = options.only.split(',')
if (!(rounds > 0) || !parts.every((part) => PARTS.includes(part)))
  throw new Error(`--rounds must be a number, and --only some of ${PARTS.join(', ')}.`)

const whole = (count: number) => Math.round(count).toLocaleString('en')
const ms = (milliseconds: number) => milliseconds.toFixed(milliseconds < 10 ? 1 : 0)

/** Prints to standard error, so that standard output contains only Markdown. */
function printProgress(what: string): void {
  console.error(`… ${what}`)
}

function table(...rows: string[][]): void {
  const [heads, ...rest] = rows as [string[], ...string[][]]
  const line = (cells: string[]) => console.log(`| ${cells.join(' | ')} |`)
  console.log('')
  line(heads)
  line(heads.map((_, at) => (at === 0 ? '---' : '---:')))
  for (const row of rest) line(row)
}

interface Times {
  p50Ms: number
  p95Ms: number
  /** The response, if it was an error. */
  refused: string | undefined
}

/** Repeats a query. One that takes too long runs only once, since it is refused every time. */
async function timesOf(server: Server, path: string, token: string): Promise<Times> {
  const times: number[] = []
  const end = performance.now() + QUESTION_LIMIT_MS
  while (times.length < rounds && (times.length === 0 || performance.now() < end)) {
    const begun = performance.now()
    const answer = await server.call('GET', path, { token })
    await answer.arrayBuffer()
    times.push(performance.now() - begun)
    if (!answer.ok) {
      await recover(server, token)
      return { p50Ms: times[0]!, p95Ms: times.at(-1)!, refused: String(answer.status) }
    }
  }
  times.sort((one, other) => one - other)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  return { p50Ms: at(0.5), p95Ms: at(0.95), refused: undefined }
}

/** Waits until the threads for slow queries respond again: each continues after its deadline until its query ends. */
async function recover(server: Server, token: string): Promise<void> {
  const end = performance.now() + RECOVERY_LIMIT_MS
  while (performance.now() < end) {
    const answer = await server.call('GET', '/api/v1/token-entries?limit=1&status=submitted', { token })
    await answer.arrayBuffer()
    if (answer.ok) return
    await Bun.sleep(200)
  }
}

const cells = ({ p50Ms, p95Ms, refused }: Times) => (refused ? [refused, ms(p95Ms)] : [ms(p50Ms), ms(p95Ms)])

/** Waits until the sums of days and months are computed. */
async function settle(file: string): Promise<void> {
  const connection = new Connection(file, { readonly: true })
  try {
    if (!connection.query("SELECT 1 FROM sqlite_schema WHERE name = 'rollup_periods'").get()) return
    printProgress('waiting for the sums of days and months')
    const begun = performance.now()
    while (performance.now() - begun < SETTLE_LIMIT_MS) {
      const open = connection.query<{ open: number }, []>(
        `SELECT (SELECT count(*) FROM stale_hours) + (SELECT count(*) FROM rollup_zones WHERE NOT ready)
         + (SELECT count(*) FROM rollup_periods WHERE state IN ('stale', 'building')) AS open`,
      )
      if (open.get()!.open === 0) {
        printProgress(`computed in ${ms((performance.now() - begun) / 1000)} s`)
        return
      }
      await Bun.sleep(500)
    }
    printProgress('the sums were not computed in time: the results are for queries on entries')
  } finally {
    connection.close()
  }
}

async function measureReports(server: Server, token: string): Promise<void> {
  const rows = [['report', 'sums: p50 ms', 'p95 ms', 'entries: p50 ms', 'p95 ms']]
  for (const [name, path] of Object.entries({ ...REPORTS, ...COMPLETENESS })) {
    printProgress(name)
    const kept = await timesOf(server, path, token)
    const oneByOne = name in COMPLETENESS ? undefined : await timesOf(server, path + ONE_BY_ONE, token)
    rows.push([name, ...cells(kept), ...(oneByOne ? cells(oneByOne) : ['', ''])])
  }
  table(...rows)
}

async function measureLists(server: Server, reading: string, membersReading: string): Promise<void> {
  const rows = [['page of 50 entries', 'first: p50 ms', 'p95 ms', 'second: p50 ms', 'p95 ms']]
  for (const [name, path] of Object.entries({ ...LISTS, ...MEMBERS_LISTS })) {
    printProgress(name)
    const token = name in MEMBERS_LISTS ? membersReading : reading
    const first = await timesOf(server, path, token)
    const answer = (await (await server.call('GET', path, { token })).json()) as { next_page?: string }
    const next = answer.next_page && (await timesOf(server, `${path}&page=${answer.next_page}`, token))
    rows.push([name, ...cells(first), ...(next ? cells(next) : ['', ''])])
  }
  table(...rows)
}

/** Reads a CSV as fast as possible, until it ends or the time is up. */
async function takeCsv(
  server: Server,
  path: string,
  token: string,
  seconds: number,
): Promise<{ rows: number; bytes: number }> {
  const answer = await server.call('GET', path, { token })
  const taken = { rows: 0, bytes: 0 }
  const begun = performance.now()
  for await (const chunk of answer.body!) {
    taken.bytes += chunk.length
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) taken.rows += 1
    if (performance.now() - begun > seconds * 1000) break
  }
  return taken
}

async function measureCsv(server: Server, token: string): Promise<void> {
  printProgress('export')
  const before = residentMegabytes(server.process.pid)
  const begun = performance.now()
  const { rows, bytes } = await takeCsv(server, HEAVY['an export of everything']!, token, EXPORT_SECONDS)
  const seconds = (performance.now() - begun) / 1000
  const peak = peakMegabytes(server.process.pid)
  table(
    ['CSV export', 'rows', 'seconds', 'rows/s', 'MB/s', 'resident before', 'at most'],
    [
      'all entries',
      whole(rows),
      seconds.toFixed(1),
      whole(rows / seconds),
      (bytes / 1e6 / seconds).toFixed(0),
      `${whole(before)} MB`,
      `${whole(peak)} MB`,
    ],
  )
}

async function generate(load: Load): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(load)], {
    stdout: 'pipe',
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('The load generator failed.')
  return JSON.parse(output)
}

async function measureReporting(server: Server, reading: string, token: string): Promise<void> {
  const load: Load = {
    ports: [Number(new URL(server.url).port)],
    path: '/api/v1/token-entries',
    token,
    batch: 1,
    days: 1,
    connections: REPORTING_CONNECTIONS,
    seconds: REPORTING_SECONDS,
  }
  printProgress('warming up')
  await generate({ ...load, seconds: 2 })
  printProgress('reporting alone')
  const alone = await generate(load)
  const row = (name: string, { entriesPerSecond, p50Ms, p99Ms, maxMs, statuses }: LoadResult, queries: string) => {
    const refused = Object.keys(statuses).some((status) => status !== '201')
    return [
      name,
      whole(entriesPerSecond),
      ms(p50Ms),
      ms(p99Ms),
      ms(maxMs),
      queries,
      refused ? JSON.stringify(statuses) : 'none',
    ]
  }
  const rows = [
    ['reporting, 64 connections', 'entries/s', 'p50 ms', 'p99 ms', 'max ms', 'queries meanwhile', 'refused'],
    row('alone', alone, ''),
  ]
  for (const [name, path] of Object.entries(HEAVY)) {
    printProgress(`reporting during ${name}`)
    let queries = 0
    const end = performance.now() + REPORTING_SECONDS * 1000
    const query = async () => {
      for (; performance.now() < end; queries++) await takeCsv(server, path, reading, (end - performance.now()) / 1000)
    }
    const [result] = await Promise.all([generate(load), query()])
    rows.push(row(`during ${name}`, result, String(queries)))
  }
  table(...rows)
}

await mkdir(join(ROOT, 'dist'), { recursive: true })
const tally = await Installation.make({ parent: join(ROOT, 'dist') })
try {
  printProgress('copying the database')
  const file = join(tally.folder, 'tally-data/tally.db')
  await mkdir(join(tally.folder, 'tally-data'))
  await copyFile(join(options.data, 'tally.db'), file)
  const { token: reading } = await tally.createToken('read', ADMIN)
  const { token: membersReading } = await tally.createToken('read', MEMBER)
  const { token: writing } = await tally.createToken('svc', ADMIN)
  const server = await tally.serve()
  try {
    if (parts.includes('reports')) await settle(file)
    const connection = new Connection(file, { readonly: true })
    const { entries } = connection.query<{ entries: number }, []>('SELECT count(*) AS entries FROM entries').get()!
    connection.close()
    const machine = `${cpus().length} × ${cpus()[0]!.model.trim()}, ${whole(totalmem() / 2 ** 30)} GB`
    console.log(
      `${whole(entries)} entries, ${whole((await stat(file)).size / 1e6)} MB. ${machine}. Started in ${ms(server.startedInMs)} ms.`,
    )
    if (parts.includes('reports')) await measureReports(server, reading)
    if (parts.includes('lists')) await measureLists(server, reading, membersReading)
    if (parts.includes('csv')) await measureCsv(server, reading)
    if (parts.includes('reporting')) await measureReporting(server, reading, writing)
  } finally {
    await server.stop()
  }
} finally {
  await tally.remove()
}
