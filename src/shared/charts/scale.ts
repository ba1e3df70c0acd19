/** The scale of a chart: round amounts along its axis, and their labels, no two of which read the same. Pure. */
import { scaleLinear, tickFormat } from 'd3-scale'

/** About as many steps as are easy to read. */
const STEPS = 5

interface ScaleOptions {
  /** Amounts of which there are no fractions: entries, tokens, people. */
  isWhole?: boolean
}

/** Round amounts from 0 to the first that is not below the highest one; from 0 to 1 if there are none. */
export function ticksOf(highest: number, { isWhole = false }: ScaleOptions = {}): number[] {
  const scale = scaleLinear([0, highest > 0 ? highest : 1], [0, 1])
  const ticks = scale.nice(STEPS).ticks(STEPS)
  return isWhole ? ticks.filter(Number.isInteger) : ticks
}

export type TickFormat = (ticks: readonly number[]) => string[]

/** Amounts from here on are in thousands, millions and so on. */
const UNITS_FROM = 1_000
const UNITS: Readonly<Record<string, string>> = { k: 'K', G: 'B', P: 'Q' }

/** Money has cents where it has fractions, and more decimals where cents are too few. */
const CENT = 0.01

/** `$0`, `$2.5K`, `$5K`: in the unit of the highest amount, with as many decimals as the steps need. */
const labelsIn =
  (sign: '' | '$'): TickFormat =>
  (ticks) => {
    const [top, step] = [ticks.at(-1)!, ticks[1]!]
    const hasCents = sign !== '' && step < 1 && step >= CENT
    const format = top >= UNITS_FROM ? '~s' : hasCents ? '.2f' : 'f'
    const labelOf = tickFormat(0, top, ticks.length - 1, `${sign}${format}`)
    return ticks.map((tick) => (tick === 0 ? `${sign}0` : labelOf(tick).replace(/[kGP]$/, (unit) => UNITS[unit]!)))
  }

export const moneyTicks = labelsIn('$')
export const countTicks = labelsIn('')
export const percentTicks: TickFormat = (ticks) => ticks.map((tick) => `${Math.round(tick * 100)}%`)

/** Hours of work are read in hours, whatever their number: `0 h`, `0.5 h`, `250 h`. */
export const hourTicks: TickFormat = (ticks) => countTicks(ticks).map((label) => `${label} h`)
