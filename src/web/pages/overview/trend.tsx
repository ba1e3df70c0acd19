/** Usage over time by project, model or person, as a chart and a table. */
import { Button, Collapse, Group, NativeSelect, Paper, SegmentedControl, Skeleton, Title } from '@mantine/core'
import { IconTable } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Period } from '../../parts/period.ts'
import { type Width, widthsFor } from './buckets.ts'
import { Chart } from './chart.tsx'
import { barsOf, labelOf, type Measure, restLabelOf } from './groups.ts'
import { type Chosen, groupsTrendQuery } from './groups-trend.ts'
import classes from './overview.module.css'
import { TrendTable } from './trend-table.tsx'
import { useTrend } from './usage.ts'

interface TrendProps {
  period: Period
  name: string | undefined
  chosen: Chosen
  /** Changes what is in the URL. */
  choose: (change: { by?: Chosen['dimension']; measure?: Measure; bucket?: Width }) => void
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
  const widths = widthsFor(period)
  return (
    <Paper withBorder p="md" h="100%" className={classes.course}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h5">
          {chosen.measure === 'cost' ? 'Cost' : 'Tokens'} over time
        </Title>
        <Group gap="xs" className="tally-no-print">
          {widths.length > 1 && (
            <NativeSelect
              size="xs"
              data={widths}
              value={chosen.width}
              onChange={({ currentTarget }) => choose({ bucket: currentTarget.value as Width })}
              aria-label="Bucket width"
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
        <Chart {...shown} measure={chosen.measure} width={chosen.width} />
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
        {shown && <TrendTable {...shown} measure={chosen.measure} width={chosen.width} />}
      </Collapse>
    </Paper>
  )
}

/** Undefined until all data of the chart is loaded. */
function useBars(period: Period, chosen: Chosen) {
  const { data: course, isPlaceholderData } = useTrend(period, chosen.width)
  const { data: largest } = useQuery(groupsTrendQuery(period, chosen))
  if (!course || isPlaceholderData || !largest) return undefined
  const { groups, stripes, values } = largest
  const { dimension, measure } = chosen
  return {
    labels: stripes.map((stripe) => labelOf(stripe, dimension)),
    restLabel: restLabelOf(groups, stripes, dimension),
    bars: barsOf(course, largest.course, { values, dimension, measure }),
  }
}
