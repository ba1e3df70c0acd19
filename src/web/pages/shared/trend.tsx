/** The tokens of a viewer's projects over time, by whatever the table is grouped by. */
import { Paper, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { groupSeries } from '../../../shared/charts/group-series.ts'
import { pointOf, widthFor } from '../../parts/charts/buckets.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { AMOUNTS, type ChartSeries, REST } from '../../parts/charts/series.ts'
import type { Period } from '../../parts/period.ts'
import { CardTitle } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import reports from '../reports/reports.module.css'
import { labelOf, TITLES } from './labels.ts'
import { type Billed, type Dimension, type Result, type SharedUsage, trendQuestion, usageQuery } from './usage-query.ts'

interface TrendProps {
  period: Period
  by: Dimension
  billed: Billed
}

export function Trend({ period, by, billed }: TrendProps) {
  const settings = useSettings()
  const { data: usage, isPlaceholderData } = useQuery(usageQuery(trendQuestion({ period, by, billed })))
  const title = `Tokens over time by ${TITLES[by].toLowerCase()}`
  // What is kept of another grouping has other names.
  const isHere = usage?.group_by[0] === by
  return (
    <Paper withBorder p="md" className={reports.chart}>
      <CardTitle mb="sm">{title}</CardTitle>
      <div className={reports.plot} style={{ opacity: isPlaceholderData ? 0.55 : 1 }}>
        {usage && isHere ? (
          <Chart
            label={title}
            kind="stacked"
            points={usage.data.map(({ starting_at }) => pointOf(starting_at, widthFor(period), settings))}
            series={seriesOf(usage, by)}
            format={AMOUNTS.count}
          />
        ) : (
          <Skeleton height="100%" />
        )}
      </div>
    </Paper>
  )
}

const seriesOf = ({ data }: SharedUsage, by: Dimension): ChartSeries[] =>
  groupSeries(
    data.map(({ results }) => results),
    {
      idOf: (result) => idOf(result, by),
      labelOf: (result) => labelOf(result, by),
      sumOf: (results) => results.reduce((sum, { tokens }) => sum + tokens.total, 0),
      hasRest: true,
    },
  ).map(({ id = REST, ...series }) => ({ key: id, ...series }))

function idOf(result: Result, by: Dimension): string | undefined {
  const key = result[by] ?? undefined
  return typeof key === 'object' ? key.id : key
}
