/** The chart: stacked bars over time, drawn as one path for each series. */
import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import { roughCount } from '../../format/counts.ts'
import { money, roughMoney } from '../../format/money.ts'
import classes from '../../parts/chart.module.css'
import { barAt, labelsThatFit, layoutOf, pathsOf, ticksOf } from '../../parts/chart-layout.ts'
import { useSettings } from '../../server/me.ts'
import { bucketInShort, bucketInWords, type Width } from './buckets.ts'
import type { Bar, Measure } from './groups.ts'

interface ChartProps {
  bars: readonly Bar[]
  labels: readonly string[]
  restLabel: string
  measure: Measure
  width: Width
}

/** Distinguishable with red-green color blindness and in both color schemes; the rest is grey. */
const COLORS = ['teal-6', 'indigo-5', 'orange-5', 'grape-5', 'cyan-4', 'yellow-5'] as const
const REST_COLOR = 'gray-5'

interface Series {
  label: string
  color: string
  /** By bar. */
  values: number[]
}

function seriesOf({ bars, labels, restLabel }: Pick<ChartProps, 'bars' | 'labels' | 'restLabel'>): Series[] {
  const colored = (color: string) => `var(--mantine-color-${color})`
  const series = labels.map((label, index) => ({
    label,
    color: colored(COLORS[index]!),
    values: bars.map(({ stripes }) => stripes[index]!),
  }))
  const rest = { label: restLabel, color: colored(REST_COLOR), values: bars.map(({ rest }) => rest) }
  return rest.values.some((value) => value > 0) ? [...series, rest] : series
}

export function Chart({ bars, labels, restLabel, measure, width }: ChartProps) {
  const settings = useSettings()
  const { ref, width: measuredWidth, height } = useElementSize()
  const [shown, show] = useState<number>()
  const series = seriesOf({ bars, labels, restLabel })
  const ticks = ticksOf(Math.max(...bars.map(({ total }) => total), 0))
  const layout = layoutOf({ width: measuredWidth, height, bars: bars.length, top: ticks.at(-1)! })
  // Rough amounts have no digits for scales of less than a dollar.
  const amountLabel = layout.top < 1 ? money : roughMoney
  const tickLabel = (tick: number) => (measure === 'cost' ? amountLabel(tick) : roughCount(tick))
  const names = bars.map(({ starting_at }) => bucketInShort(starting_at, width, settings))
  const total = measure === 'cost' ? 'cost' : 'tokens'
  const point = ({ clientX, currentTarget }: PointerEvent) =>
    show(barAt(clientX - currentTarget.getBoundingClientRect().left, layout))
  return (
    <div className={classes.frame}>
      <div
        ref={ref}
        role="img"
        className={classes.plot}
        aria-label={`Bar chart of ${total} over time; the table below shows the numbers`}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => show(undefined)}
      >
        {measuredWidth > 0 && (
          <svg width={measuredWidth} height={height} aria-hidden="true">
            {ticks.map((tick) => (
              <g key={tick}>
                <line
                  className={classes.grid}
                  x1={layout.left}
                  x2={measuredWidth}
                  y1={layout.y(tick)}
                  y2={layout.y(tick)}
                />
                <text className={classes.tick} x={layout.left - 8} y={layout.y(tick)} dy="0.32em" textAnchor="end">
                  {tickLabel(tick)}
                </text>
              </g>
            ))}
            {labelsThatFit(names, layout).map(({ bar, x }) => (
              <text key={bar} className={classes.tick} x={x} y={height - 6} textAnchor="middle">
                {names[bar]}
              </text>
            ))}
            {shown !== undefined && (
              <rect
                className={classes.pointed}
                x={layout.x(shown)}
                width={layout.slot}
                y={layout.y(layout.top)}
                height={layout.height}
              />
            )}
            {pathsOf(series, layout).map((path, index) => (
              <path key={series[index]!.label} d={path} style={{ fill: series[index]!.color }} />
            ))}
          </svg>
        )}
        {shown !== undefined && bars[shown] && (
          <Values
            title={bucketInWords(bars[shown].starting_at, width, settings)}
            series={series}
            bar={shown}
            measure={measure}
            side={layout.x(shown) > measuredWidth / 2 ? 'left' : 'right'}
            at={layout.x(shown) + (layout.x(shown) > measuredWidth / 2 ? 0 : layout.slot)}
          />
        )}
      </div>
      <ul className={classes.legend}>
        {series.map(({ label, color }) => (
          <li key={label}>
            <Swatch color={color} />
            <bdi>{label}</bdi>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface ValuesProps {
  title: string
  series: readonly Series[]
  bar: number
  measure: Measure
  /** Of the bar. */
  side: 'left' | 'right'
  /** The edge of the bar, in pixels. */
  at: number
}

/** The values of a bar, next to it. */
function Values({ title, series, bar, measure, side, at }: ValuesProps) {
  const inWords = measure === 'cost' ? (value: number) => money(value) : roughCount
  return (
    <div className={classes.values} data-side={side} style={{ left: at }}>
      <b>{title}</b>
      {series.map(({ label, color, values }) => (
        <div key={label} className={classes.value}>
          <Swatch color={color} />
          <bdi>{label}</bdi>
          <span>{inWords(values[bar]!)}</span>
        </div>
      ))}
    </div>
  )
}

const Swatch = ({ color }: { color: string }) => (
  <span className={classes.swatch} style={{ background: color }} aria-hidden />
)
