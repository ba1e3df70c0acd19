/** The grid of a chart with the amounts at its left and the times below it, and the bar that is pointed at. */

import { type Layout, labelsThatFit } from '../../../shared/charts/layout.ts'
import classes from './chart.module.css'
import type { ChartPoint } from './series.ts'

interface AxesProps {
  layout: Layout
  width: number
  height: number
  ticks: readonly number[]
  labels: readonly string[]
  points: readonly ChartPoint[]
}

/** Names of things are longer than times. */
const MOST_CHARACTERS = 16
const shortened = (label: string): string =>
  [...label].length > MOST_CHARACTERS ? `${[...label].slice(0, MOST_CHARACTERS - 1).join('')}…` : label

export function Axes({ layout, width, height, ticks, labels, points }: AxesProps) {
  const names = points.map(({ short }) => shortened(short))
  return (
    <>
      {ticks.map((tick, at) => (
        <g key={tick}>
          <line className={classes.grid} x1={layout.left} x2={width} y1={layout.y(tick)} y2={layout.y(tick)} />
          <text className={classes.tick} x={layout.left - 8} y={layout.y(tick)} dy="0.32em" textAnchor="end">
            {labels[at]}
          </text>
        </g>
      ))}
      {labelsThatFit(names, layout).map(({ bar, x }) => (
        <text key={bar} className={classes.tick} x={x} y={height - 6} textAnchor="middle">
          {names[bar]}
        </text>
      ))}
    </>
  )
}

/** The bar that is pointed at. */
export const PointedBar = ({ layout, at }: { layout: Layout; at: number }) => (
  <rect
    className={classes.pointed}
    x={layout.x(at)}
    width={layout.slot}
    y={layout.y(layout.top)}
    height={layout.height}
  />
)
