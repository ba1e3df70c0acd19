/** Usage over time by project, model or person, as a chart and a table, whose parts lead to their entries. */
import { Group, NativeSelect, Paper, SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { colorsOf } from '../../../shared/charts/colors.ts'
import { pointOf, type Width, widthsFor } from '../../parts/charts/buckets.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { ChartTable } from '../../parts/charts/chart-table.tsx'
import { AMOUNTS, type ChartSeries, restSeries } from '../../parts/charts/series.ts'
import { TableToggle } from '../../parts/charts/table-toggle.tsx'
import { CardTitle } from '../../parts/texts.tsx'
import { labelOf } from '../../parts/usage/dimensions.ts'
import { useSettings } from '../../server/me.ts'
import { chartLinks } from './chart-links.ts'
import { barsOf, type Measure, restLabelOf } from './groups.ts'
import { type Chosen, groupsTrendQuery } from './groups-trend.ts'
import classes from './overview.module.css'
import type { Scope } from './scope.ts'
import { useTrend } from './usage.ts'

interface TrendProps {
  scope: Scope
  chosen: Chosen
  /** Changes what is in the URL. */
  choose: (change: { by?: Chosen['dimension']; measure?: Measure; bucket?: Width }) => void
}

const BY = [
  { value: 'project', label: 'Project' },
  { value: 'model', label: 'Model' },
  { value: 'agent_manager', label: 'Person' },
]
const BY_IN_WORDS = { project: 'project', model: 'model', agent_manager: 'person' } as const
const MEASURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'tokens', label: 'Tokens' },
]

export function Trend({ scope, chosen, choose }: TrendProps) {
  const shown = useBars(scope, chosen)
  const widths = widthsFor(scope.period)
  const title = `${chosen.measure === 'cost' ? 'Cost' : 'Tokens'} over time`
  return (
    <Paper withBorder p="md" h="100%" className={classes.trend}>
      <Group justify="space-between" mb="sm" gap="xs">
        <CardTitle>{title}</CardTitle>
        <Group gap="xs" className="tally-no-print">
          {widths.length > 1 && (
            <NativeSelect
              size="xs"
              data={widths}
              value={chosen.width}
              onChange={({ currentTarget }) => choose({ bucket: currentTarget.value as Width })}
              aria-label="Granularity"
            />
          )}
          <SegmentedControl
            size="xs"
            data={BY}
            value={chosen.dimension}
            onChange={(dimension) => choose({ by: dimension as Chosen['dimension'] })}
            aria-label="Break down by"
          />
          <SegmentedControl
            size="xs"
            data={MEASURES}
            value={chosen.measure}
            onChange={(measure) => choose({ measure: measure as Measure })}
            aria-label="Measure"
          />
        </Group>
      </Group>
      {shown ? (
        <Chart
          {...shown.chart}
          hrefOf={shown.hrefOf}
          label={`${title} by ${BY_IN_WORDS[chosen.dimension]}`}
          kind="stacked"
        />
      ) : (
        <Skeleton className={classes.chart} />
      )}
      <TableToggle>
        {shown && <ChartTable {...shown.chart} hrefOf={shown.hrefOf} figure={chosen.measure} />}
      </TableToggle>
    </Paper>
  )
}

/** Undefined until all data of the chart is loaded. */
function useBars(scope: Scope, chosen: Chosen) {
  const settings = useSettings()
  const { data: trend, isPlaceholderData } = useTrend(scope, chosen.width)
  const { data: largest } = useQuery(groupsTrendQuery(scope, chosen))
  if (!trend || isPlaceholderData || !largest) return undefined
  const { groups, segments, values } = largest
  const { dimension, measure, width } = chosen
  const bars = barsOf(trend, largest.trend, { values, dimension, measure })
  const colors = colorsOf(values)
  const series: ChartSeries[] = segments.map((segment, at) => ({
    key: values[at]!,
    label: labelOf(segment, dimension),
    values: bars.map(({ segments }) => segments[at]!),
    color: colors[at]!,
  }))
  const rest = bars.map(({ rest }) => rest)
  if (rest.some((value) => value > 0)) series.push(restSeries(restLabelOf(groups, segments, dimension), rest))
  return {
    hrefOf: chartLinks({ scope, dimension, measure, trend, groups, segments }),
    chart: {
      points: bars.map(({ starting_at }) => pointOf(starting_at, width, settings)),
      series,
      totals: bars.map(({ total }) => total),
      format: measure === 'cost' ? AMOUNTS.money : AMOUNTS.count,
    },
  }
}
