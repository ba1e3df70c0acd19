/** The chart, loaded when it is first shown. */
import { BarChart } from '@mantine/charts'
import { roughCount } from '../../format/counts.ts'
import { money, roughMoney } from '../../format/money.ts'
import { useSettings } from '../../server/me.ts'
import { bucketInShort, bucketInWords, type Width } from './buckets.ts'
import type { Bar, Measure } from './groups.ts'
import classes from './overview.module.css'

interface ChartProps {
  bars: readonly Bar[]
  labels: readonly string[]
  restLabel: string
  measure: Measure
  width: Width
}

/** Distinguishable with red-green color blindness and in both color schemes; the rest is grey. */
const COLORS = ['teal.6', 'indigo.5', 'orange.5', 'grape.5', 'cyan.4', 'yellow.5'] as const
const REST_COLOR = 'gray.5'

const MAX_BAR_WIDTH_PX = 44

export default function Chart({ bars, labels, restLabel, measure, width }: ChartProps) {
  const settings = useSettings()
  const hasRest = bars.some(({ rest }) => rest > 0)
  // Model names contain dots, which the library would read as a path into the data.
  const series: { name: string; label: string; color: string }[] = labels.map((label, index) => ({
    name: `stripe${index}`,
    label,
    color: COLORS[index]!,
  }))
  if (hasRest) series.push({ name: `stripe${labels.length}`, label: restLabel, color: REST_COLOR })
  const data = bars.map(({ starting_at, stripes, rest }) => ({
    at: starting_at,
    ...Object.fromEntries([...stripes, rest].map((value, index) => [`stripe${index}`, value])),
  }))
  const total = measure === 'cost' ? 'cost' : 'tokens'
  return (
    <div
      role="img"
      className={classes.chart}
      aria-label={`Bar chart of ${total} over time; the table below shows the numbers`}
    >
      <BarChart
        h="100%"
        pos="absolute"
        inset={0}
        data={data}
        dataKey="at"
        type="stacked"
        series={series}
        withLegend
        legendProps={{ verticalAlign: 'bottom' }}
        classNames={{ legend: classes.legend! }}
        gridAxis="x"
        tickLine="none"
        maxBarWidth={MAX_BAR_WIDTH_PX}
        barProps={{ isAnimationActive: false }}
        valueFormatter={(value) => (measure === 'cost' ? money(value) : roughCount(value))}
        xAxisProps={{ tickFormatter: (at: string) => bucketInShort(at, width, settings), minTickGap: 24 }}
        yAxisProps={{ tickFormatter: measure === 'cost' ? (value) => roughMoney(value) : roughCount, width: 64 }}
        tooltipProps={{ labelFormatter: (at) => (at === undefined ? '' : bucketInWords(String(at), width, settings)) }}
      />
    </div>
  )
}
