/**
 * Closing and reopening periods of plans (docs/design/plans.md, "Closing"). A closed period keeps its shares; what its entries should
 * have by now beyond these, by person, project and ticket, is settled by corrections in a later period.
 */
import type { Database, Tx } from '../../database/database.ts'
import { addDays, dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { type CalculatedPeriod, type Difference, rangeOf, SETTLEMENT_TASK } from './allocation-task.ts'
import { type Period, periodAt, periodsOf } from './periods.ts'
import {
  changePlanPeriods,
  endBuilding,
  findPeriod,
  findTimeZone,
  hourOf,
  insertGeneration,
  insertShares,
  listCorrections,
  listPeriodRecords,
  lockPeriod,
  markHours,
  noteChanges,
  type PeriodKey,
  type PeriodRecord,
  updatePeriod,
} from './store/allocation.ts'
import { listSchedules, type PlanSchedule } from './store/schedules.ts'

/** Adds the entries that correct a period, and returns their keys. */
export type AddCorrections = (
  tx: Tx,
  differences: readonly Difference[],
  context: { period: CalculatedPeriod; startedAt: number },
) => Promise<number[]>

/** Voids those of the entries that no bill has, and returns their keys. */
export type WithdrawCorrections = (tx: Tx, ids: readonly number[]) => Promise<number[]>

/** How often closing begins again because entries have changed meanwhile. */
const ATTEMPTS = 5

interface Dependencies {
  db: Database
  clock: Clock
  calculateOwed(): Promise<void>
}

export function createClosing({ db, clock, calculateOwed }: Dependencies) {
  const exclusively = <Result>(body: (tx: Tx) => Promise<Result>) => changePlanPeriods(db, body)

  /**
   * Where the corrections of a period go: to the first moment of the earliest open period after it, or, if the plan has ended,
   * to the last moment of its last one.
   */
  async function targetOf(tx: Tx, period: PeriodKey & { lastDay: string | null }, schedule: PlanSchedule) {
    const timeZone = await findTimeZone(tx)
    const records = await listPeriodRecords(tx, [period.planId])
    const isClosed = ({ firstDay }: Period) =>
      records.some((record) => record.firstDay === firstDay && record.closedAt !== null)
    const following = { from: addDays(period.lastDay!, 1), to: dayAt(clock.now(), timeZone) }
    for (const later of periodsOf(schedule, following)) {
      if (!isClosed(later)) return { ...later, at: rangeOf(later, timeZone).from }
    }
    const last = periodAt(schedule, schedule.endsOn ?? period.lastDay!)!
    return { ...last, at: rangeOf(last, timeZone).to - 1 }
  }

  /** The generation that counts; a period that was not calculated yet gets one. */
  async function generationOf(tx: Tx, planId: number, { firstDay, lastDay, feeDollars: fee }: Period): Promise<number> {
    const key = { planId, firstDay }
    const known = await findPeriod(tx, key)
    if (known && known.generationId !== null) return known.generationId
    if (!known) await noteChanges(tx, [{ ...key, lastDay, fee }])
    const id = await insertGeneration(tx, key, clock.now())
    await updatePeriod(tx, key, { generationId: id })
    return id
  }

  /** Writes the corrections of a closed period, and gives late entries a share of nothing. Returns how many there are. */
  async function settle(
    tx: Tx,
    period: CalculatedPeriod,
    schedule: PlanSchedule,
    add: AddCorrections,
  ): Promise<number> {
    const { planId, firstDay, differences, late } = period
    if (differences.length > 0) {
      const target = await targetOf(tx, period, schedule)
      const ids = await add(tx, differences, { period, startedAt: target.at })
      const corrections = differences.map(({ likeEntryId: _, ...group }, position) => ({
        ...group,
        entryId: ids[position]!,
      }))
      await tx.insertAll(
        tx.tables.planCorrections,
        corrections.map((correction) => ({ planId, ofFirstDay: firstDay, ...correction })),
      )
      await insertShares(tx, await generationOf(tx, planId, target), corrections)
      await endBuilding(tx, { planId, firstDay: target.firstDay })
    }
    if (late.length > 0) {
      const generation = await generationOf(tx, planId, periodAt(schedule, firstDay)!)
      await insertShares(
        tx,
        generation,
        late.map(({ id }) => ({ entryId: id, fee: 0n, charge: 0n })),
      )
      await markHours(tx, new Set(late.map(({ startedAt }) => hourOf(startedAt))))
      await endBuilding(tx, { planId, firstDay })
    }
    await updatePeriod(tx, { planId, firstDay }, { lateEntries: 0, pending: 0n, unsettled: 0 })
    return differences.length
  }

  /**
   * Whether its shares are those that it was calculated with. Entries that have changed since are like late ones, and settled
   * with the next period.
   */
  async function isCurrent(tx: Tx, { record, shares }: CalculatedPeriod): Promise<boolean> {
    const now = await lockPeriod(tx, record)
    return shares === null && now?.generationId === record.generationId && now.closedAt === record.closedAt
  }

  return {
    /**
     * Closes a period, after earlier closed ones are settled, and settles it. `check` throws if it cannot be closed.
     * Returns the number of corrections; undefined if its shares have changed all the time.
     */
    async closePeriod(
      key: PeriodKey,
      check: (tx: Tx, record: PeriodRecord, all: readonly PeriodRecord[]) => Promise<void> | void,
      add: AddCorrections,
      done: (tx: Tx, corrections: number) => Promise<void>,
    ): Promise<number | undefined> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        await noteUnknown(key)
        await calculateOwed()
        const all = await listPeriodRecords(db.read, [key.planId])
        const isUnsettled = ({ closedAt, unsettled, lateEntries }: PeriodRecord) =>
          closedAt !== null && unsettled + lateEntries > 0
        const concerned = all.filter(
          (record) => record.firstDay === key.firstDay || (record.firstDay < key.firstDay && isUnsettled(record)),
        )
        const periods = (await db.slowly(
          SETTLEMENT_TASK,
          concerned.map(({ planId, firstDay }) => ({ planId, firstDay })),
        )) as CalculatedPeriod[]
        const corrections = await exclusively(async (tx) => {
          const records = await listPeriodRecords(tx, [key.planId])
          await check(tx, records.find(({ firstDay }) => firstDay === key.firstDay)!, records)
          for (const period of periods) if (!(await isCurrent(tx, period))) return undefined
          const schedule = (await listSchedules(tx, [key.planId])).get(key.planId)!
          const own = periods.find(({ firstDay }) => firstDay === key.firstDay)!
          let sum = 0
          for (const period of periods) if (period !== own) sum += await settle(tx, period, schedule, add)
          await updatePeriod(tx, key, { closedAt: clock.now() })
          sum += await settle(tx, own, schedule, add)
          await done(tx, sum)
          return sum
        })
        if (corrections !== undefined) return corrections
      }
      return undefined
    },

    /** Reopens a period: its shares follow its entries again, and its corrections that no bill has are voided. */
    async reopenPeriod(
      key: PeriodKey,
      check: (record: PeriodRecord | undefined) => void,
      withdraw: WithdrawCorrections,
      done: (tx: Tx, voided: number) => Promise<void>,
    ): Promise<void> {
      await exclusively(async (tx) => {
        check(await findPeriod(tx, key))
        const corrections = (await listCorrections(tx, [key.planId])).filter(
          ({ ofFirstDay }) => ofFirstDay === key.firstDay,
        )
        const voided = await withdraw(
          tx,
          corrections.map(({ entryId }) => entryId),
        )
        await updatePeriod(tx, key, { closedAt: null } as never)
        await endBuilding(tx, key)
        await done(tx, voided.length)
      })
    },
  }

  /** A period without entries has no record yet. */
  async function noteUnknown({ planId, firstDay }: PeriodKey): Promise<void> {
    if (await findPeriod(db.read, { planId, firstDay })) return
    const period = periodAt((await listSchedules(db.read, [planId])).get(planId)!, firstDay)!
    const { lastDay, feeDollars: fee } = period
    await exclusively((tx) => noteChanges(tx, [{ planId, firstDay, lastDay, fee }]))
  }
}

/** The first closed period of the plan that other terms change; undefined if there is none. */
export async function findChangedClosed(
  tx: Tx,
  planId: number,
  after: PlanSchedule,
): Promise<PeriodRecord | undefined> {
  const closed = (await listPeriodRecords(tx, [planId])).filter(({ closedAt }) => closedAt !== null)
  if (closed.length === 0) return undefined
  const before = (await listSchedules(tx, [planId])).get(planId)!
  return closed.find(({ firstDay }) => factsOf(periodAt(before, firstDay)) !== factsOf(periodAt(after, firstDay)))
}

/**
 * Periods of days that a plan did not have before are calculated, up to a day: approved entries keep their plan while it has
 * no period for them, so that nothing marks them.
 */
export async function noteNewDays(tx: Tx, before: PlanSchedule, after: PlanSchedule, today: string): Promise<void> {
  const startOf = ({ versions }: PlanSchedule) => versions[0]!.fromDay
  const spans = [{ from: startOf(after), to: addDays(startOf(before), -1) }]
  if (before.endsOn !== null) spans.push({ from: addDays(before.endsOn, 1), to: today })
  for (const span of spans) {
    if (span.from > span.to) continue
    const periods = [...periodsOf(after, span)]
    await noteChanges(
      tx,
      periods.map(({ firstDay, lastDay, feeDollars: fee }) => ({ planId: after.id, firstDay, lastDay, fee })),
    )
  }
}

/** What shares of a period depend on. */
function factsOf(period: Period<PlanSchedule['versions'][number]> | undefined): string {
  if (!period) return ''
  const { firstDay, lastDay, feeDollars, terms } = period
  const { seats, pooled, weight, allowance, allowanceUnit, overagePrice, exchangeRate } = terms
  const facts = [firstDay, lastDay, feeDollars, seats, pooled, weight, allowance, allowanceUnit, overagePrice]
  return [...facts, exchangeRate].join(' ')
}
