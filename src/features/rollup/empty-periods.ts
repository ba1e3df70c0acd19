/** Which days have no entry that passes, as their sums or those of their months tell. */
import type { Reader } from '../../database/database.ts'
import type { Period } from './plan.ts'
import { bestGrain, STRADDLING_GRAIN } from './segment.ts'
import type { Selection, TestedColumns } from './selection.ts'
import { readSegment } from './store/periods.ts'

interface Tests {
  tested: TestedColumns
  selection: Selection
  /** A moment after which the entries ended. */
  endedAfter: number | undefined
  /** Months whose sums are valid. */
  months: readonly Period[]
}

export class EmptyPeriods {
  readonly #known = new Map<Period, Promise<boolean>>()

  constructor(
    readonly reader: Reader,
    readonly tests: Tests,
  ) {}

  async contain(day: Period): Promise<boolean> {
    const month = this.tests.months.find(({ startsAt, endsAt }) => day.startsAt >= startsAt && day.endsAt <= endsAt)
    if (!month) return this.#isWithoutLateEnd(day)
    let isEmpty = this.#known.get(month)
    if (!isEmpty) {
      isEmpty = this.#isEmpty(month)
      this.#known.set(month, isEmpty)
    }
    return (await isEmpty) || this.#isWithoutLateEnd(day)
  }

  async #isEmpty(month: Period): Promise<boolean> {
    return (await this.#isWithoutLateEnd(month)) || this.#hasNoGroup(month)
  }

  async #hasNoGroup(month: Period): Promise<boolean> {
    const { tested, selection } = this.tests
    const grain = bestGrain('month', tested.keys)
    const keys = tested.keys.filter((key) => grain.keys.includes(key))
    const figures = selection.measured.flatMap((test) => test.figures)
    if (keys.length + figures.length === 0) return false
    const sums = await readSegment(this.reader, grain.number, month, [...keys, ...figures])
    return sums !== undefined && !selection.mayPassIn(sums, keys)
  }

  /** Whether no entry that passes ended after the period, if it must have: only those that straddle its end did. */
  async #isWithoutLateEnd(period: Period): Promise<boolean> {
    const { tested, selection, endedAfter } = this.tests
    if (endedAfter === undefined || period.endsAt > endedAfter) return false
    const straddling = await readSegment(this.reader, STRADDLING_GRAIN, period, [...tested.keys, ...tested.measures])
    return straddling === undefined || selection.rowsOf(straddling)?.length === 0
  }
}
