/** The four key metrics of a scope, each compared with the previous period, and the forecast of the month. */
import { Paper, Skeleton } from '@mantine/core'
import { money } from '../../format/money.ts'
import { AMOUNTS } from '../../parts/charts/series.ts'
import { Sparkline } from '../../parts/charts/sparkline.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Note } from '../../parts/texts.tsx'
import { Change } from '../../parts/usage/change.tsx'
import { type MeasureName, measureOf } from '../../parts/usage/measures.ts'
import type { Totals } from '../../parts/usage/usage.ts'
import { MonthForecastCard } from './forecast-card.tsx'
import classes from './overview.module.css'
import { addressIn, type Scope, scopeBefore } from './scope.ts'
import type { Shown } from './usage.ts'

const FIGURES = ['cost', 'list_value', 'tokens', 'entries'] as const satisfies MeasureName[]

export function Headline({ scope, data, isStale }: Shown) {
  const previous = scopeBefore(scope)
  const trend = data?.usage
  const before = data?.previous.totals
  return (
    <div className={classes.headline} style={{ opacity: isStale ? 0.55 : 1 }}>
      {FIGURES.map((name) => {
        const { title, of, unit } = measureOf(name, scope.basis)
        const value = trend && of(trend.totals)
        return (
          <Paper key={name} withBorder className={classes.card} role="group" aria-label={title}>
            <div className={classes.titleAndTrend}>
              <Note>{title}</Note>
              {trend && (
                <Sparkline
                  label={`${title} over time`}
                  values={trend.data.map(({ results: [result] }) => (result ? of(result) : 0))}
                  from={0}
                  inWords={AMOUNTS[unit].inWords}
                />
              )}
            </div>
            <div className={classes.figure}>
              {trend ? (
                value === null || value === undefined ? (
                  '–'
                ) : (
                  <FigureLink
                    figure={name}
                    value={value}
                    basis={scope.basis}
                    to={addressIn('/entries', scope)}
                    className={classes.cardLink}
                  >
                    {unit === 'money' ? <Money amount={value} /> : <Count value={value} />}
                  </FigureLink>
                )
              ) : (
                <Skeleton height={28} width={120} />
              )}
            </div>
            <Change
              figure={name}
              basis={scope.basis}
              isCost={unit === 'money'}
              now={value}
              before={before && of(before)}
              period={previous.period}
              to={addressIn('/entries', previous)}
              className={classes.above}
            />
            {name === 'cost' && trend && <Rejected totals={trend.totals} scope={scope} />}
          </Paper>
        )
      })}
      <MonthForecastCard forecast={data?.forecast} basis={scope.basis} />
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
      basis={scope.basis}
      to={addressIn('/entries', scope, { status: 'rejected' })}
      className={classes.above}
      fz="xs"
      lh="xs"
      display="inline-block"
    >
      {money(totals.rejected_cost)} rejected, not billed
    </FigureLink>
  )
}
