/** The periods of plans tile their time, and their fees add up, whatever the terms are. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { PLAN_PERIODS } from '../../../src/database/schema/values.ts'
import {
  cutsOf,
  type Period,
  type PeriodTerms,
  periodAt,
  periodsOf,
  type Schedule,
} from '../../../src/features/funding/contract.ts'
import { addDays } from '../../../src/lib/calendar.ts'
import { divideHalfEven } from '../../../src/lib/money.ts'

const NANOS = 1_000_000_000n
const MAX: PeriodTerms = {
  fromDay: '2026-10-17',
  prorates: null,
  period: 'month',
  fee: 100n * NANOS,
  exchangeRate: null,
  seats: 1,
}
const schedule = (...versions: PeriodTerms[]): Schedule => ({ versions, endsOn: null, endProrates: null })
const spans = (plan: Schedule, from: string, to: string) =>
  [...periodsOf(plan, { from, to })].map(({ firstDay, lastDay, feeDollars }) => [firstDay, lastDay, feeDollars])

describe('periods', () => {
  test('begin on the same day of each month, or its last one', () => {
    const first = (fromDay: string, period: PeriodTerms['period']) =>
      [...periodsOf(schedule({ ...MAX, fromDay, period }), { from: fromDay, to: addDays(fromDay, 1_000) })]
        .slice(0, 4)
        .map(({ firstDay }) => firstDay)
    expect(first('2026-10-17', 'month')).toEqual(['2026-10-17', '2026-11-17', '2026-12-17', '2027-01-17'])
    expect(first('2027-01-31', 'month')).toEqual(['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30'])
    expect(first('2026-11-29', 'week')).toEqual(['2026-11-29', '2026-12-06', '2026-12-13', '2026-12-20'])
    expect(first('2024-02-29', 'year').slice(0, 3)).toEqual(['2024-02-29', '2025-02-28', '2026-02-28'])
    expect(spans(schedule({ ...MAX, period: 'once' }), '2030-01-01', '2030-01-02')).toEqual([
      ['2026-10-17', null, 100n * NANOS],
    ])
  })

  test('are cut by new terms, which charge by days or in full', () => {
    const ultra = { ...MAX, fromDay: '2026-11-01', fee: 200n * NANOS }
    const days = schedule(MAX, { ...ultra, prorates: true })
    expect(spans(days, '2026-10-01', '2026-12-01')).toEqual([
      ['2026-10-17', '2026-10-31', 48_387_096_774n],
      ['2026-11-01', '2026-11-30', 200n * NANOS],
      ['2026-12-01', '2026-12-31', 200n * NANOS],
    ])
    const full = schedule(MAX, { ...ultra, prorates: false })
    expect(spans(full, '2026-10-31', '2026-11-01').map(([, , fee]) => fee)).toEqual([100n * NANOS, 200n * NANOS])
    expect(cutsOf(days)).toMatchObject([
      { onDay: '2026-11-01', prorates: true, period: { wholeLastDay: '2026-11-16' } },
    ])
    expect(cutsOf(schedule(MAX, { ...ultra, fromDay: '2026-11-17' }))).toEqual([])
  })

  test('have no day after the end of the plan', () => {
    const ended = { ...schedule(MAX), endsOn: '2026-11-01', endProrates: true }
    expect(periodAt(ended, '2026-11-01')).toMatchObject({ firstDay: '2026-10-17', lastDay: '2026-11-01' })
    expect(periodAt(ended, '2026-11-02')).toBeUndefined()
    expect(periodAt(ended, '2026-10-16')).toBeUndefined()
    expect(spans({ ...ended, endsOn: '2026-10-16' }, '2026-01-01', '2027-01-01')).toEqual([])
  })

  test('cost all seats, in dollars at the rate of the terms, rounded once', () => {
    const euros = { ...MAX, fee: 90n * NANOS, exchangeRate: 9_200_000_000n }
    expect(periodAt(schedule(euros), '2026-10-17')!.feeDollars).toBe(97_826_086_957n)
    const five = periodAt(schedule({ ...euros, seats: 5 }), '2026-10-17')!
    expect([five.fee, five.feeDollars]).toEqual([450n * NANOS, 489_130_434_783n])
  })
})

const dayOf = (offset: number) => addDays('2026-01-01', offset)
const terms = fc.record({
  fromDay: fc.integer({ min: 0, max: 1_500 }).map(dayOf),
  prorates: fc.boolean(),
  period: fc.constantFrom(...PLAN_PERIODS),
  fee: fc.bigInt({ min: 0n, max: 10n ** 15n }),
  exchangeRate: fc.option(fc.bigInt({ min: 1n, max: 10n ** 14n })),
  seats: fc.integer({ min: 1, max: 50 }),
})
const anyPlan = fc
  .record({
    versions: fc.uniqueArray(terms, { minLength: 1, maxLength: 5, selector: ({ fromDay }) => fromDay }),
    lasts: fc.option(fc.integer({ min: 0, max: 800 })),
    endProrates: fc.boolean(),
  })
  .map(({ versions, lasts, endProrates }): Schedule => {
    const inOrder = versions.toSorted((one, other) => (one.fromDay < other.fromDay ? -1 : 1))
    return { versions: inOrder, endsOn: lasts === null ? null : addDays(inOrder.at(-1)!.fromDay, lasts), endProrates }
  })
const FOR_EVER = { from: '2025-01-01', to: '2040-01-01' }
const isBefore = ({ lastDay }: Period, day: string) => lastDay !== null && lastDay < day

describe('of any terms', () => {
  test('each day from the first to the last is in exactly one period, wherever the list begins', () => {
    fc.assert(
      fc.property(anyPlan, fc.integer({ min: -400, max: 3_000 }).map(dayOf), (plan, day) => {
        const all = [...periodsOf(plan, FOR_EVER)]
        expect(all[0]!.firstDay).toBe(plan.versions[0]!.fromDay)
        for (const [at, { firstDay, lastDay }] of all.entries()) {
          if (at > 0) expect(firstDay).toBe(addDays(all[at - 1]!.lastDay!, 1))
          if (lastDay !== null) expect(lastDay >= firstDay).toBe(true)
        }
        if (plan.endsOn !== null) expect(all.at(-1)!.lastDay).toBe(plan.endsOn)
        const starts = new Set(all.map(({ firstDay }) => firstDay))
        for (const { fromDay } of plan.versions) expect(starts).toContain(fromDay)
        const containing = all.filter((period) => period.firstDay <= day && !isBefore(period, day))
        expect(periodAt(plan, day)).toEqual(containing[0] as never)
        const to = addDays(day, 90)
        expect([...periodsOf(plan, { from: day, to })]).toEqual(
          all.filter((period) => period.firstDay <= to && !isBefore(period, day)),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('the fees of both parts of a period that is cut are its fee within a nano-unit, and a cut at its beginning changes nothing', () => {
    fc.assert(
      fc.property(terms, fc.integer({ min: 0, max: 900 }), (first, after) => {
        fc.pre(first.period !== 'once')
        const plan = schedule(first)
        const day = addDays(first.fromDay, after)
        const whole = periodAt(plan, day)!
        const cut = { ...plan, endsOn: addDays(day, -1), endProrates: true }
        const [before] = day === whole.firstDay ? [undefined] : [periodAt(cut, addDays(day, -1))!]
        if (!before) {
          expect([...periodsOf(cut, FOR_EVER)]).toEqual([...periodsOf(plan, { ...FOR_EVER, to: addDays(day, -1) })])
          return
        }
        const days = (from: string) => BigInt(Temporal.PlainDate.from(from).until(whole.lastDay!).days + 1)
        const rest = divideHalfEven(first.fee * BigInt(first.seats) * days(day), days(whole.firstDay))
        expect([-1n, 0n, 1n]).toContain(before.fee + rest - whole.fee)
        expect(before.fee >= 0n && before.fee <= whole.fee && before.feeDollars <= whole.feeDollars).toBe(true)
      }),
    )
  })
})
