/**
 * The periods of a plan, and what each costs (docs/plans.md, "Periods"). A period is cut where the terms change or the
 * plan ends, so that no period has two prices. Pure.
 */
import type { PlanPeriod } from '../../database/schema/values.ts'
import { divideHalfEven, type Nanos, RATE_DIGITS } from '../../lib/money.ts'

/** The terms of a plan from a day until the next version or the end. */
export interface PeriodTerms {
  fromDay: string
  /** Whether it charges the fee of the period that it cuts by days; null if nobody said, as when it cuts none. */
  prorates: boolean | null
  period: PlanPeriod
  /** Of a seat and a period, in nano-units of the currency. */
  fee: bigint
  /** Units of the currency for a dollar, in 10^-10; null for dollars. */
  exchangeRate: bigint | null
  seats: number
}

export interface Schedule<Terms extends PeriodTerms = PeriodTerms> {
  /** In the order of their days. */
  versions: readonly Terms[]
  /** The last day; null while the plan continues. */
  endsOn: string | null
  endProrates: boolean | null
}

export interface Period<Terms extends PeriodTerms = PeriodTerms> {
  terms: Terms
  firstDay: string
  /** Null if it has no end yet, as that of a plan that is paid once. */
  lastDay: string | null
  /** The last day that it would have had if nothing had cut it; the same as `lastDay` if nothing did. */
  wholeLastDay: string | null
  /** Of all seats, in nano-units of the currency: the share of its days, if what cut it says so. */
  fee: bigint
  feeDollars: Nanos
}

type Date = Temporal.PlainDate
const dateOf = (day: string): Date => Temporal.PlainDate.from(day)
const daysBetween = (from: Date, until: Date): number => from.until(until, { largestUnit: 'days' }).days

const UNITS = { week: 'weeks', month: 'months', year: 'years' } as const

/**
 * The first day of the k-th period, counted from the anchor and never from the period before: from 31 January follow 28
 * February and 31 March.
 */
function beginningOf(anchor: Date, period: keyof typeof UNITS, k: number): Date {
  return anchor.add({ [UNITS[period]]: k })
}

/** The number of the period of uncut terms that contains a day on or after the anchor. */
function numberAt(anchor: Date, period: keyof typeof UNITS, day: Date): number {
  const unit = UNITS[period]
  const passed = anchor.until(day, { largestUnit: unit })[unit]
  // `until` compares with the day of the month of the anchor, which a shorter month does not have.
  return Temporal.PlainDate.compare(beginningOf(anchor, period, passed + 1), day) <= 0 ? passed + 1 : passed
}

/** The first day that the terms of a version do not cover any more; undefined if there is none. */
function endOf({ versions, endsOn }: Schedule, position: number): Date | undefined {
  const next = versions[position + 1]?.fromDay
  const end = endsOn === null ? undefined : dateOf(endsOn).add({ days: 1 }).toString()
  const first = next === undefined || (end !== undefined && end < next) ? end : next
  return first === undefined ? undefined : dateOf(first)
}

/** The periods of the plan that contain any of the days, in order. Without a last day, up to its end. */
export function* periodsOf<Terms extends PeriodTerms>(
  schedule: Schedule<Terms>,
  { from, to }: { from: string; to: string },
): Generator<Period<Terms>> {
  for (const [position, terms] of schedule.versions.entries()) {
    const anchor = dateOf(terms.fromDay)
    const end = endOf(schedule, position)
    if (terms.fromDay > to || (end && end.toString() <= (from > terms.fromDay ? from : terms.fromDay))) continue
    const next = schedule.versions[position + 1]
    const isCutByNext = end !== undefined && next?.fromDay === end.toString()
    const prorates = (isCutByNext ? next!.prorates : schedule.endProrates) ?? false
    if (terms.period === 'once') {
      const last = end?.subtract({ days: 1 }).toString() ?? null
      yield { terms, firstDay: terms.fromDay, lastDay: last, wholeLastDay: last, ...feesOf(terms, 1, 1) }
      continue
    }
    for (let k = from <= terms.fromDay ? 0 : numberAt(anchor, terms.period, dateOf(from)); ; k += 1) {
      const first = beginningOf(anchor, terms.period, k)
      if (first.toString() > to || (end && Temporal.PlainDate.compare(first, end) >= 0)) break
      const whole = beginningOf(anchor, terms.period, k + 1)
      const until = end && Temporal.PlainDate.compare(end, whole) < 0 ? end : whole
      const days = [daysBetween(first, until), daysBetween(first, whole)] as const
      yield {
        terms,
        firstDay: first.toString(),
        lastDay: until.subtract({ days: 1 }).toString(),
        wholeLastDay: whole.subtract({ days: 1 }).toString(),
        ...feesOf(terms, ...(prorates ? days : ([1, 1] as const))),
      }
    }
  }
}

/** In nano-dollars: fees, and charges beyond the allowance, of a period, so that their sum fits into 64 bits. */
export const PERIOD_LIMIT = 4_000_000_000_000_000_000n

/** The fee of all seats for a whole period, in nano-dollars. */
export const wholeFeeOf = (terms: PeriodTerms): Nanos => feesOf(terms, 1, 1).feeDollars

/** The fee of all seats for so many days of a whole period, rounded once in each currency. */
function feesOf({ fee, seats, exchangeRate }: PeriodTerms, days: number, whole: number) {
  const charged = fee * BigInt(seats) * BigInt(days)
  const rate = exchangeRate ?? ONE
  return {
    fee: divideHalfEven(charged, BigInt(whole)),
    feeDollars: divideHalfEven(charged * ONE, BigInt(whole) * rate),
  }
}

const ONE = 10n ** BigInt(RATE_DIGITS)

/** The period that contains a day; undefined before the first and after the last one. */
export function periodAt<Terms extends PeriodTerms>(schedule: Schedule<Terms>, day: string): Period<Terms> | undefined {
  const [period] = periodsOf(schedule, { from: day, to: day })
  return period
}

/** A period that something cuts: who does not say whether the whole fee is charged has to. */
export interface Cut {
  /** The first day that the period has lost. */
  onDay: string
  period: Period
  prorates: boolean | null
}

/** Where versions, and the end, cut periods of the terms before them. */
export function cutsOf(schedule: Schedule): Cut[] {
  return schedule.versions.flatMap(({ period, fromDay }, position): Cut[] => {
    const end = endOf(schedule, position)
    if (!end || period === 'once' || end.toString() <= fromDay) return []
    const cut = periodAt(schedule, end.subtract({ days: 1 }).toString())!
    if (cut.lastDay === cut.wholeLastDay) return []
    const next = schedule.versions[position + 1]
    const onDay = end.toString()
    return [{ onDay, period: cut, prorates: next?.fromDay === onDay ? next.prorates : schedule.endProrates }]
  })
}
