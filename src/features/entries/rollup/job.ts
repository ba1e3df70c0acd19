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
 * Stored sums are never incremented or decremented, so they cannot drift. All writes are in portions of a few
 * milliseconds, and the job pauses while the server is busy, since incoming reports have priority.
 */
import type { Database } from '../../../database/database.ts'
import { isOverflow } from '../../../database/errors.ts'
import { Problem } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { dayAt, daysWithin, monthAt } from './calendar.ts'
import { type Period, type Range, rangeOfHour } from './plan.ts'
import type { StoredColumns } from './segment.ts'
import {
  deleteMarks,
  deleteOldColumns,
  endBuilding,
  endBuildings,
  findNextStart,
  findOldPeriod,
  finishBuilding,
  insertBuilding,
  insertColumns,
  insertStaleDays,
  insertZone,
  isAnythingMarked,
  listCleanPeriods,
  listStaleDays,
  listStaleHours,
  listZones,
  markPeriods,
  type NewPeriod,
  removeZone,
  setZoneReady,
} from './store/periods.ts'
import { DAY_TASK, MONTH_TASK } from './tasks.ts'

/** Bytes of columns per transaction, about a millisecond: reports that wait for the same commit are not affected. */
const BYTES_PER_WRITE = 500_000

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

/** A period whose entries could not be summed in time is retried when there may be less load. */
const AFTER_FAILED_BUILDING_MS = 60_000

/** A period that changes constantly is rebuilt so rarely that it takes at most a twentieth of a core. */
const PERIOD_REST_FACTOR = 19

/** Days that are built together. */
const DAYS_PER_STEP = 4

/** The pause if there is nothing to do. A pending mark costs reports little. */
const IDLE_MS = 1_000

/** The database may be locked or unavailable, so there is no use in retrying at once. */
const AFTER_FAILURE_MS = 10_000

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
  /** Whether all days with entries are found, and none waits. */
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
  /** When a changed day may be built. */
  const notBefore = new Map<string, number>()
  /** When a period may be built again. */
  const restUntil = new Map<string, number>()
  /** The local day up to which no month is missing. */
  let monthsKeptUntil: string | undefined

  /** Sets the days of marked hours to stale. Returns whether there may be further ones. */
  async function takeMarks(): Promise<boolean> {
    if (!(await isAnythingMarked(db.read))) return false
    let isFull = false
    const touched = await db.write(async (tx) => {
      const hours = (await listStaleHours(tx)).slice(0, HOURS_PER_TAKE)
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
    for (const day of touched) notBefore.set(nameOf({ ...day, level: 'day' }), clock.now() + quietMs)
    monthsKeptUntil = undefined
    return isFull
  }

  /**
   * Adopts a time zone. It is inserted first, so that marks deleted from then on apply to it as well; then all days
   * with entries are added as stale, and only then may reports treat a day without a row as empty.
   */
  async function adopt(zone: string): Promise<void> {
    await db.write((tx) => insertZone(tx, zone))
    let days: Range[] = []
    const add = () => db.write((tx) => insertStaleDays(tx, zone, days, clock.now()))
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
    await db.write((tx) => setZoneReady(tx, zone))
  }

  /**
   * Builds a period. `read` returns the rows to insert; they don't need to be of the same moment, since every change in
   * between ends the build. Returns false if the period has to wait: if its entries could not be summed in time, or not
   * in 64 bits.
   */
  async function build(period: NewPeriod, read: () => Promise<StoredColumns[]>): Promise<boolean> {
    const id = await db.write((tx) => insertBuilding(tx, period, clock.now()))
    let isFinished = false
    try {
      for (const columns of portionsOf(await read())) await db.write((tx) => insertColumns(tx, id, columns))
      isFinished = await db.write((tx) => finishBuilding(tx, id, period))
      return true
    } catch (error) {
      const isTooLong = error instanceof Problem && error.code === 'database_deadline'
      if (!isTooLong && !isOverflow(error)) throw error
      return false
    } finally {
      if (!isFinished) await db.write((tx) => endBuilding(tx, id))
    }
  }

  /**
   * Builds a period and pauses it afterwards, so that a period which changes constantly takes only a small part of a
   * core.
   */
  async function buildInTurn(period: NewPeriod, read: () => Promise<StoredColumns[]>): Promise<void> {
    const begun = performance.now()
    const isBuilt = await build(period, read)
    const restMs = isBuilt ? (performance.now() - begun) * restFactor : AFTER_FAILED_BUILDING_MS
    restUntil.set(nameOf(period), clock.now() + restMs)
  }

  /** Builds days, of which one is read while another one is written. */
  async function buildDays(days: readonly DayOfZone[]): Promise<void> {
    let reading: Promise<unknown> = Promise.resolve()
    const build = async (day: DayOfZone): Promise<void> => {
      const period: NewPeriod = { ...day, level: 'day' }
      await buildInTurn(period, () => {
        const columns = reading.then(() => db.slowly(DAY_TASK, { from: day.from, to: day.to }))
        reading = columns.catch(() => {})
        return columns
      })
      notBefore.delete(nameOf(period))
    }
    await Promise.all(days.map(build))
  }

  async function buildMonth(month: NewPeriod): Promise<void> {
    await buildInTurn(month, async () => {
      // Read again after the start of the build: changes from here on end it.
      const periods = await listCleanPeriods(db.read, month.zone)
      const days = periods.filter((period) => period.level === 'day' && isWithin(period, month))
      return db.slowly(MONTH_TASK, { days: days.map(({ id }) => ({ id })), from: month.from, to: month.to })
    })
  }

  function isDue(period: NewPeriod): boolean {
    const name = nameOf(period)
    return Math.max(notBefore.get(name) ?? 0, restUntil.get(name) ?? 0) <= clock.now()
  }

  /** Months without a row whose days have one; of the current month, the days before today. */
  async function listMissingMonths(zone: string, stale: DayOfZone[]): Promise<NewPeriod[]> {
    const today = dayAt(clock.now(), zone).from
    const periods = await listCleanPeriods(db.read, zone)
    const keptUntil = new Map<number, number>()
    for (const { level, startsAt, endsAt } of periods) if (level === 'month') keptUntil.set(startsAt, endsAt)
    const days = periods.filter(({ level }) => level === 'day')
    const missing: NewPeriod[] = []
    for (let at = 0; at < days.length; ) {
      const month = monthAt(days[at]!.startsAt, zone)
      const to = month.from < today && today < month.to ? today : month.to
      const isWhole = !stale.some((day) => day.from < to && day.to > month.from)
      if (isWhole && (keptUntil.get(month.from) ?? month.from) < to) {
        missing.push({ zone, level: 'month', from: month.from, to })
      }
      while (at < days.length && days[at]!.startsAt < month.to) at += 1
    }
    return missing
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

    const stale = (await listStaleDays(db.read)).filter((day) => day.zone === zone)
    const today = `${zone} ${dayAt(clock.now(), zone).from}`
    if (monthsKeptUntil !== today) {
      const missing = await listMissingMonths(zone, stale)
      const month = missing.find(isDue)
      if (month) {
        await buildMonth(month)
        return 'worked'
      }
      if (missing.length === 0) monthsKeptUntil = today
    }
    const days = stale.filter((day) => isDue({ ...day, level: 'day' })).slice(0, DAYS_PER_STEP)
    if (days.length > 0) {
      await buildDays(days)
      monthsKeptUntil = undefined
      return 'worked'
    }
    const former = zones.find((known) => known.zone !== zone)
    if (former) await db.write((tx) => removeZone(tx, former.zone))
    return former || old !== undefined ? 'worked' : 'idle'
  }

  return {
    /** Performs the next piece of work; returns `idle` if there is none. */
    step,

    /**
     * Performs steps, with pauses, until it is stopped. Errors are passed to `onError`, and the step is retried later.
     */
    start(onError: (error: unknown) => void): { stop(): Promise<void> } {
      let isStopped = false
      let wake = () => {}
      const rest = (ms: number) =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      async function run(): Promise<void> {
        let isBegun = false
        while (!isStopped) {
          const begun = performance.now()
          const used = process.cpuUsage()
          let restMs = AFTER_FAILURE_MS
          try {
            // Of an earlier process; another running one loses at most one build.
            if (!isBegun) await db.write((tx) => endBuildings(tx))
            isBegun = true
            const isIdle = (await step()) === 'idle'
            restMs = isIdle ? IDLE_MS : restAfter(performance.now() - begun, process.cpuUsage(used))
          } catch (error) {
            if (!isStopped) onError(error)
          }
          if (!isStopped) await rest(restMs)
        }
      }
      const running = run()
      return {
        stop() {
          isStopped = true
          wake()
          return running
        },
      }
    },

    async status(): Promise<RollupStatus> {
      const zone = await timeZone()
      const stale = (await listStaleDays(db.read)).filter((day) => day.zone === zone)
      const clean = (await listCleanPeriods(db.read, zone)).filter(({ level }) => level === 'day')
      const zones = await listZones(db.read)
      const waitingDays = stale.filter((day) => isDue({ ...day, level: 'day' })).length
      const isAdopted = zones.some((known) => known.zone === zone && known.ready)
      return {
        timeZone: zone,
        zones: zones.map((known) => known.zone),
        staleDays: stale.length,
        days: stale.length + clean.length,
        waitingDays,
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

type DayOfZone = Range & { zone: string }

function nameOf({ zone, level, from }: NewPeriod): string {
  return `${zone} ${level} ${from}`
}

/** The columns in portions of about {@link BYTES_PER_WRITE}. */
function portionsOf(columns: readonly StoredColumns[]): StoredColumns[][] {
  const portions: StoredColumns[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const column of columns) {
    if (bytes + column.data.byteLength > BYTES_PER_WRITE) {
      portions.push([])
      bytes = 0
    }
    portions.at(-1)!.push(column)
    bytes += column.data.byteLength
  }
  return portions
}

function isWithin({ startsAt, endsAt }: Period, { from, to }: Range): boolean {
  return startsAt >= from && endsAt <= to
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
