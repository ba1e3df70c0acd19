/**
 * The job that maintains the roll-up: columns of entries and their sums, by local day and month of the organization's
 * time zone.
 *
 * A trigger marks the hour of every changed entry in the same transaction. Reports rely on this: a period's sums are
 * valid as long as it is clean and none of its hours is marked. The job ensures that in three steps, of which any
 * number may run concurrently, and after any of which the process may end:
 *
 * 1. It deletes marks and sets their days to `stale` in the same transaction. Their months are no longer used then.
 * 2. It inserts a stale day again as `building`, and only then reads the sums: they contain every change whose mark was
 * deleted before. A later change leaves a mark; when that is deleted, the build ends.
 * 3. When all new sums are written and the build has not ended, it replaces the stale ones with them.
 *
 * A month is built from its days in the same way: only if none of them is stale, since the changes of a stale day were
 * found before and don't end the build.
 *
 * Stored sums are never incremented or decremented, so they cannot drift. All writes are in portions of a few
 * milliseconds, and the job pauses while the server is busy, since incoming reports have priority.
 */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { Builds, type DayOfZone } from './builds.ts'
import { dayAt, daysWithin } from './calendar.ts'
import { missingMonths } from './missing-months.ts'
import { ALL_TIMES, type Period, type Range, rangeOfHour } from './plan.ts'
import {
  changePeriods,
  deleteMarks,
  deleteOldColumns,
  endBuildings,
  findNextStart,
  findOldPeriod,
  insertStaleDays,
  insertZone,
  isAnythingMarked,
  listPeriods,
  listStaleHours,
  listZones,
  markPeriods,
  removeZone,
  setZoneReady,
} from './store/periods.ts'

/** Old columns deleted per transaction. */
const COLUMNS_PER_DELETE = 20

/**
 * Marked hours deleted per transaction. Each may belong to another day, and calculating its bounds takes about 30 µs.
 */
const HOURS_PER_TAKE = 100

/** Days added per transaction when a time zone is adopted. */
const DAYS_PER_WRITE = 100

/** A day that still changes is not summed: the next entry would make its sums stale. */
const QUIET_MS = 3_000

/** A period that changes constantly is rebuilt so rarely that it takes at most a twentieth of a core. */
const PERIOD_REST_FACTOR = 19

/** Days that are built together. */
const DAYS_PER_STEP = 4

/** The pause if there is nothing to do. A pending mark costs reports little. */
const IDLE_MS = 1_000

/**
 * The pause after a step, relative to its duration, while the server is busy: then the job takes at most a quarter of a
 * core.
 */
const REST_FACTOR = 3

/** The part of a core that the process uses while a step runs: without other work, and when it is busy. */
const QUIET_LOAD = 0.25
const BUSY_LOAD = 0.75

export type Step = 'worked' | 'idle'

export interface RollupStatus {
  /** The organization's time zone. */
  timeZone: string
  /** The maintained time zones: two while the organization's is being changed. */
  zones: string[]
  /** The days to be built again, and all days that were found so far, of the organization's time zone. */
  staleDays: number
  days: number
  /** The stale days that wait to be built; the others are still changing. */
  waitingDays: number
  /** Whether all days with entries are found. */
  isAdopted: boolean
  /** Whether none of them waits, either. */
  isComplete: boolean
}

export interface RollupDependencies {
  db: Database
  clock: Clock
  /** The organization's time zone, read at each step. */
  timeZone: () => Promise<string>
  /** How long a day must be unchanged before it is summed. */
  quietMs?: number
  /** How long a period is not rebuilt, relative to the duration of its last build. */
  restFactor?: number
}

export function createRollup({
  db,
  clock,
  timeZone,
  quietMs = QUIET_MS,
  restFactor = PERIOD_REST_FACTOR,
}: RollupDependencies) {
  const builds = new Builds({ db, clock, quietMs, restFactor })
  /** The local day up to which no month is missing. */
  let monthsKeptUntil: string | undefined
  /** Whether the step before succeeded. */
  let isContinuing = false

  /** Sets the days of marked hours to stale. Returns whether there may be further ones. */
  async function takeMarks(): Promise<boolean> {
    if (!(await isAnythingMarked(db.read))) return false
    let isFull = false
    const touched = await changePeriods(db, async (tx) => {
      const hours = await listStaleHours(tx, undefined, HOURS_PER_TAKE)
      isFull = hours.length === HOURS_PER_TAKE
      if (hours.length === 0) return []
      await deleteMarks(tx, hours)
      const ranges = joined(hours.map(rangeOfHour))
      await markPeriods(tx, ranges)
      const touched: DayOfZone[] = []
      for (const { zone } of await listZones(tx)) {
        const days = distinct(ranges.flatMap((range) => daysWithin(range, zone)))
        await insertStaleDays(tx, zone, days, clock.now())
        touched.push(...days.map((day) => ({ ...day, zone })))
      }
      return touched
    })
    builds.noteChanged(touched)
    monthsKeptUntil = undefined
    return isFull
  }

  /**
   * Adopts a time zone. It is inserted first, so that marks deleted from then on apply to it as well; then all days
   * with entries are added as stale, and only then may reports treat a day without a row as empty.
   */
  async function adopt(zone: string): Promise<void> {
    await changePeriods(db, (tx) => insertZone(tx, zone))
    let days: Range[] = []
    const add = () => changePeriods(db, (tx) => insertStaleDays(tx, zone, days, clock.now()))
    for (let from = Number.MIN_SAFE_INTEGER; ; from = days.at(-1)!.to) {
      const start = await findNextStart(db.read, from)
      if (start === undefined) break
      if (days.length >= DAYS_PER_WRITE) {
        await add()
        days = []
      }
      days.push(dayAt(start, zone))
    }
    await add()
    await changePeriods(db, (tx) => setZoneReady(tx, zone))
  }

  /** The stale days that may be built, the latest first, since people look at those. */
  function dueDays(zone: string, periods: readonly Period[]): DayOfZone[] {
    return periods
      .filter(({ level, state }) => level === 'day' && state === 'stale')
      .map(({ startsAt, endsAt }) => ({ zone, from: startsAt, to: endsAt }))
      .filter((day) => builds.isDue({ ...day, level: 'day' }))
      .reverse()
  }

  async function step(): Promise<Step> {
    const zone = await timeZone()
    const zones = await listZones(db.read)
    if (!zones.some((known) => known.zone === zone && known.ready)) {
      await adopt(zone)
      return 'worked'
    }
    // What is built before all marks are taken may have to be built again.
    if (await takeMarks()) return 'worked'
    const old = await findOldPeriod(db.read)
    if (old !== undefined) await db.write((tx) => deleteOldColumns(tx, old, COLUMNS_PER_DELETE))

    const periods = await listPeriods(db.read, zone, ALL_TIMES)
    const today = dayAt(clock.now(), zone).from
    const name = `${zone} ${today}`
    if (monthsKeptUntil !== name) {
      const missing = missingMonths(zone, periods, today)
      const month = missing.find((month) => builds.isDue(month))
      if (month) {
        await builds.buildMonth(month)
        return 'worked'
      }
      if (missing.length === 0) monthsKeptUntil = name
    }
    const days = dueDays(zone, periods).slice(0, DAYS_PER_STEP)
    if (days.length > 0) {
      await builds.buildDays(days)
      monthsKeptUntil = undefined
      return 'worked'
    }
    const former = zones.find((known) => known.zone !== zone)
    if (former) await changePeriods(db, (tx) => removeZone(tx, former.zone))
    return former || old !== undefined ? 'worked' : 'idle'
  }

  return {
    /** Performs the next piece of work; returns `idle` if there is none. */
    step,

    job: new Job({
      name: 'totals',
      task: 'update the daily and monthly totals',
      everyMs: IDLE_MS,
      async run({ pause }) {
        // Of an earlier process or a failed step; another running process loses at most one build.
        if (!isContinuing) await changePeriods(db, endBuildings)
        isContinuing = false
        const startedAt = performance.now()
        const used = process.cpuUsage()
        const done = await step()
        isContinuing = true
        if (done === 'worked') pause(restAfter(performance.now() - startedAt, process.cpuUsage(used)))
      },
    }),

    async status(): Promise<RollupStatus> {
      const zone = await timeZone()
      const periods = await listPeriods(db.read, zone, ALL_TIMES)
      const days = periods.filter(({ level }) => level === 'day')
      const zones = await listZones(db.read)
      const waitingDays = dueDays(zone, periods).length
      const isAdopted = zones.some((known) => known.zone === zone && known.ready)
      return {
        timeZone: zone,
        zones: zones.map((known) => known.zone),
        staleDays: days.filter(({ state }) => state === 'stale').length,
        days: days.length,
        waitingDays,
        isAdopted,
        isComplete: isAdopted && waitingDays === 0,
      }
    },
  }
}

/** How long to pause after a step during which the process used this much processor time, in milliseconds. */
function restAfter(durationMs: number, { user, system }: NodeJS.CpuUsage): number {
  const load = (user + system) / 1_000 / Math.max(1, durationMs)
  const business = Math.min(1, Math.max(0, (load - QUIET_LOAD) / (BUSY_LOAD - QUIET_LOAD)))
  return REST_FACTOR * business * durationMs
}

/** Merges ascending ranges that touch each other. */
function joined(ranges: Range[]): Range[] {
  const result: Range[] = []
  for (const { from, to } of ranges) {
    const last = result.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

function distinct(days: Range[]): Range[] {
  return [...new Map(days.map((day) => [day.from, day])).values()]
}
