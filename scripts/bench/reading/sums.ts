/** How long the sums of reports take to compute from nothing, and how much space they need. */
import { printProgress } from '../clean-up.ts'
import { startLoad } from '../reporting/throughput.ts'
import { REPORTING_SECONDS, reportingLoad } from './reporting.ts'
import { type Line, ms, NOT_AVAILABLE, printTable, seconds } from './results.ts'
import type { Subject } from './subject.ts'

/** Versions that read entries row by row take more than an hour at ten million. */
const LIMIT_MS = 2 * 3_600_000
const MEANWHILE_LIMIT_MS = 15 * 60_000
const IDLE_GOAL_MS = 120_000

const POLL_MS = 200
const SETTLED_MS = 3_000

/** The days into which the load reports are computed again as long as it goes on. */
const CHANGING_DAYS = 3

const BYTES_GOAL = 520

interface Progress {
  days: number
  days_made: number
  complete: boolean
}

const progress = (subject: Subject) => subject.json<Progress>('/api/v1/reports/sums')

/** Waits until a condition is true of the progress; false if it was not in time. */
async function waitFor(subject: Subject, isDone: (now: Progress) => boolean, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs
  let shown = performance.now()
  while (performance.now() < end) {
    const now = await progress(subject)
    if (now && isDone(now)) return true
    if (performance.now() - shown > 30_000) {
      shown = performance.now()
      if (now) printProgress(`${now.days_made} of ${now.days} days`)
    }
    await Bun.sleep(POLL_MS)
  }
  return false
}

/** Waits for the sums, which later parts need; the time counts from the start of the server. */
export async function settle(subject: Subject): Promise<Line & { tookMs?: number }> {
  printProgress('waiting for the sums of days and months')
  const startedAt = performance.now() - subject.server.startedInMs
  const figure = 'sums from nothing, server idle'
  const goal = `≤ ${IDLE_GOAL_MS / 60_000} min`
  if (!(await progress(subject))) return { figure, goal, measured: NOT_AVAILABLE }
  let tookMs: number
  do {
    if (!(await waitFor(subject, ({ complete }) => complete, LIMIT_MS)))
      return { figure, goal, measured: `not complete after ${seconds(LIMIT_MS)}`, isMet: false }
    tookMs = performance.now() - startedAt
    // Another kind of sums may begin only now.
    await Bun.sleep(SETTLED_MS)
  } while (!(await progress(subject))?.complete)
  return { figure, goal, measured: seconds(tookMs), isMet: tookMs <= IDLE_GOAL_MS, tookMs }
}

/** Computes the sums again while reports arrive as fast as they are answered. */
export async function measureSumsMeanwhile(subject: Subject, stack: AsyncDisposableStack): Promise<Line[]> {
  const figures = {
    time: 'sums from nothing, while reports come at 64 connections',
    reports: 'reports meanwhile',
  }
  const goal = `≤ ${MEANWHILE_LIMIT_MS / 60_000} min`
  const [seeded] = await subject.database.read<{ days: number }>(
    'SELECT count(DISTINCT started_at / 86400000) AS days FROM entries',
  )
  printProgress('reporting alone')
  const load = reportingLoad(subject)
  await startLoad({ ...load, seconds: 2 }).result
  const alone = await startLoad({ ...load, seconds: REPORTING_SECONDS }).result
  await subject.stop()
  await subject.database.removeSums()
  await subject.start(stack)
  if (!(await progress(subject))) return [{ figure: figures.time, goal, measured: NOT_AVAILABLE }]
  printProgress('computing the sums while reports come')
  const startedAt = performance.now()
  const running = startLoad({ ...reportingLoad(subject), seconds: MEANWHILE_LIMIT_MS / 1000 + 60 })
  const isDone = ({ complete, days_made }: Progress) => complete || days_made >= seeded!.days - CHANGING_DAYS
  const isInTime = await waitFor(subject, isDone, MEANWHILE_LIMIT_MS)
  const tookMs = performance.now() - startedAt
  running.stop()
  const meanwhile = await running.result
  const reached = await progress(subject)
  return [
    {
      figure: figures.time,
      goal,
      measured: isInTime ? seconds(tookMs) : `${reached?.days_made} of ${seeded!.days} days`,
      isMet: isInTime,
    },
    {
      figure: figures.reports,
      goal: 'p99 at most doubled',
      measured: `p50 ${ms(alone.p50Ms)} → ${ms(meanwhile.p50Ms)} ms, p99 ${ms(alone.p99Ms)} → ${ms(meanwhile.p99Ms)} ms`,
      isMet: meanwhile.p99Ms <= 2 * alone.p99Ms,
    },
  ]
}

export async function measureBytes({ database }: Subject): Promise<Line[]> {
  printProgress('counting bytes')
  const [counted] = await database.read<{ entries: number }>('SELECT count(*) AS entries FROM entries')
  const entries = Math.max(1, counted!.entries)
  const tables = await database.sizes()
  const isSum = (owner: string) => owner.startsWith('rollup_') || owner === 'stale_hours'
  const perEntry = (some: typeof tables) => some.reduce((sum, { bytes }) => sum + bytes, 0) / entries
  const without = perEntry(tables.filter(({ owner }) => !isSum(owner)))
  const all = perEntry(tables)
  const rows = tables.slice(0, 12).map(({ owner, bytes }) => [owner, (bytes / entries).toFixed(1)])
  printTable([['table, with its indexes', 'bytes per entry'], ...rows])
  return [
    { figure: 'database without sums', measured: `${without.toFixed(0)} bytes per entry` },
    {
      figure: 'database with sums',
      goal: `≤ ${BYTES_GOAL} bytes per entry`,
      measured: `${all.toFixed(0)} bytes per entry`,
      isMet: all <= BYTES_GOAL,
    },
  ]
}
