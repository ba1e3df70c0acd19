/** Usage over time by project, model or person, as a chart and a table, whose parts lead to their entries. */
import { Group, NativeSelect, Paper, Skeleton } from '@mantine/core'
import { colorsOf } from '../../../shared/charts/colors.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { BasisSelect } from '../../parts/basis-select.tsx'
import { pointOf, type Width, widthsFor } from '../../parts/charts/buckets.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { ChartTable } from '../../parts/charts/chart-table.tsx'
import { AMOUNTS, type ChartSeries, restSeries } from '../../parts/charts/series.ts'
import { TableToggle } from '../../parts/charts/table-toggle.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { CardTitle, Note } from '../../parts/texts.tsx'
import { keyOf, labelOf } from '../../parts/usage/dimensions.ts'
import { measureOf } from '../../parts/usage/measures.ts'
import { useSettings } from '../../server/me.ts'
import { chartLinks } from './chart-links.ts'
import { barsOf, largest, type Measure, restLabelOf } from './groups.ts'
import classes from './overview.module.css'
import { type Chosen, groupsIn, type Shown } from './usage.ts'

interface TrendProps extends Shown {
  /** Changes what is in the URL. */
  choose: (change: { by?: Chosen['dimension']; measure?: Measure; bucket?: Width; basis?: CostBasis }) => void
}

const BY = { project: 'Project', model: 'Model', agent_manager: 'Person' }
const MEASURES = { cost: 'Cost', tokens: 'Tokens' }

export function Trend({ choose, ...data }: TrendProps) {
  const { scope, chosen } = data
  const shown = useBars(data)
  const widths = widthsFor(scope.period)
  const title = `${measureOf(chosen.measure, scope.basis).title} over time`
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
          <Segmented
            size="xs"
            titles={BY}
            value={chosen.dimension}
            choose={(by) => choose({ by })}
            aria-label="Break down by"
          />
          <Segmented
            size="xs"
            titles={MEASURES}
            value={chosen.measure}
            choose={(measure) => choose({ measure })}
            aria-label="Measure"
          />
          <BasisSelect value={scope.basis} change={(basis) => choose({ basis })} />
        </Group>
      </Group>
      {shown ? (
        <Chart
          {...shown.chart}
          hrefOf={shown.hrefOf}
          label={`${title} by ${BY[chosen.dimension].toLowerCase()}`}
          kind="stacked"
        />
      ) : (
        <Skeleton className={classes.chart} />
      )}
      {data.data?.usage.provisional && <Note>A plan period is not closed yet, so amounts may change.</Note>}
      <TableToggle>
        {shown && <ChartTable {...shown.chart} hrefOf={shown.hrefOf} figure={chosen.measure} basis={scope.basis} />}
      </TableToggle>
    </Paper>
  )
}

/** Undefined until the data of the chart is loaded. */
function useBars({ scope, data, isStale, chosen: { dimension, measure, width } }: Shown) {
  const settings = useSettings()
  const groups = groupsIn(data?.groups, dimension)
  if (!data || !groups || isStale) return undefined
  const segments = largest(groups, dimension, measure)
  const values = segments.map((segment) => keyOf(segment, dimension)!)
  const trend = data.usage
  const bars = barsOf(trend, data.largest, { values, dimension, measure })
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
