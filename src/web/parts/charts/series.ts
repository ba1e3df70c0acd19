/** The data of a chart, whatever it shows. */

import { REST_COLOR } from '../../../shared/charts/colors.ts'
import type { Values } from '../../../shared/charts/layout.ts'
import { countTicks, hourTicks, moneyTicks, percentTicks, type TickFormat } from '../../../shared/charts/scale.ts'
import { count, decimalsOf, marked, percent, roughCount } from '../../format/counts.ts'
import { money } from '../../format/money.ts'

/** A bar, or the same place on all lines. */
export interface ChartPoint {
  key: string
  /** On the axis: `21 Nov`. */
  short: string
  /** In tooltips and tables: `21 Nov 2026`. */
  title: string
}

export interface ChartSeries {
  key: string
  label: string
  color: string
  /** By point. */
  values: Values
  /** The same thing in an earlier period: its line is dashed. */
  isEarlier?: boolean
}

/** The key of the series of everything that is not in another. */
export const REST = ' rest'

export const restSeries = (label: string, values: Values): ChartSeries => ({
  key: REST,
  label,
  values,
  color: REST_COLOR,
})

/** How the amounts of a chart read. */
export interface AmountFormat {
  ticks: TickFormat
  /** In tooltips. */
  inWords: (value: number) => string
  isWhole: boolean
}

const local =
  (ticks: TickFormat): TickFormat =>
  (amounts) =>
    ticks(amounts).map(marked)

export const AMOUNTS = {
  money: { ticks: local(moneyTicks), inWords: (value) => money(value), isWhole: false },
  count: { ticks: local(countTicks), inWords: roughCount, isWhole: true },
  hours: {
    ticks: local(hourTicks),
    inWords: (value) => `${value < 10 ? decimalsOf(value, 1, 1) : count(Math.round(value))} h`,
    isWhole: false,
  },
  times: { ticks: local(countTicks), inWords: (value) => `${decimalsOf(value, 2, 2)} ×`, isWhole: false },
  share: { ticks: percentTicks, inWords: percent, isWhole: false },
} as const satisfies Record<string, AmountFormat>

/** Unknown amounts are not 0. */
export const inWords = (value: number | null, { inWords }: AmountFormat): string =>
  value === null ? 'unknown' : inWords(value)
