/** The chart of a shared report, as the web application draws it, but for the tooltips that would need scripts. Pure. */
import { REST_COLOR } from '../../shared/charts/colors.ts'
import { type GroupSeries, groupSeries } from '../../shared/charts/group-series.ts'
import {
  type ChartKind,
  highestOf,
  isStack,
  labelsThatFit,
  layoutOf,
  leftFor,
  PATHS,
  sharesOf,
} from '../../shared/charts/layout.ts'
import { countTicks, hourTicks, moneyTicks, percentTicks, ticksOf } from '../../shared/charts/scale.ts'
import { keyOf, labelOf, titleOf } from '../../shared/dimensions.ts'
import type { Formats } from '../../shared/locales.ts'
import { MEASURES } from '../../shared/measures.ts'
import { amountsAdded, type ShownReport } from './report.ts'
import type { SharedUsage } from './service.ts'
import { daysText, shortText } from './texts.ts'

/** The bars of a chart by group; more are in the table only. */
const GROUP_LIMIT = 24

/** One for wide pages and one for phones, where the labels of the other would be too small to read. */
const SIZES = [
  { width: 960, height: 300, name: 'on-wide' },
  { width: 360, height: 240, name: 'on-narrow' },
]

const ONLY_COLOR = 'var(--accent)'

/** Amounts of several currencies have no sum that bars could show. */
function drawable(shared: SharedUsage): SharedUsage {
  const isMixed = shared.measure.unit === 'amount' && (shared.report.totals.amounts?.length ?? 0) > 1
  return isMixed ? { ...shared, measure: { ...MEASURES.tokens, unit: 'count' } } : shared
}

const UNITS = { cost: ' (USD)', count: '', hours: '' } as const

function captionOf({ measure: { unit, title }, report, trend }: SharedUsage): string {
  const currency = unit === 'amount' ? ` (${report.totals.amounts?.[0]?.currency ?? ''})` : UNITS[unit]
  const [dimension] = (trend ?? report).group_by
  return `${title}${currency}${trend ? ' over time' : ''}${dimension === undefined ? '' : ` by ${titleOf(dimension).toLowerCase()}`}`
}

/** In pixels. */
export interface Drawing {
  /** The class that decides where it is shown. */
  name: string
  width: number
  height: number
  /** Where the bars begin. */
  left: number
  ticks: { y: number; text: string }[]
  labels: { x: number; text: string }[]
  paths: { path: string; color: string }[]
  isLines: boolean
}

export interface DrawnChart {
  caption: string
  legend: { label: string; color: string }[]
  drawings: Drawing[]
}

export function chartOf(given: SharedUsage, chosen: ChartKind): DrawnChart {
  const shared = drawable(given)
  // Amounts of two periods are no parts of a whole.
  const kind = shared.earlier && isStack(chosen) ? 'bars' : chosen
  const { labels, series } = shared.trend ? overTime(shared, shared.trend) : byGroup(shared)
  const { unit } = shared.measure
  const { marked } = shared.formats
  return {
    caption: captionOf(shared),
    legend: series,
    drawings: SIZES.map((size) => ({ ...size, ...drawn(kind, { labels, series, unit, size, marked }) })),
  }
}

const TICKS = { cost: moneyTicks, amount: countTicks, count: countTicks, hours: hourTicks }

/** Names of things are longer than times. */
const LABEL_LIMIT = 16

interface Data {
  labels: string[]
  series: Omit<GroupSeries, 'id'>[]
  unit: SharedUsage['measure']['unit']
  marked: Formats['marked']
  size: (typeof SIZES)[number]
}

function drawn(kind: ChartKind, { labels, series, unit, size, marked }: Data): Omit<Drawing, keyof Data['size']> {
  const isShare = kind === 'share'
  const shown = isShare ? sharesOf(series) : series
  const highest = highestOf(kind, shown, labels.length)
  const ticks = isShare ? [0, 0.25, 0.5, 0.75, 1] : ticksOf(highest, { isWhole: unit === 'count' })
  const texts = (isShare ? percentTicks : TICKS[unit])(ticks).map(marked)
  const layout = layoutOf({ ...size, bars: labels.length, top: ticks.at(-1)!, left: leftFor(texts) })
  const names = labels.map((label) =>
    [...label].length > LABEL_LIMIT ? `${[...label].slice(0, LABEL_LIMIT - 1).join('')}…` : label,
  )
  return {
    left: layout.left,
    ticks: ticks.map((tick, at) => ({ y: layout.y(tick), text: texts[at]! })),
    labels: labelsThatFit(names, layout).map(({ bar, x }) => ({ x, text: names[bar]! })),
    paths: PATHS[kind](shown, layout).map((path, at) => ({ path, color: shown[at]!.color })),
    isLines: kind === 'lines',
  }
}

type Series = Data['series']

/** Both periods, as pages show them. */
const compared = (
  { report, formats }: SharedUsage,
  earlier: ShownReport,
  values: readonly [now: (number | null)[], before: (number | null)[]],
): Series => [
  // Periods of months have different numbers of days.
  { label: daysText(earlier, formats), color: REST_COLOR, values: values[0].map((_, at) => values[1][at] ?? null) },
  { label: daysText(report, formats), color: ONLY_COLOR, values: values[0] },
]

function overTime(shared: SharedUsage, trend: ShownReport): Pick<Data, 'labels' | 'series'> {
  const { measure, formats, earlierTrend } = shared
  const labels = trend.data.map(({ starting_at, period }) =>
    shortText(period?.starting_at ?? starting_at, trend, formats),
  )
  if (earlierTrend) {
    const valuesOf = ({ data }: ShownReport) => data.map(({ results }) => amountsAdded(measure, results))
    return { labels, series: compared(shared, earlierTrend, [valuesOf(trend), valuesOf(earlierTrend)]) }
  }
  const [dimension] = trend.group_by
  return {
    labels,
    series: groupSeries(
      trend.data.map(({ results }) => results),
      {
        idOf: (result) => (dimension === undefined ? measure.title : (keyOf(result, dimension) ?? undefined)),
        labelOf: (result) => (dimension === undefined ? measure.title : labelOf(result, dimension)),
        sumOf: (results) => amountsAdded(measure, results),
        hasRest: !measure.isDistinct,
      },
    ),
  }
}

/** A bar for each group of the first dimension, and one beside it for what it is compared with. */
function byGroup(shared: SharedUsage): Pick<Data, 'labels' | 'series'> {
  const { measure, report, earlier } = shared
  const [dimension] = report.group_by
  const groupsOf = ({ data: [all] }: ShownReport) =>
    Map.groupBy(all?.results ?? [], (result) => (dimension === undefined ? measure.title : keyOf(result, dimension)))
  const before = earlier && groupsOf(earlier)
  const bars = [...groupsOf(report)]
    .map(([key, results]) => ({
      label: dimension === undefined ? measure.title : labelOf(results[0]!, dimension),
      value: amountsAdded(measure, results),
      earlier: amountsAdded(measure, before?.get(key) ?? []),
    }))
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0))
    .slice(0, GROUP_LIMIT)
  const values = bars.map(({ value }) => value)
  return {
    labels: bars.map(({ label }) => label),
    series: earlier
      ? compared(shared, earlier, [values, bars.map((bar) => bar.earlier)])
      : [{ label: measure.title, color: ONLY_COLOR, values }],
  }
}
