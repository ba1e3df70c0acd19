/**
 * Calculates the shares of periods whose entries or terms have changed (docs/design/plans.md, "Allocation").
 *
 * 1. Hours with changed entries are taken from `unallocated_hours`, and their periods get one more change.
 * 2. A period with changes is claimed: nobody else writes a calculation of it, unless this one takes too long.
 * 3. Its shares are calculated on one state of the database, and written in portions as a new generation, which nothing uses yet.
 * 4. In one transaction the generation becomes the one that counts, the changes that it has seen are subtracted, and the hours
 * whose amounts differ are marked for the prepared sums. Equal shares write nothing.
 *
 * After any step the process may end: the earlier generation counts until the last one, and what is left of others is removed.
 */
import type { Database, Tx } from '../../database/database.ts'
import { dayAt, dayNumberAt, dayText } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { ALLOCATION_TASK, type Calculated, type CalculatedPeriod } from './allocation-task.ts'
import { type Period, periodAt, periodsOf } from './periods.ts'
import {
  changePlanPeriods,
  deleteGeneration,
  deletePeriod,
  deleteShares,
  deleteUnallocatedHours,
  findOldGeneration,
  findPeriod,
  findTimeZone,
  finishBuilding,
  HOUR_MS,
  hasPlans,
  insertGeneration,
  insertShares,
  keyOfPeriod,
  listChangedPeriods,
  listCorrectedPeriods,
  listUnallocatedHours,
  listUntakenHours,
  lockPeriod,
  markHours,
  noteChanges,
  type PeriodKey,
  type PeriodRecord,
  updatePeriod,
} from './store/allocation.ts'
import { listSchedules } from './store/schedules.ts'

/** How soon a server looks at what has changed. A look reads three tables that are nearly empty. */
const LOOK_EVERY_MS = 5_000

/** A period that changes all the time is calculated so rarely that it takes at most a hundredth of a core, and each minute. */
const REST_FACTOR = 100
const REST_MS = 60_000

/** Shares per transaction: some 20 ms, during which reports wait. */
const SHARES_PER_WRITE = 4_000

/** Hours whose periods are found at a time. */
const HOURS_PER_TAKE = 100

/** How long a server that calculates a period may write nothing before another one does it. */
const LEASE_MS = 600_000

/** How long somebody who asks for a calculation waits for one that has begun, and how often they look whether it is done. */
const PATIENCE_MS = 30_000
const WAIT_MS = 200

interface Dependencies {
  db: Database
  clock: Clock
}

export function createAllocation({ db, clock }: Dependencies) {
  /** The periods that contain any of the hours, or that corrections in them are of, get one more change. */
  async function noteHours(hours: readonly number[], forget: boolean): Promise<void> {
    const timeZone = await findTimeZone(db.read)
    const schedules = await listSchedules(db.read)
    const days = hours.flatMap((hour) => [hour * HOUR_MS, (hour + 1) * HOUR_MS - 1])
    const texts = [...new Set(days.map((moment) => dayText(dayNumberAt(moment, timeZone))))].sort()
    const periods = [...schedules].flatMap(([planId, schedule]) => {
      const found: Period[] = []
      for (const day of texts) {
        const last = found.at(-1)
        if (last && day >= last.firstDay && (last.lastDay === null || day <= last.lastDay)) continue
        const period = periodAt(schedule, day)
        if (period) found.push(period)
      }
      return found.map((period) => rowOf(planId, period))
    })
    const corrected = await listCorrectedPeriods(db.read, hours)
    const rows = new Map([...corrected, ...periods].map((row) => [keyOfPeriod(row), row]))
    await exclusively(async (tx) => {
      if (forget) await deleteUnallocatedHours(tx, hours)
      await noteChanges(tx, [...rows.values()])
    })
  }

  async function takeHours(): Promise<void> {
    for (;;) {
      const hours = await listUnallocatedHours(db.read, HOURS_PER_TAKE)
      if (hours.length > 0) await noteHours(hours, true)
      if (hours.length < HOURS_PER_TAKE) return
    }
  }

  const exclusively = <Result>(body: (tx: Tx) => Promise<Result>) => changePlanPeriods(db, body)

  /** Claims a period, and returns the generation to write; undefined if it is being calculated. */
  function claim({ planId, firstDay }: PeriodKey, patienceMs: number): Promise<number | undefined> {
    return exclusively(async (tx) => {
      const now = clock.now()
      const record = await findPeriod(tx, { planId, firstDay })
      if (!record || record.changes === 0 || isBeingBuilt(record, now, patienceMs)) return undefined
      const id = await insertGeneration(tx, { planId, firstDay }, now)
      await updatePeriod(tx, { planId, firstDay }, { buildingId: id, buildingUntil: now + LEASE_MS })
      return id
    })
  }

  /** In a transaction of the one who has claimed the period; does nothing, and returns false, if the claim has ended. */
  function asClaimed(key: PeriodKey, generationId: number, body: (tx: Tx) => Promise<void>): Promise<boolean> {
    return exclusively(async (tx) => {
      if ((await lockPeriod(tx, key))?.buildingId !== generationId) return false
      await body(tx)
      return true
    })
  }

  /** Writes a calculated period, if its claim has not ended. */
  async function save(period: CalculatedPeriod, generationId: number, durationMs: number): Promise<void> {
    const { shares, record } = period
    // A new end leaves days to other periods.
    const others = record.lastDay === period.lastDay ? [] : (await periodsWithin(record)).filter(isAnother(period))
    for (let at = 0; shares && at < shares.length; at += SHARES_PER_WRITE) {
      const isClaimed = await asClaimed(period, generationId, async (tx) => {
        await insertShares(tx, generationId, shares.slice(at, at + SHARES_PER_WRITE))
        await updatePeriod(tx, period, { buildingUntil: clock.now() + LEASE_MS })
      })
      if (!isClaimed) return
    }
    await asClaimed(period, generationId, async (tx) => {
      await finishBuilding(tx, period, record.changes, {
        ...columnsOf(period),
        ...(shares && { generationId }),
        durationMs: Math.round(durationMs),
        calculatedAt: clock.now(),
      })
      await noteChanges(tx, others)
      await markHours(tx, period.changedHours)
      if (!shares) await deleteGeneration(tx, generationId)
    })
  }

  /** The periods to which the days of a record belong now, up to today if it had no end. */
  async function periodsWithin({ planId, firstDay, lastDay }: PeriodRecord) {
    const schedule = (await listSchedules(db.read, [planId])).get(planId)!
    const to = lastDay ?? dayAt(clock.now(), await findTimeZone(db.read))
    return [...periodsOf(schedule, { from: firstDay, to })].map((period) => rowOf(planId, period))
  }

  /** The terms do not have the period any more: those that its days belong to now are calculated instead. */
  async function replace(record: PeriodRecord, generationId: number): Promise<void> {
    const periods = await periodsWithin(record)
    await asClaimed(record, generationId, async (tx) => {
      await deletePeriod(tx, record)
      await deleteGeneration(tx, generationId)
      await noteChanges(tx, periods)
    })
  }

  /** Calculates periods; those that are being calculated by somebody else are left out. */
  async function calculate(periods: readonly PeriodKey[], patienceMs = LEASE_MS): Promise<void> {
    const generations = new Map<string, number>()
    for (const key of periods) {
      const id = await claim(key, patienceMs)
      if (id !== undefined) generations.set(keyOfPeriod(key), id)
    }
    const claimed = periods.filter((key) => generations.has(keyOfPeriod(key)))
    if (claimed.length === 0) return
    const startedAt = performance.now()
    const results = await db.slowly(
      ALLOCATION_TASK,
      claimed.map(({ planId, firstDay }) => ({ planId, firstDay })),
    )
    const durationMs = performance.now() - startedAt
    for (const result of results) {
      const id = generations.get(keyOfPeriod(result.record))!
      if (isPeriod(result)) await save(result, id, durationMs)
      else await replace(result.record, id)
    }
  }

  /** Removes calculations that do not count, of which a process that ended may have left parts. */
  async function removeOld(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const id = await findOldGeneration(db.read, clock.now())
      if (id === undefined || signal?.aborted) return
      for (;;) {
        const isFull = await db.write(async (tx) => {
          const isFull = await deleteShares(tx, id, SHARES_PER_WRITE)
          if (!isFull) await deleteGeneration(tx, id)
          return isFull
        })
        if (!isFull) break
      }
    }
  }

  return {
    job: new Job({
      name: 'allocation',
      task: 'calculate the shares of plans',
      everyMs: LOOK_EVERY_MS,
      async run({ signal }) {
        await takeHours()
        const now = clock.now()
        const due = (await listChangedPeriods(db.read)).filter(
          (record) => isRested(record, now) && !isBeingBuilt(record, now),
        )
        if (due.length > 0) await calculate(due)
        await removeOld(signal)
      },
    }),

    /**
     * Calculates all periods whose entries or terms have changed before this call, however recently they were calculated, and
     * waits for those that another server calculates.
     */
    async calculateOwed(): Promise<void> {
      if (!(await hasPlans(db.read))) return
      await takeHours()
      // The prepared sums take these later, and then they are found to be calculated.
      const untaken = await listUntakenHours(db.read)
      if (untaken.length > 0) await noteHours(untaken, false)
      const before = clock.now()
      for (let waiting = await listChangedPeriods(db.read); waiting.length > 0; ) {
        await calculate(waiting, PATIENCE_MS)
        const left = new Map((await listChangedPeriods(db.read)).map((record) => [keyOfPeriod(record), record]))
        // Those that are new replace others, whose terms have changed.
        waiting = [...left.values()].filter(({ calculatedAt, buildingId }) => {
          return calculatedAt === null || calculatedAt <= before || buildingId !== null
        })
        const now = clock.now()
        if (waiting.length > 0 && waiting.every((record) => isBeingBuilt(record, now, PATIENCE_MS)))
          await Bun.sleep(WAIT_MS)
      }
    },
  }
}

const rowOf = (planId: number, { firstDay, lastDay, feeDollars }: Period) => ({
  planId,
  firstDay,
  lastDay,
  fee: feeDollars,
})

function isPeriod(result: Calculated): result is CalculatedPeriod {
  return result.shares !== undefined
}

/** What a calculation says of a period, as its record has it. */
export function columnsOf(period: CalculatedPeriod) {
  const { lastDay, from, to, fee, unused, unusedSeats, pending, entries, unpricedEntries, late, differences } = period
  return {
    lastDay,
    chargesCost: period.chargesCost,
    sumOfShares: period.sumOfShares,
    entriesCost: period.entriesCost,
    entriesCharge: period.entriesCharge,
    startingAt: from,
    endingAt: to,
    fee,
    unused,
    unusedSeats,
    pending,
    entries,
    unpricedEntries,
    lateEntries: late.length,
    unsettled: differences.length,
  }
}

const isAnother =
  ({ firstDay }: PeriodKey) =>
  (other: PeriodKey) =>
    other.firstDay !== firstDay

/** Whether a process has written to it within the patience of the one who asks. */
function isBeingBuilt({ buildingId, buildingUntil }: PeriodRecord, now: number, patienceMs = LEASE_MS): boolean {
  return buildingId !== null && buildingUntil !== null && buildingUntil - LEASE_MS + patienceMs > now
}

function isRested({ calculatedAt, durationMs }: PeriodRecord, now: number): boolean {
  return calculatedAt === null || calculatedAt + Math.max(REST_MS, REST_FACTOR * (durationMs ?? 0)) <= now
}
