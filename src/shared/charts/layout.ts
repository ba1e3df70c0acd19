/** Where the parts of a chart over time are, in pixels. Pure. */

/** `stacked` and `share` add up series to bars; `bars` and `lines` compare them. */
export const CHART_KINDS = ['stacked', 'bars', 'lines', 'share'] as const
export type ChartKind = (typeof CHART_KINDS)[number]

export interface Layout {
  /** The start of the bars, right of the labels of amounts. */
  left: number
  /** The width of a bar with the space around it. */
  slot: number
  /** The number of bars. */
  bars: number
  /** The height of the bars' area. */
  height: number
  /** The amount at its upper edge. */
  top: number
  barWidth: number
  /** The left edge of a bar's slot. */
  x(bar: number): number
  y(amount: number): number
}

/** Enough for `$1.25M`; a chart with longer labels of amounts says so. */
const LEFT_PX = 64
const ABOVE_PX = 8
/** For the labels of times. */
const BELOW_PX = 28
const MOST_BAR_WIDTH_PX = 44
/** The share of a slot that its bar takes. */
const FILLED = 0.8

interface Size {
  width: number
  height: number
  bars: number
  top: number
  left?: number
}

export function layoutOf({ width, height, bars, top, left = LEFT_PX }: Size): Layout {
  const slot = Math.max(0, width - left) / Math.max(1, bars)
  const area = Math.max(0, height - ABOVE_PX - BELOW_PX)
  return {
    left,
    slot,
    bars,
    height: area,
    top,
    barWidth: Math.min(MOST_BAR_WIDTH_PX, FILLED * slot),
    x: (bar) => left + bar * slot,
    y: (amount) => ABOVE_PX + area * (1 - amount / top),
  }
}

/** A value of each bar; null where there is none to show, which interrupts a line. */
export type Values = readonly (number | null)[]

interface SeriesValues {
  values: Values
}

/** A part of a bar: from one amount up to another, at an offset within its slot. */
interface Box {
  bar: number
  from: number
  to: number
  /** From the left edge of the slot. */
  offset: number
  width: number
}

const boxPath = ({ bar, from, to, offset, width }: Box, { x, y }: Layout): string =>
  `M${round(x(bar) + offset)} ${round(y(to))}h${round(width)}v${round(y(from) - y(to))}h${round(-width)}z`

/** For each series the outlines of its bars, on those of the ones after it: from the top, as legends and lists have them. */
export function stackedPaths(series: readonly SeriesValues[], layout: Layout): string[] {
  const { bars, slot, barWidth: width } = layout
  const sums = new Float64Array(bars)
  const pathOf = ({ values }: SeriesValues) =>
    values
      .map((value, bar) => {
        if (value === null || value <= 0) return ''
        const from = sums[bar]!
        sums[bar]! += value
        return boxPath({ bar, from, to: sums[bar]!, offset: (slot - width) / 2, width }, layout)
      })
      .join('')
  return series.toReversed().map(pathOf).toReversed()
}

/** For each series the outlines of its bars, next to those of the ones before. */
export function groupedPaths(series: readonly SeriesValues[], layout: Layout): string[] {
  const { slot, barWidth: alone } = layout
  const width = Math.min(alone, (FILLED * slot) / Math.max(1, series.length))
  const start = (slot - width * series.length) / 2
  return series.map(({ values }, at) =>
    values
      .map((value, bar) =>
        value === null || value <= 0
          ? ''
          : boxPath({ bar, from: 0, to: value, offset: start + at * width, width }, layout),
      )
      .join(''),
  )
}

/** For each series a line through the middles of the slots. A value between two gaps is a dot. */
export function linePaths(series: readonly SeriesValues[], { x, y, slot }: Pick<Layout, 'x' | 'y' | 'slot'>): string[] {
  return series.map(({ values }) =>
    values
      .map((value, bar) => {
        if (value === null) return ''
        const isStart = bar === 0 || values[bar - 1] === null
        const isAlone = isStart && (values[bar + 1] ?? null) === null
        const point = `${isStart ? 'M' : 'L'}${round(x(bar) + slot / 2)} ${round(y(value))}`
        // Round line caps make a dot of a line without a length.
        return isAlone ? `${point}h0` : point
      })
      .join(''),
  )
}

/** The share of each value in the sum of its bar, from 0 to 1. */
export function sharesOf<Series extends SeriesValues>(series: readonly Series[]): Series[] {
  const sums = series[0]?.values.map((_, bar) => series.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0)) ?? []
  return series.map((each) => ({
    ...each,
    values: each.values.map((value, bar) => (value === null ? null : sums[bar] ? value / sums[bar] : 0)),
  }))
}

const round = (pixels: number): number => Math.round(pixels * 100) / 100

/** The bar at a position; undefined next to all of them. */
export function barAt(position: number, { left, slot, bars }: Layout): number | undefined {
  const bar = Math.floor((position - left) / slot)
  return bar >= 0 && bar < bars ? bar : undefined
}

/** The series whose part of a stacked bar is at an amount; undefined above all of them. */
export function stackAt(amount: number, bar: number, series: readonly SeriesValues[]): number | undefined {
  let sum = 0
  const found = series.findLastIndex(({ values }) => {
    sum += Math.max(0, values[bar] ?? 0)
    return amount >= 0 && amount < sum
  })
  return found === -1 ? undefined : found
}

/** The width of a character of a label, and the space between two labels. */
const CHARACTER_PX = 7
const GAP_PX = 24

/** The space that labels of amounts take left of the bars. */
export const leftFor = (labels: readonly string[]): number =>
  Math.max(LEFT_PX, Math.max(...labels.map(({ length }) => length), 0) * CHARACTER_PX + GAP_PX / 2)

/** The bars whose labels do not touch each other, evenly spaced, and the middles of these labels. */
export function labelsThatFit(labels: readonly string[], { slot, x, bars }: Layout): { bar: number; x: number }[] {
  const widest = Math.max(...labels.map(({ length }) => length), 0) * CHARACTER_PX
  const every = Math.max(1, Math.ceil((widest + GAP_PX) / Math.max(slot, 0.01)))
  const end = x(bars)
  return labels
    .map((_, bar) => ({ bar, x: x(bar) + slot / 2 }))
    .filter(({ bar, x }) => bar % every === 0 && x + widest / 2 <= end)
}

export const PATHS: Record<ChartKind, (series: readonly SeriesValues[], layout: Layout) => string[]> = {
  bars: groupedPaths,
  stacked: stackedPaths,
  lines: linePaths,
  share: stackedPaths,
}

export const isStack = (kind: ChartKind): boolean => kind === 'stacked' || kind === 'share'

/** The sum of a bar; null if all of it is unknown. */
export function sumAt(series: readonly SeriesValues[], at: number): number | null {
  const known = series.flatMap(({ values }) => values[at] ?? [])
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** The amount that the axis reaches. */
export const highestOf = (kind: ChartKind, series: readonly SeriesValues[], count: number): number =>
  Array.from({ length: count }, (_, at) =>
    isStack(kind) ? (sumAt(series, at) ?? 0) : Math.max(0, ...series.map(({ values }) => values[at] ?? 0)),
  ).reduce((highest, value) => Math.max(highest, value), 0)
