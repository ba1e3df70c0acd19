/** Where the parts of a chart over time are, in pixels. Pure. */

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

const LEFT_PX = 64
const ABOVE_PX = 8
/** For the labels of times. */
const BELOW_PX = 28
const MOST_BAR_WIDTH_PX = 44
/** The share of a slot that its bar takes. */
const FILLED = 0.8

export function layoutOf({ width, height, bars, top }: Record<'width' | 'height' | 'bars' | 'top', number>): Layout {
  const slot = Math.max(0, width - LEFT_PX) / Math.max(1, bars)
  const area = Math.max(0, height - ABOVE_PX - BELOW_PX)
  return {
    left: LEFT_PX,
    slot,
    bars,
    height: area,
    top,
    barWidth: Math.min(MOST_BAR_WIDTH_PX, FILLED * slot),
    x: (bar) => LEFT_PX + bar * slot,
    y: (amount) => ABOVE_PX + area * (1 - amount / top),
  }
}

/** The number of steps of a scale, at most. */
const MOST_TICKS = 5

/** Round amounts from 0 to the first that is not below the highest one. */
export function ticksOf(highest: number): number[] {
  if (highest <= 0) return [0, 1]
  const least = highest / MOST_TICKS
  const power = 10 ** Math.floor(Math.log10(least))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step * MOST_TICKS >= highest)!
  const count = Math.ceil(highest / step)
  return Array.from({ length: count + 1 }, (_, tick) => tick * step)
}

/** For each series the outlines of its bars, stacked on those of the ones before. */
export function pathsOf(series: readonly { values: readonly number[] }[], layout: Layout): string[] {
  const { bars, slot, barWidth, x, y } = layout
  const sums = new Float64Array(bars)
  return series.map(({ values }) =>
    values
      .map((value, bar) => {
        if (value <= 0) return ''
        const bottom = y(sums[bar]!)
        sums[bar]! += value
        const top = y(sums[bar]!)
        return `M${round(x(bar) + (slot - barWidth) / 2)} ${round(top)}h${round(barWidth)}v${round(bottom - top)}h${round(-barWidth)}z`
      })
      .join(''),
  )
}

const round = (pixels: number): number => Math.round(pixels * 100) / 100

/** The bar at a position; undefined next to all of them. */
export function barAt(position: number, { left, slot, bars }: Layout): number | undefined {
  const bar = Math.floor((position - left) / slot)
  return bar >= 0 && bar < bars ? bar : undefined
}

/** The width of a character of a label, and the space between two labels. */
const CHARACTER_PX = 7
const GAP_PX = 24

/** The bars whose labels do not touch each other, evenly spaced, and the middles of these labels. */
export function labelsThatFit(labels: readonly string[], { slot, x, bars }: Layout): { bar: number; x: number }[] {
  const widest = Math.max(...labels.map(({ length }) => length), 0) * CHARACTER_PX
  const every = Math.max(1, Math.ceil((widest + GAP_PX) / Math.max(slot, 0.01)))
  const end = x(bars)
  return labels
    .map((_, bar) => ({ bar, x: x(bar) + slot / 2 }))
    .filter(({ bar, x }) => bar % every === 0 && x + widest / 2 <= end)
}
