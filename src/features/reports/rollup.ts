/**
 * The job that keeps the roll-up: sums of entries by local day and month of the organization's zone.
 *
 * Whoever changes an entry marks its hour in the same transaction (a trigger does). What reports rely on: a period's
 * sums hold as long as it is clean and no hour of it is marked. The job keeps that true in three steps, of which any
 * number may run beside each other and any may be the last before the process ends:
 *
 * 1. It takes marks away and makes their days `stale` in the same transaction. A month is not used any more then.
 * 2. It begins a stale day anew as `building`, and only then reads the sums: they hold every change whose mark was taken
 *    before. A change that comes later leaves a mark; when that is taken, the building ends.
 * 3. It puts the new sums, when all are written and the building has not ended, in the place of the stale ones.
 *
 * Nothing is ever added to sums or taken from them, so they cannot drift. All writing is in portions of some
 * milliseconds, and the job rests longer than it works, as entries that are being reported come first.
 */
import type { Database } from '../../database/database.ts'
import { isOverflow } from '../../database/errors.ts'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dayAt, daysWithin, monthAt } from './rollup-calendar.ts'
import { STRADDLING_GRAIN } from './rollup-grain.ts'
import { type Period, type Range, rangeOfHour } from './rollup-plan.ts'
import {
  deleteMarks,
  deleteOldSums,
  endBuilding,
  endBuildings,
  findNextStart,
  findOldPeriod,
  finishBuilding,
  insertBuilding,
  insertStaleDays,
  insertSums,
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
  sumDay,
  sumMonth,
} from './store/rollup.ts'

/** Sums written in a transaction, some 3 ms: entries that wait for the same commit do not notice. */
const SUMS_PER_WRITE = 500

/** Old sums deleted in a transaction, which is quicker than writing them. */
const SUMS_PER_DELETE = 500

/** Marked hours taken in a transaction. Each may be of another day, whose bounds the calendar needs some 30 µs for. */
const HOURS_PER_TAKE = 100

/** Days added in a transaction when a zone is adopted. */
const DAYS_PER_WRITE = 100

/** A day that still changes is not worth its sums: the next entry would make them stale. */
const QUIET_MS = 3_000

/** A period whose entries could not be summed in time waits for a calmer minute. */
const AFTER_FAILED_BUILDING_MS = 60_000

/** A period that changes all the time is made again at most so seldom that it takes a twentieth of a core. */
const PERIOD_REST_FACTOR = 19

/** How long the job sleeps when there is nothing to do. A mark that waits costs reports little. */
const IDLE_MS = 1_000

/** The database may be locked or away: there is no use in asking it at once again. */
const AFTER_FAILURE_MS = 10_000

/** After a step it rests so many times as long as the step took, so that of a core it takes a quarter at most. */
const REST_FACTOR = 3

export type Step = 'worked' | 'idle'

export interface RollupStatus {
  /** The organization's. */
  timeZone: string
  /** The zones that are kept: two while the organization's is being changed. */
  zones: string[]
  /** Days whose sums are to be made again, and the days there are, of the organization's zone. */
  staleDays: number
  days: number
  /** Whether every day is made that has entries. */
  isComplete: boolean
}

export interface RollupDependencies {
  db: Database
  clock: Clock
  /** The organization's zone, asked at each step. */
  timeZone: () => Promise<string>
  /** For how long a day has to be left alone before its sums are made. */
  quietMs?: number
  /** How many times as long as a period took to be made it then is not made again. */
  restFactor?: number
}

export function createRollup({
  db,
  clock,
  timeZone,
  quietMs = QUIET_MS,
  restFactor = PERIOD_REST_FACTOR,
}: RollupDependencies) {
  /** When a day that was touched may be built. */
  const notBefore = new Map<string, number>()
  /** When a period that was built may be built again. */
  const restUntil = new Map<string, number>()
  /** The local day up to which it is known that no month is missing. */
  let monthsKeptUntil: string | undefined

  /** Makes the days of marked hours stale. */
  async function takeMarks(): Promise<void> {
    if (!(await isAnythingMarked(db.read))) return
    const touched = await db.write(async (tx) => {
      const hours = (await listStaleHours(tx)).slice(0, HOURS_PER_TAKE)
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
  }

  /**
   * Begins to keep a zone. It is known first, so that marks taken from then on count for it too; then every day that
   * has entries is added as stale, and only then may reports take a day without a row for an empty one.
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
   * `read` answers rows to insert; that they are not all of one moment does not matter, as whatever changes between two
   * of them ends the building. Answers false where the period is to wait: where its entries could not be summed in
   * time, or not in 64 bits.
   */
  async function build(period: NewPeriod, read: (id: number) => Promise<string[]>): Promise<boolean> {
    const id = await db.write((tx) => insertBuilding(tx, period, clock.now()))
    let isFinished = false
    try {
      const texts = await read(id)
      const last = texts.pop()
      for (const rows of texts) await db.write((tx) => insertSums(tx, rows))
      isFinished = await db.write(async (tx) => {
        if (last !== undefined) await insertSums(tx, last)
        return finishBuilding(tx, id, period)
      })
      return true
    } catch (error) {
      const isTooLong = error instanceof Problem && error.code === 'database_deadline'
      if (!isTooLong && !isOverflow(error)) throw error
      return false
    } finally {
      if (!isFinished) await db.write((tx) => endBuilding(tx, id))
    }
  }

  /** Builds a period, and lets it rest then, so that what changes all the time takes a small part of a core. */
  async function buildInTurn(period: NewPeriod, read: (id: number) => Promise<string[]>): Promise<void> {
    const begun = performance.now()
    const isBuilt = await build(period, read)
    const restMs = isBuilt ? (performance.now() - begun) * restFactor : AFTER_FAILED_BUILDING_MS
    restUntil.set(nameOf(period), clock.now() + restMs)
  }

  async function buildDay(day: DayOfZone): Promise<void> {
    await buildInTurn({ ...day, level: 'day' }, (id) => sumDay(db.slow, id, day, SUMS_PER_WRITE))
    notBefore.delete(nameOf({ ...day, level: 'day' }))
  }

  async function buildMonth(month: NewPeriod): Promise<void> {
    await buildInTurn(month, async (id) => {
      // Looked up again behind the beginning of the building: what changes from here on ends it.
      const periods = await listCleanPeriods(db.read, month.zone)
      const days = periods.filter((period) => period.level === 'day' && isWithin(period, month)).map((day) => day.id)
      const texts: string[] = []
      for (let grain = 0; grain <= STRADDLING_GRAIN && days.length > 0; grain += 1) {
        texts.push(...(await sumMonth(db.slow, id, grain, days, month, SUMS_PER_WRITE)))
      }
      return texts
    })
  }

  function isDue(period: NewPeriod): boolean {
    const name = nameOf(period)
    return Math.max(notBefore.get(name) ?? 0, restUntil.get(name) ?? 0) <= clock.now()
  }

  /** Months that are not kept though their days are, those before today of the current one. */
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
    await takeMarks()
    const old = await findOldPeriod(db.read)
    if (old !== undefined) await db.write((tx) => deleteOldSums(tx, old, SUMS_PER_DELETE))

    const stale = (await listStaleDays(db.read)).filter((day) => day.zone === zone)
    const day = stale.find((one) => isDue({ ...one, level: 'day' }))
    if (day) {
      await buildDay(day)
      monthsKeptUntil = undefined
      return 'worked'
    }
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
    const former = zones.find((known) => known.zone !== zone)
    if (former) await db.write((tx) => removeZone(tx, former.zone))
    return former || old !== undefined ? 'worked' : 'idle'
  }

  return {
    /** Does the next piece of work; `idle` where there is none. */
    step,

    /** Steps until it is stopped, with rests. What fails is told and tried again later. */
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
          let restMs = AFTER_FAILURE_MS
          try {
            // Of an earlier process; another one that lives loses a building at most.
            if (!isBegun) await db.write((tx) => endBuildings(tx))
            isBegun = true
            restMs = (await step()) === 'idle' ? IDLE_MS : REST_FACTOR * (performance.now() - begun)
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
      const isAdopted = zones.some((known) => known.zone === zone && known.ready)
      return {
        timeZone: zone,
        zones: zones.map((known) => known.zone),
        staleDays: stale.length,
        days: stale.length + clean.length,
        isComplete: isAdopted && stale.length === 0 && !(await isAnythingMarked(db.read)),
      }
    },
  }
}

type DayOfZone = Range & { zone: string }

function nameOf({ zone, level, from }: NewPeriod): string {
  return `${zone} ${level} ${from}`
}

function isWithin({ startsAt, endsAt }: Period, { from, to }: Range): boolean {
  return startsAt >= from && endsAt <= to
}

/** Ascending ranges, those that touch as one. */
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
