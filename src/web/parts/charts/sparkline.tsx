/** A small line without axes next to a figure: its trend, without unknown values. */

import { linePaths, type Values } from '../../../shared/charts/layout.ts'
import classes from './chart.module.css'

interface SparklineProps {
  /** “Cost over time”. */
  label: string
  values: Values
  /** The lower end of the scale, whose upper end is the highest value; the lowest value by default. */
  from?: number
  inWords: (value: number) => string
}

/** Stretched to the space that there is; the line is not. */
const WIDTH = 100
const HEIGHT = 24
/** For the width of the line at the ends of the scale. */
const MARGIN = 2

export function Sparkline({ label, values, from, inWords }: SparklineProps) {
  const known = values.filter((value) => value !== null)
  // A single value has no trend.
  if (known.length < 2) return null
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const low = from ?? least
  const y = (value: number) => HEIGHT - MARGIN - ((value - low) / (most - low || 1)) * (HEIGHT - 2 * MARGIN)
  const slot = WIDTH / values.length
  const reading = `from ${inWords(known[0]!)} to ${inWords(known.at(-1)!)}, between ${inWords(least)} and ${inWords(most)}`
  return (
    <svg
      className={classes.sparkline}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${reading}`}
    >
      <title>{reading}</title>
      <path d={linePaths([{ values }], { x: (bar) => bar * slot, y, slot })[0]} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
