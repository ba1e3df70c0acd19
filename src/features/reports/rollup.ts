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
  type RollupSums,
  removeZone,
  setZoneReady,
  sumEntries,
  sumPeriods,
} from './store/rollup.ts'

/** Sums written in a transaction, some 3 ms: entries that wait for the same commit do not notice. */
const SUMS_PER_WRITE = 150

/** Old sums deleted in a transaction, which is quicker than writing them. */
const SUMS_PER_DELETE = 500

/** Marked hours taken in a transaction. Each may be of another day, whose bounds the calendar needs some 30 µs for. */
const HOURS_PER_TAKE = 100

/** Days added in a transaction when a zone is adopted. */
const DAYS_PER_WRITE = 100

/** A day that still changes is not worth its sums: the next entry would make them stale. */
const QUIET_MS = 3_000

/** A day whose entries could not be summed in time waits for a calmer minute. */
const AFTER_DEADLINE_MS = 60_000

/** How long the job sleeps when there is nothing to do. A mark that waits costs reports little. */
const IDLE_MS = 1_000

/** The database may be locked or away: there is no use in asking it at once again. */
const AFTER_FAILURE_MS = 10_000

/** After a step it rests so many times as long as the step took, so that of a core it takes a quarter at most. */
const REST_FACTOR = 3

const LARGEST = 2n ** 63n - 1n

export type Step = 'worked' | 'idle'

export interface RollupStatus {
  /** The zones that are kept: two while the organization's is being changed. */
  zones: string[]
  /** Days whose sums are to be made again, and the days there are, of the organization's zone. */
  staleDays: number
  days: number
}

export interface RollupDependencies {
  db: Database
  clock: Clock
  /** The organization's zone, asked at each step. */
  timeZone: () => Promise<string>
  /** For how long a day has to be left alone before its sums are made. */
  quietMs?: number
}

export function createRollup({ db, clock, timeZone, quietMs = QUIET_MS }: RollupDependencies) {
  /** When a day may be built, where not at once. */
  const notBefore = new Map<string, number>()
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
    for (const day of touched) notBefore.set(nameOf(day), clock.now() + quietMs)
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
   * `read` answers the sums of one grain; that they are not all of one moment does not matter, as whatever changes
   * between two of them ends the building. Answers false where a sum does not fit into 64 bits, so that the period is
   * not kept.
   */
  async function build(
    period: NewPeriod,
    read: (grain: number) => Promise<RollupSums[] | undefined>,
  ): Promise<boolean> {
    const id = await db.write((tx) => insertBuilding(tx, period, clock.now()))
    let isFinished = false
    try {
      const sums: RollupSums[] = []
      for (let grain = 0; grain <= STRADDLING_GRAIN; grain += 1) {
        const ofGrain = await read(grain)
        if (ofGrain === undefined || ofGrain.some(isTooLarge)) return false
        sums.push(...ofGrain)
      }
      let written = 0
      for (; sums.length - written > SUMS_PER_WRITE; written += SUMS_PER_WRITE) {
        await db.write((tx) => insertSums(tx, id, written, sums.slice(written, written + SUMS_PER_WRITE)))
      }
      isFinished = await db.write(async (tx) => {
        await insertSums(tx, id, written, sums.slice(written))
        return finishBuilding(tx, id, period)
      })
      return true
    } finally {
      if (!isFinished) await db.write((tx) => endBuilding(tx, id))
    }
  }

  async function buildDay(day: DayOfZone): Promise<void> {
    const read = (grain: number) =>
      sumEntries(db.slow, grain, day).catch((error) => {
        if (isOverflow(error)) return undefined
        throw error
      })
    try {
      const fits = await build({ ...day, level: 'day' }, read)
      if (fits) notBefore.delete(nameOf(day))
      else notBefore.set(nameOf(day), Number.POSITIVE_INFINITY)
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'database_deadline')) throw error
      notBefore.set(nameOf(day), clock.now() + AFTER_DEADLINE_MS)
    }
  }

  async function buildMonth(month: NewPeriod): Promise<void> {
    await build(month, async (grain) => {
      // Looked up again behind the beginning of the building: what changes from here on ends it.
      const periods = await listCleanPeriods(db.read, month.zone)
      const days = periods.filter((period) => period.level === 'day' && isWithin(period, month))
      const ids = days.map(({ id }) => id)
      return ids.length === 0 ? [] : sumPeriods(db.slow, grain, ids, month)
    })
  }

  /** A month that is not kept though its days are, those before today where it is the current one. */
  async function findMonth(zone: string, stale: DayOfZone[]): Promise<NewPeriod | undefined> {
    const today = dayAt(clock.now(), zone).from
    const periods = await listCleanPeriods(db.read, zone)
    const keptUntil = new Map<number, number>()
    for (const { level, startsAt, endsAt } of periods) if (level === 'month') keptUntil.set(startsAt, endsAt)
    const days = periods.filter(({ level }) => level === 'day')
    for (let at = 0; at < days.length; ) {
      const month = monthAt(days[at]!.startsAt, zone)
      const to = month.from < today && today < month.to ? today : month.to
      const isWhole = !stale.some((day) => day.from < to && day.to > month.from)
      if (isWhole && (keptUntil.get(month.from) ?? month.from) < to)
        return { zone, level: 'month', from: month.from, to }
      while (at < days.length && days[at]!.startsAt < month.to) at += 1
    }
    return undefined
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
    const day = stale.find((one) => (notBefore.get(nameOf(one)) ?? 0) <= clock.now())
    if (day) {
      await buildDay(day)
      monthsKeptUntil = undefined
      return 'worked'
    }
    const today = nameOf({ zone, from: dayAt(clock.now(), zone).from })
    if (monthsKeptUntil !== today) {
      const month = await findMonth(zone, stale)
      if (month) {
        await buildMonth(month)
        return 'worked'
      }
      monthsKeptUntil = today
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
      return {
        zones: (await listZones(db.read)).map((known) => known.zone),
        staleDays: stale.length,
        days: stale.length + clean.length,
      }
    },
  }
}

type DayOfZone = Range & { zone: string }

function nameOf({ zone, from }: Pick<DayOfZone, 'zone' | 'from'>): string {
  return `${zone} ${from}`
}

function isTooLarge(sums: RollupSums): boolean {
  return Object.values(sums).some((value) => typeof value === 'bigint' && value > LARGEST)
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
