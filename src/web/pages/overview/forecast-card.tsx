/** The forecast of the current month's cost, whatever period is shown; nothing if there is too little data. */
import { Paper, Skeleton } from '@mantine/core'
import { BASIS_TEXTS, BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { monthInWords, timeOfDay } from '../../format/moments.ts'
import { wholeMoney } from '../../format/money.ts'
import { Caption, Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import classes from './overview.module.css'
import type { Overview } from './usage.ts'

export function MonthForecastCard({
  forecast,
  basis,
}: {
  forecast: Overview['forecast'] | undefined
  basis: CostBasis
}) {
  const { time_zone } = useSettings()
  if (forecast === null) return null
  return (
    <Paper withBorder className={classes.card} data-wide>
      {forecast ? (
        <>
          <Note title={BASIS_TEXTS[basis]}>
            Forecast for {monthInWords(`${forecast.month}-01`)}
            {basis !== 'cost' && `, ${BASIS_TITLES[basis].toLowerCase()}`}
          </Note>
          <div className={classes.figure}>{wholeMoney(forecast.amount)}</div>
          <Caption mt={4}>
            80% likely {wholeMoney(forecast.low)} to {wholeMoney(forecast.high)}; {wholeMoney(forecast.spent)} as of{' '}
            {timeOfDay(forecast.at, time_zone)}
          </Caption>
        </>
      ) : (
        <>
          <Note>Forecast</Note>
          <Skeleton height={28} width={120} />
        </>
      )}
    </Paper>
  )
}
