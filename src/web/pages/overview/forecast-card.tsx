/** The forecast of the current month's cost, whatever period is shown; nothing if there is too little data. */
import { Paper, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { dayOf, monthInWords } from '../../format/moments.ts'
import { money } from '../../format/money.ts'
import type { Width } from '../../parts/charts/buckets.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Money } from '../../parts/figures.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import { forecastDays, monthForecast, monthToDate } from './month-forecast.ts'
import classes from './overview.module.css'
import { addressIn, during, type Scope } from './scope.ts'
import { trendQuery } from './usage.ts'

/** That of the chart, if it has every day that the forecast needs. */
export function forecastQuery(scope: Scope, { width, timeZone }: { width: Width; timeZone: string }) {
  const needed = forecastDays(dayOf(new Date(), timeZone))
  const { from, to } = scope.period
  const isCharted = width === '1d' && from <= needed.from && needed.to <= to
  return trendQuery(isCharted ? scope : during(scope, needed), '1d')
}

export function MonthForecastCard({ scope, width }: { scope: Scope; width: Width }) {
  const { time_zone } = useSettings()
  const { data, isError } = useQuery(forecastQuery(scope, { width, timeZone: time_zone }))
  const today = dayOf(new Date(), time_zone)
  const forecast = data && monthForecast(data, time_zone)
  if (forecast === null || isError) return null
  return (
    <Paper withBorder className={classes.card} data-wide>
      <Note>Forecast for {monthInWords(today)}</Note>
      {forecast ? (
        <>
          <div className={classes.figure}>
            <Money amount={forecast.amount} />
          </div>
          <Caption mt={4}>
            80% likely {money(forecast.low)} to {money(forecast.high)};{' '}
            <FigureLink
              figure="cost"
              value={forecast.spent}
              to={addressIn('/entries', during(scope, monthToDate(today)))}
              td="underline"
            >
              {money(forecast.spent)} so far
            </FigureLink>
          </Caption>
        </>
      ) : (
        <Skeleton height={28} width={120} />
      )}
    </Paper>
  )
}
