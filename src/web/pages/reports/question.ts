/** The question that an address asks, and its parts: the table, the trend and the earlier period. Pure. */
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { EARLIER } from '../../../shared/days.ts'
import { addressOf, type readAddress } from '../../address.ts'
import { addDays, dayOf, startOfDay } from '../../format/moments.ts'
import { type Width, widthFor } from '../../parts/charts/buckets.ts'
import { type EntryQuery, entryQuery, type Filters } from '../../parts/entries/filters.ts'
import { ownPeriod, type Period, readPeriod } from '../../parts/period.ts'
import type { Between, Dimension } from '../../parts/usage/dimensions.ts'
import { type MeasureName, measureOf } from '../../parts/usage/measures.ts'
import type { UsageQuestion } from '../../parts/usage/usage.ts'
import { basisFor } from '../../server/cost-basis.ts'
import type { Me } from '../../server/me.ts'
import type { REPORTS_ADDRESS } from './address.ts'

type Address = ReturnType<typeof readAddress<typeof REPORTS_ADDRESS>>

export interface Question {
  measure: MeasureName
  /** `cost` where absent. */
  basis?: CostBasis | undefined
  by: Dimension
  second: Dimension | undefined
  width: Width | 'all'
  period: Period
  /** Undefined unless it is compared. */
  earlier: Period | undefined
  filter: EntryQuery
}

export function questionOf(address: Address, me: Me): Question {
  const { time_zone: timeZone } = me.settings
  const { measure, basis, by = 'project', second, bucket, compare, period: name, ...rest } = address
  const { chart: _chart, sort: _sort, order: _order, search: _search, view: _view, ...filters } = rest
  const period = readPeriod(name, timeZone)
  // The period of a report is in its address as days.
  const narrowing = { ...filters, period: undefined, starting_at: undefined, ending_at: undefined } as Filters
  return {
    ...{ measure, by, period },
    basis: basisFor(me, basis),
    second: second === by ? undefined : second,
    width: bucket === 'all' ? 'all' : widthFor(period, bucket),
    earlier: EARLIER[compare](period, name),
    filter: entryQuery(narrowing, timeZone),
  }
}

/** The days of a period as moments. */
export const momentsOf = ({ from, to }: Period, timeZone: string): Between => ({
  starting_at: startOfDay(from, timeZone),
  ending_at: startOfDay(addDays(to, 1), timeZone),
})

/** The report whose table lists every group of some days, also those that a chart adds up as others. */
export function addressOfGroups(question: Question, { starting_at, ending_at }: Between, timeZone: string): string {
  const { measure, basis, by, second, filter } = question
  const lastMoment = new Date(Date.parse(ending_at) - 1)
  const period = ownPeriod({ from: dayOf(new Date(starting_at), timeZone), to: dayOf(lastMoment, timeZone) })
  return addressOf('/reports', { ...filter, measure, basis, by, second, period })
}

const includeOf = ({ measure }: Question): string[] => [measureOf(measure).include ?? []].flat()

/** Every group over the whole period. */
export const groupsQuestion = (question: Question, period = question.period): UsageQuestion => ({
  ...{ period, filter: question.filter, width: 'all' },
  by: [question.by, ...(question.second === undefined ? [] : [question.second])],
  include: includeOf(question),
  basis: question.basis,
})

/** Groups of the first dimension alone, whose figures are those of a chart. */
export const firstQuestion = (question: Question, period = question.period): UsageQuestion => ({
  ...groupsQuestion(question, period),
  by: [question.by],
})

/** The total over time. */
export const trendQuestion = (question: Question, period = question.period): UsageQuestion => ({
  ...groupsQuestion(question, period),
  ...{ width: question.width, by: [], fillsGaps: true },
})

/** Some groups of the first dimension over time. */
export const groupsTrendQuestion = (question: Question, filter: EntryQuery): UsageQuestion => ({
  ...groupsQuestion(question),
  ...{ width: question.width, by: [question.by], filter },
})
