/** The forecast of the current month's cost, whatever period is shown; nothing if there is too little data. */
import { Paper, Skeleton } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { dayOf, monthInWords, timeOfDay } from '../../format/moments.ts'
import { wholeMoney } from '../../format/money.ts'
import { Caption, Note } from '../../parts/texts.tsx'
import { askUsage } from '../../parts/usage/usage.ts'
import { useSettings } from '../../server/me.ts'
import { forecastDays, hourOf, monthForecast } from './month-forecast.ts'
import classes from './overview.module.css'
import { during, type Scope } from './scope.ts'
import { questionOf } from './usage.ts'

/** Of what was used until the last full hour. News are for the next one. */
export function forecastQuery(scope: Scope, timeZone: string, hour = hourOf()) {
  const days = forecastDays(dayOf(new Date(hour), timeZone))
  return queryOptions({
    queryKey: ['forecast', scope.filter, hour],
    queryFn: async ({ signal }) =>
      monthForecast(
        await askUsage({ ...questionOf(during(scope, days), { width: '1d', fillsGaps: true }), until: hour }, signal),
        timeZone,
        hour,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function MonthForecastCard({ scope }: { scope: Scope }) {
  const { time_zone } = useSettings()
  const hour = hourOf()
  const { data: forecast, isError } = useQuery(forecastQuery(scope, time_zone, hour))
  if (forecast === null || isError) return null
  return (
    <Paper withBorder className={classes.card} data-wide>
      <Note>Forecast for {monthInWords(dayOf(new Date(hour), time_zone))}</Note>
      {forecast ? (
        <>
          <div className={classes.figure}>{wholeMoney(forecast.amount)}</div>
          <Caption mt={4}>
            80% likely {wholeMoney(forecast.low)} to {wholeMoney(forecast.high)}; {wholeMoney(forecast.spent)} by{' '}
            {timeOfDay(hour, time_zone)}
          </Caption>
        </>
      ) : (
        <Skeleton height={28} width={120} />
      )}
    </Paper>
  )
}
