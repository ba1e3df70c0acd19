/** The burn-down chart: what is spent by day against the available amount, with the forecast. */
import { Paper } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import { barAt } from '../../../shared/charts/layout.ts'
import { dayInWords, shortDay } from '../../format/moments.ts'
import { amountInWords, forecastInWords, type Measure } from '../../parts/budgets/budget.ts'
import { Amount } from '../../parts/budgets/budget-progress.tsx'
import chart from '../../parts/charts/chart.module.css'
import { Axes, PointedBar } from '../../parts/charts/chart-axes.tsx'
import { AMOUNTS } from '../../parts/charts/series.ts'
import { TableToggle } from '../../parts/charts/table-toggle.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { CardTitle, Note } from '../../parts/texts.tsx'
import classes from './budgets.module.css'
import { type BurnDown as BurnDownData, linesOf } from './burn-down-layout.ts'

interface BurnDownProps {
  measure: Measure
  of: BurnDownData
}

export function BurnDown({ measure, of }: BurnDownProps) {
  return (
    <Paper withBorder p="md">
      <CardTitle mb="sm">{measure === 'tokens' ? 'Tokens' : 'Spending'} over time</CardTitle>
      {of.days.length === 0 ? (
        <Note>The first period has not begun.</Note>
      ) : (
        <>
          <Lines measure={measure} of={of} />
          <TableToggle>
            <Days measure={measure} of={of} />
          </TableToggle>
        </>
      )}
    </Paper>
  )
}

const axisDay = (day: string) => shortDay(`${day}T12:00:00Z`, 'UTC')

function Lines({ measure, of }: BurnDownProps) {
  const { ref, width, height } = useElementSize()
  const [shown, show] = useState<number>()
  const format = measure === 'tokens' ? AMOUNTS.count : AMOUNTS.money
  const { layout, ticks, labels, days, spent, area, forecast, today } = linesOf(of, { width, height, format })
  const points = days.map((day) => ({ key: day, short: axisDay(day), title: dayInWords(day) }))
  const latest = of.days.at(-1)!
  const point = ({ clientX, currentTarget }: PointerEvent) =>
    show(barAt(clientX - currentTarget.getBoundingClientRect().left, layout))
  const name = [
    `Line chart: ${amountInWords(latest.spent, measure)} of ${amountInWords(of.available, measure)} spent by ${dayInWords(latest.date)}`,
    of.forecast && `forecast ${forecastInWords(of.forecast.amount, measure)}`,
    'the table below shows the numbers',
  ]
  return (
    <>
      <div
        ref={ref}
        role="img"
        className={classes.chart}
        aria-label={name.filter(Boolean).join('; ')}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => show(undefined)}
      >
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            <Axes layout={layout} width={width} height={height} ticks={ticks} labels={labels} points={points} />
            {shown !== undefined && <PointedBar layout={layout} at={shown} />}
            {forecast && <path className={classes.band} d={forecast.band} />}
            <path className={classes.spentArea} d={area} />
            <path className={classes.spent} d={spent} />
            {forecast && <path className={classes.forecast} d={forecast.line} />}
            <line
              className={classes.available}
              x1={layout.left}
              x2={width}
              y1={layout.y(of.available)}
              y2={layout.y(of.available)}
            />
            {today !== null && (
              <line className={classes.today} x1={today} x2={today} y1={layout.y(layout.top)} y2={layout.y(0)} />
            )}
          </svg>
        )}
        {shown !== undefined && of.days[shown] && (
          <div
            className={chart.values}
            data-side={layout.x(shown) > width / 2 ? 'left' : 'right'}
            style={{ left: layout.x(shown) + (layout.x(shown) > width / 2 ? 0 : layout.slot) }}
          >
            <b>{dayInWords(of.days[shown].date)}</b>
            <span>{amountInWords(spentOn(of, shown), measure)} on this day</span>
            <span>{amountInWords(of.days[shown].spent, measure)} by its end</span>
          </div>
        )}
      </div>
      <ul className={chart.legend}>
        <Line color="teal-6">Spent</Line>
        <Line color="red-6">Available</Line>
        {forecast && (
          <Line color="indigo-5" isDashed>
            Forecast and its 80% range
          </Line>
        )}
        {today !== null && (
          <Line color="dimmed" isDashed>
            Today
          </Line>
        )}
      </ul>
    </>
  )
}

interface LineProps {
  color: string
  isDashed?: boolean
  children: string
}

const Line = ({ color, isDashed = false, children }: LineProps) => (
  <li>
    <span
      className={classes.line}
      style={{ borderColor: `var(--mantine-color-${color})`, borderStyle: isDashed ? 'dashed' : 'solid' }}
      aria-hidden
    />
    {children}
  </li>
)

/** On one of the days alone. Before the first one, of a long period, something was spent that is not known by day. */
function spentOn({ days, from }: BurnDownData, index: number): number {
  const day = days[index]!
  if (index > 0) return day.spent - days[index - 1]!.spent
  return from === day.date ? day.spent : 0
}

const Days = ({ measure, of }: BurnDownProps) => (
  <PlainTable
    label="Chart data"
    columns={[
      { key: 'day', title: 'Day', cell: ({ date }) => dayInWords(date) },
      {
        key: 'spent',
        title: 'On this day',
        isNumber: true,
        cell: ({ index }) => <Amount measure={measure} value={spentOn(of, index)} />,
      },
      {
        key: 'total',
        title: 'By its end',
        isNumber: true,
        cell: ({ spent }) => <Amount measure={measure} value={spent} />,
      },
    ]}
    rows={of.days.map((day, index) => ({ ...day, index })).toReversed()}
    rowKey={({ date }) => date}
    maxHeight={360}
  />
)
