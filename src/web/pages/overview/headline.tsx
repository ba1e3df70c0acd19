/** The four key metrics of a scope, each compared with the previous period, and the forecast of the month. */
import { Paper, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { count } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { type Figure, FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { periodInWords } from '../../parts/period.ts'
import { Caption, Note } from '../../parts/texts.tsx'
import type { Totals } from '../../parts/usage/usage.ts'
import { changeInWords } from './change.ts'
import { MonthForecastCard } from './forecast-card.tsx'
import type { Chosen } from './groups-trend.ts'
import classes from './overview.module.css'
import { addressIn, type Scope, scopeBefore } from './scope.ts'
import { useTotals, useTrend } from './usage.ts'

interface Headlined {
  title: string
  figure: Figure
  /** Null if unknown. */
  of: (totals: Totals) => number | null
  shown: (value: number) => ReactNode
}

const dollars = (amount: number) => <Money amount={amount} />

const FIGURES: readonly Headlined[] = [
  { title: 'Cost', figure: 'cost', of: ({ cost }) => cost, shown: dollars },
  { title: 'List value', figure: 'list_value', of: ({ list_value }) => list_value, shown: dollars },
  { title: 'Tokens', figure: 'tokens', of: ({ tokens }) => tokens.total, shown: (value) => <Count value={value} /> },
  { title: 'Entries', figure: 'entries', of: ({ entries }) => entries, shown: count },
]

interface HeadlineProps {
  scope: Scope
  chosen: Chosen
}

export function Headline({ scope, chosen: { width, dimension } }: HeadlineProps) {
  const { data: trend, isPlaceholderData } = useTrend(scope, width)
  const { data: before } = useTotals(scopeBefore(scope), dimension)
  return (
    <div className={classes.headline} style={{ opacity: isPlaceholderData ? 0.55 : 1 }}>
      {FIGURES.map(({ title, figure, of, shown }) => {
        const value = trend && of(trend.totals)
        return (
          <Paper key={title} withBorder className={classes.card}>
            <Note>{title}</Note>
            <div className={classes.figure}>
              {trend ? (
                value === null || value === undefined ? (
                  '–'
                ) : (
                  <FigureLink
                    figure={figure}
                    value={value}
                    to={addressIn('/entries', scope)}
                    className={classes.cardLink}
                  >
                    {shown(value)}
                  </FigureLink>
                )
              ) : (
                <Skeleton height={28} width={120} />
              )}
            </div>
            <Change figure={figure} now={value} before={before && of(before)} scope={scope} />
            {title === 'Cost' && trend && <Rejected totals={trend.totals} scope={scope} />}
          </Paper>
        )
      })}
      <MonthForecastCard scope={scope} />
    </div>
  )
}

/** Rejected entries are usage, but are not billed: how much of the cost they are. */
function Rejected({ totals, scope }: { totals: Totals; scope: Scope }) {
  if (!totals.rejected_cost) return null
  return (
    <FigureLink
      figure="cost"
      value={totals.rejected_cost}
      to={addressIn('/entries', scope, { status: 'rejected' })}
      className={classes.above}
      fz="xs"
      lh="xs"
      display="inline-block"
      c="var(--mantine-color-anchor)"
    >
      {money(totals.rejected_cost)} rejected, not billed
    </FigureLink>
  )
}

interface ChangeProps {
  figure: Figure
  now: number | null | undefined
  before: number | null | undefined
  scope: Scope
}

/** Without a color, because more is neither good nor bad. */
function Change({ figure, now, before, scope }: ChangeProps) {
  const previous = scopeBefore(scope)
  if (now === undefined || before === undefined) return <Skeleton height={16} width={90} mt={4} />
  const { change, comparison } = changeInWords(now, before)
  return (
    <Caption mt={4}>
      {change === undefined ? (
        comparison
      ) : (
        <>
          <b>{change}</b>{' '}
          <FigureLink
            figure={figure}
            value={before}
            to={addressIn('/entries', previous)}
            title={periodInWords(previous.period)}
            className={classes.above}
            td="underline"
          >
            {comparison}
          </FigureLink>
        </>
      )}
    </Caption>
  )
}
