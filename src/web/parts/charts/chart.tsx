/**
 * A chart: bars, stacked bars, lines or shares, drawn as one path for each series. It has one tab stop, where the arrow
 * keys read it bar by bar and Enter opens the entries of a bar, as a click does.
 */
import { Anchor } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, type PointerEvent, type Ref, useState } from 'react'
import { Link, useLocation } from 'wouter'
import {
  barAt,
  type ChartKind,
  highestOf,
  isStack,
  layoutOf,
  leftFor,
  PATHS,
  sharesOf,
  stackAt,
  sumAt,
} from '../../../shared/charts/layout.ts'
import { ticksOf } from '../../../shared/charts/scale.ts'
import classes from './chart.module.css'
import { Axes, PointedBar } from './chart-axes.tsx'
import { AMOUNTS, type AmountFormat, type ChartPoint, type ChartSeries, inWords } from './series.ts'

export interface ChartProps {
  /** The accessible name: “Cost over time by project”. */
  label: string
  kind: ChartKind
  points: readonly ChartPoint[]
  series: readonly ChartSeries[]
  format: AmountFormat
  /** By point, where the sum of the series is not the total, as of people; none where amounts do not add up. */
  totals?: readonly (number | null)[] | 'none'
  /** The address that a part of a bar, a whole bar (no series) or a series (no point) leads to. */
  hrefOf?: (point: ChartPoint | undefined, series: ChartSeries | undefined) => string | undefined
  /** Of the drawing, for saving it as an image. */
  svgRef?: Ref<SVGSVGElement>
}

export function Chart({ label, kind, points, series, format, totals, hrefOf, svgRef }: ChartProps) {
  const { ref, width, height } = useElementSize()
  const [, navigate] = useLocation()
  const [shown, show] = useState<number>()
  const drawn = kind === 'share' ? sharesOf(series) : series
  const scale = kind === 'share' ? AMOUNTS.share : format
  const ticks = kind === 'share' ? [0, 0.25, 0.5, 0.75, 1] : ticksOf(highestOf(kind, drawn, points.length), scale)
  const tickLabels = scale.ticks(ticks)
  const layout = layoutOf({
    width,
    height,
    bars: points.length,
    top: ticks.at(-1)!,
    left: leftFor(tickLabels),
  })
  const totalAt = (at: number) => (totals === 'none' ? undefined : totals ? totals[at]! : sumAt(series, at))
  const partAt = ({ clientX, clientY, currentTarget }: PointerEvent | React.MouseEvent) => {
    const { left, top } = currentTarget.getBoundingClientRect()
    const bar = barAt(clientX - left, layout)
    if (bar === undefined) return undefined
    const amount = layout.top * ((layout.y(0) - (clientY - top)) / Math.max(1, layout.height))
    const part = isStack(kind) ? stackAt(amount, bar, drawn) : undefined
    return { bar, part: part === undefined ? undefined : series[part] }
  }
  const point = (event: PointerEvent) => show(partAt(event)?.bar)
  const open = (part: ReturnType<typeof partAt>) => {
    const href = part && (hrefOf?.(points[part.bar], part.part) ?? hrefOf?.(points[part.bar], undefined))
    if (href !== undefined) navigate(href)
  }
  const move = (event: KeyboardEvent) => {
    const to = movedTo(event.key, shown, points.length)
    if (to !== undefined) show(to)
    else if (event.key === 'Enter' && shown !== undefined) open({ bar: shown, part: undefined })
    else if (event.key === 'Escape' && shown !== undefined) show(undefined)
    else return
    event.preventDefault()
  }
  return (
    <div className={classes.frame}>
      <div
        ref={ref}
        role="slider"
        tabIndex={0}
        className={classes.plot}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, points.length)}
        aria-valuenow={(shown ?? 0) + 1}
        aria-valuetext={readingOf(shown, { points, series, format, totalAt })}
        data-links={hrefOf ? true : undefined}
        onKeyDown={move}
        onBlur={() => show(undefined)}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => show(undefined)}
        onClick={(event) => open(partAt(event))}
      >
        {width > 0 && (
          <svg ref={svgRef} width={width} height={height} aria-hidden="true">
            <Axes layout={layout} width={width} height={height} ticks={ticks} labels={tickLabels} points={points} />
            {shown !== undefined && <PointedBar layout={layout} at={shown} />}
            {PATHS[kind](drawn, layout).map((path, at) => {
              const { key, color, isEarlier } = drawn[at]!
              return kind === 'lines' ? (
                <path
                  key={key}
                  className={classes.line}
                  d={path}
                  style={{ stroke: color }}
                  data-earlier={isEarlier || undefined}
                />
              ) : (
                <path key={key} d={path} style={{ fill: color }} />
              )
            })}
          </svg>
        )}
        {shown !== undefined && points[shown] && (
          <ChartValues
            title={points[shown].title}
            rows={series.map((each) => ({ series: each, value: each.values[shown] ?? null }))}
            total={totalAt(shown)}
            format={format}
            side={layout.x(shown) > width / 2 ? 'left' : 'right'}
            at={layout.x(shown) + (layout.x(shown) > width / 2 ? 0 : layout.slot)}
          />
        )}
      </div>
      {series.length > 1 && <Legend series={series} kind={kind} hrefOf={hrefOf} />}
    </div>
  )
}

/** The bar that a key moves to; undefined for keys that do not move. */
function movedTo(key: string, shown: number | undefined, count: number): number | undefined {
  if (count === 0) return undefined
  const last = count - 1
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return shown === undefined ? 0 : Math.min(last, shown + 1)
    case 'ArrowLeft':
    case 'ArrowDown':
      return shown === undefined ? last : Math.max(0, shown - 1)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}

interface Reading extends Pick<ChartProps, 'points' | 'series' | 'format'> {
  totalAt: (at: number) => number | null | undefined
}

/** What a bar shows, for those who hear it: without the series that have nothing there. */
function readingOf(shown: number | undefined, { points, series, format, totalAt }: Reading): string {
  const point = shown === undefined ? undefined : points[shown]
  if (shown === undefined || !point) return 'Use the arrow keys to read the bars'
  const parts = series
    .filter(({ values }) => values[shown] !== 0)
    .map(({ label, values }) => `${label} ${inWords(values[shown] ?? null, format)}`)
  const total = totalAt(shown)
  const totals = total === undefined ? [] : [`total ${inWords(total, format)}`]
  return `${point.title}: ${[...totals, ...(series.length > 1 ? parts : [])].join(', ')}`
}

type LegendProps = Pick<ChartProps, 'series' | 'kind'> & { hrefOf: ChartProps['hrefOf'] }

const Legend = ({ series, kind, hrefOf }: LegendProps) => (
  <ul className={classes.legend}>
    {series.map((each) => {
      const href = hrefOf?.(undefined, each)
      return (
        <li key={each.key}>
          <Swatch color={each.color} isLine={kind === 'lines'} />
          {href === undefined ? (
            <bdi>{each.label}</bdi>
          ) : (
            <Anchor component={Link} href={href} inherit>
              <bdi>{each.label}</bdi>
            </Anchor>
          )}
        </li>
      )
    })}
  </ul>
)

/** The values of a bar, next to it, and their total. */
interface ChartValuesProps {
  title: string
  rows: readonly { series: ChartSeries; value: number | null }[]
  total: number | null | undefined
  format: AmountFormat
  /** Of the bar. */
  side: 'left' | 'right'
  /** The edge of the bar, in pixels. */
  at: number
}

function ChartValues({ title, rows, total, format, side, at }: ChartValuesProps) {
  return (
    <div className={classes.values} data-side={side} style={{ left: at }}>
      <b>{title}</b>
      {rows.map(({ series, value }) => (
        <div key={series.key} className={classes.value}>
          <Swatch color={series.color} />
          <bdi>{series.label}</bdi>
          <span>{inWords(value, format)}</span>
        </div>
      ))}
      {rows.length > 1 && total !== undefined && (
        <div className={classes.value} data-total>
          <span />
          <span>Total</span>
          <span>{inWords(total, format)}</span>
        </div>
      )}
    </div>
  )
}

const Swatch = ({ color, isLine = false }: { color: string; isLine?: boolean }) => (
  <span className={classes.swatch} style={{ color }} data-line={isLine || undefined} aria-hidden />
)
