/** Usage over time by project, model or person, as a chart and a table. */
import { Button, Collapse, Group, Paper, SegmentedControl, Skeleton, Title } from '@mantine/core'
import { IconTable } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Period } from '../../parts/period.ts'
import { widthFor } from './buckets.ts'
import { barsOf, keyOf, labelOf, largest, type Measure, restLabelOf } from './groups.ts'
import classes from './overview.module.css'
import { TrendTable } from './trend-table.tsx'
import { useGroups, useGroupsTrend, useTrend } from './usage.ts'

/** Loaded lazily: the chart library is larger than the rest of the page. */
const Chart = lazy(() => import('./chart.tsx'))

interface Chosen {
  dimension: 'project' | 'model' | 'agent_manager'
  measure: Measure
}

interface TrendProps {
  period: Period
  name: string | undefined
  chosen: Chosen
  choose: (chosen: Chosen) => void
}

const BY = [
  { value: 'project', label: 'Project' },
  { value: 'model', label: 'Model' },
  { value: 'agent_manager', label: 'Person' },
]
const MEASURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'tokens', label: 'Tokens' },
]

export function Trend({ period, chosen, choose }: TrendProps) {
  const [isTable, setTable] = useState(false)
  const shown = useBars(period, chosen)
  return (
    <Paper withBorder p="md" h="100%" className={classes.course}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h5">
          {chosen.measure === 'cost' ? 'Cost' : 'Tokens'} over time
        </Title>
        <Group gap="xs" className="tally-no-print">
          <SegmentedControl
            size="xs"
            data={BY}
            value={chosen.dimension}
            onChange={(dimension) => choose({ ...chosen, dimension: dimension as Chosen['dimension'] })}
            aria-label="Break down by"
          />
          <SegmentedControl
            size="xs"
            data={MEASURES}
            value={chosen.measure}
            onChange={(measure) => choose({ ...chosen, measure: measure as Measure })}
            aria-label="Measure"
          />
        </Group>
      </Group>
      {shown ? (
        <Suspense fallback={<Skeleton className={classes.chart} />}>
          <Chart {...shown} measure={chosen.measure} width={widthFor(period)} />
        </Suspense>
      ) : (
        <Skeleton className={classes.chart} />
      )}
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        mt="xs"
        w="fit-content"
        leftSection={<IconTable size={14} />}
        onClick={() => setTable(!isTable)}
        aria-expanded={isTable}
      >
        {isTable ? 'Hide table' : 'Show as table'}
      </Button>
      <Collapse expanded={isTable}>
        {shown && <TrendTable {...shown} measure={chosen.measure} width={widthFor(period)} />}
      </Collapse>
    </Paper>
  )
}

/** Undefined until all data of the chart is loaded. */
function useBars(period: Period, { dimension, measure }: Chosen) {
  const { data: course } = useTrend(period)
  const { data: groups } = useGroups(period, dimension)
  const stripes = groups && largest(groups, dimension, measure)
  const values = stripes?.map((stripe) => keyOf(stripe, dimension)!)
  const { data: groupsCourse, isPlaceholderData } = useGroupsTrend(period, dimension, values)
  if (!course || !groups || !values || (values.length > 0 && (!groupsCourse || isPlaceholderData))) return undefined
  return {
    labels: stripes!.map((stripe) => labelOf(stripe, dimension)),
    restLabel: restLabelOf(groups, stripes!, dimension),
    bars: barsOf(course, groupsCourse, { values, dimension, measure }),
  }
}
