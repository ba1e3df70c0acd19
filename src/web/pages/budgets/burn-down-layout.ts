/** Where the lines of a burn-down chart are, in pixels. Pure. */

import { type Layout, layoutOf, leftFor } from '../../../shared/charts/layout.ts'
import { ticksOf } from '../../../shared/charts/scale.ts'
import { addDays, daysBetween } from '../../format/moments.ts'
import type { AmountFormat } from '../../parts/charts/series.ts'

export interface BurnDown {
  /** What was spent by the end of each day so far. */
  days: readonly { date: string; spent: number }[]
  /** The first and last day of the period; null if there is none. */
  from: string | null
  to: string | null
  /** Whether the last of the days is today. */
  isCurrent: boolean
  available: number
  forecast: { amount: number; low: number; high: number } | null
}

/** Without a first day, the days before anything was spent say nothing. */
export const shownDays = <Day extends { spent: number }>(days: readonly Day[], from: string | null): readonly Day[] =>
  from === null ? days.slice(Math.max(0, days.findIndex(({ spent }) => spent > 0) - 1)) : days

/** More days than this have no end that is worth drawing: the chart then ends today. */
const MOST_DAYS = 1_100

/** All days of the axis: those so far and those to come. */
export function axisDays({ days, to }: Pick<BurnDown, 'days' | 'to'>): string[] {
  const first = days[0]!.date
  const last = days.at(-1)!.date
  const end = to !== null && to > last && daysBetween(first, to) < MOST_DAYS ? to : last
  return Array.from({ length: daysBetween(first, end) + 1 }, (_, index) => addDays(first, index))
}

export interface BurnDownLines {
  layout: Layout
  ticks: number[]
  /** Of the ticks. */
  labels: string[]
  days: string[]
  /** The line of what is spent, and the area below it. */
  spent: string
  area: string
  /** The line of the forecast, and its low–high band; null without a forecast. */
  forecast: { line: string; band: string } | null
  /** The position of today; null after the end of the period. */
  today: number | null
}

const round = (pixels: number): number => Math.round(pixels * 100) / 100
const pathOf = (points: readonly (readonly [x: number, y: number])[]): string =>
  points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')

interface Drawing {
  width: number
  height: number
  format: AmountFormat
}

export function linesOf(of: BurnDown, { format, ...size }: Drawing): BurnDownLines {
  const days = axisDays(of)
  const latest = of.days.length - 1
  const highest = Math.max(of.available, of.days[latest]!.spent, of.forecast?.high ?? 0)
  const ticks = ticksOf(highest, format)
  const labels = format.ticks(ticks)
  const layout = layoutOf({ ...size, bars: days.length, top: ticks.at(-1)!, left: leftFor(labels) })
  const { x, y, slot } = layout
  // A day ends at the right edge of its slot; today is somewhere within.
  const now = x(latest) + (of.isCurrent ? slot / 2 : slot)
  const points = of.days.map(({ spent }, index) => [index === latest ? now : x(index + 1), y(spent)] as const)
  // Of a long period only the latest days are known, before which something was spent already.
  const begun = of.from === days[0] ? 0 : of.days[0]!.spent
  const line = [[x(0), y(begun)] as const, ...points]
  const at = points.at(-1)!
  const end = x(days.length)
  const { forecast } = of
  return {
    layout,
    ticks,
    labels,
    days,
    spent: pathOf(line),
    area: `${pathOf([[x(0), y(0)], ...line, [now, y(0)]])}z`,
    forecast: forecast && {
      line: pathOf([at, [end, y(forecast.amount)]]),
      band: `${pathOf([at, [end, y(forecast.high)], [end, y(forecast.low)]])}z`,
    },
    today: of.isCurrent ? now : null,
  }
}
