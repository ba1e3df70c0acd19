/** The scale of a chart: round amounts along its axis, and their labels, no two of which read the same. Pure. */

/** The number of steps of a scale, at most. */
const MOST_TICKS = 5

/** The scale of a chart without any amount. */
const EMPTY_SCALE = [0, 1]

interface ScaleOptions {
  /** Amounts of which there are no fractions: entries, tokens, people. */
  isWhole?: boolean
}

/** Round amounts from 0 to the first that is not below the highest one. */
export function ticksOf(highest: number, { isWhole = false }: ScaleOptions = {}): number[] {
  if (highest <= 0) return EMPTY_SCALE
  const least = highest / MOST_TICKS
  const power = 10 ** Math.floor(Math.log10(least))
  const steps = isWhole && least < 1 ? [1] : [1, 2, 2.5, 5, 10].map((factor) => factor * power)
  const step = steps.find(
    // Rounding errors of a division must not leave a scale without its highest step.
    (step) => step * MOST_TICKS >= highest * (1 - 1e-12) && (!isWhole || Number.isInteger(step)),
  )!
  const count = Math.max(1, Math.ceil(highest / step - 1e-9))
  return Array.from({ length: count + 1 }, (_, tick) => tick * step)
}

const UNITS = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
  [1, ''],
] as const

/** A step of a quarter nano-dollar: the scale of the smallest amount there is has several steps, too. */
const MOST_DECIMALS = 11

/** Money below a dollar has cents. */
const CENTS = 2

/** An amount that is a multiple of the step, with as many decimals as the step needs. */
function decimalsOf(step: number): number {
  const enough = Array.from({ length: MOST_DECIMALS }, (_, decimals) => decimals)
  return enough.find((decimals) => Math.abs(Number(step.toFixed(decimals)) - step) < step * 1e-6) ?? MOST_DECIMALS
}

export type TickFormat = (ticks: readonly number[]) => string[]

/**
 * `$0`, `$2.5K`, `$5K`: in the unit of the highest amount, with the same number of decimals for all, and so many that no
 * two are equal.
 */
const labelsIn =
  (sign: string, fractions: number): TickFormat =>
  (ticks) => {
    const [size, unit] = UNITS.find(([size]) => ticks.at(-1)! >= size) ?? [1, '']
    const needed = decimalsOf((ticks[1] ?? 1) / size)
    const decimals = needed > 0 && unit === '' ? Math.max(needed, fractions) : needed
    return ticks.map((tick) => (tick === 0 ? `${sign}0` : `${sign}${(tick / size).toFixed(decimals)}${unit}`))
  }

export const moneyTicks = labelsIn('$', CENTS)
export const countTicks = labelsIn('', 0)
export const percentTicks: TickFormat = (ticks) => ticks.map((tick) => `${Math.round(tick * 100)}%`)

/** Hours of work are read in hours, whatever their number: `0 h`, `0.5 h`, `250 h`. */
export const hourTicks: TickFormat = (ticks) => countTicks(ticks).map((label) => `${label} h`)
