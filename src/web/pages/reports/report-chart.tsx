/** The chart of a report, over time or by group, whose bars lead to their entries. */
import { Button, Group, Menu, Paper, Skeleton } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { ChartKind } from '../../../shared/charts/layout.ts'
import { pointOf } from '../../parts/charts/buckets.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { ChartTable } from '../../parts/charts/chart-table.tsx'
import { savePng, saveSvg } from '../../parts/charts/image.ts'
import { type ChartPoint, type ChartSeries, REST } from '../../parts/charts/series.ts'
import { TableToggle } from '../../parts/charts/table-toggle.tsx'
import { Failure } from '../../parts/failure.tsx'
import { type Period, periodInWords } from '../../parts/period.ts'
import { CardTitle } from '../../parts/texts.tsx'
import {
  type Between,
  type Chosen,
  type Dimension,
  entriesAddress,
  keyOf,
  labelOf,
  narrowed,
} from '../../parts/usage/dimensions.ts'
import { formatOf, type MeasureName, measureOf } from '../../parts/usage/measures.ts'
import { type Result, type Usage, usageQuery } from '../../parts/usage/usage.ts'
import { basisInAddress } from '../../server/cost-basis.ts'
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { tellProblem } from '../../server/send.ts'
import {
  addressOfGroups,
  firstQuestion,
  groupsQuestion,
  groupsTrendQuestion,
  momentsOf,
  type Question,
  trendQuestion,
} from './question.ts'
import classes from './reports.module.css'
import {
  ALL,
  comparedSeries,
  dividedSeries,
  groupSeries,
  largest,
  MOST_GROUPS,
  onlyOther,
  onlySeries,
  spanOf,
  totalsOf,
} from './series.ts'

interface ReportChartProps {
  question: Question
  /** A longer period without more entries, whose groups the page has anyway. */
  groupsPeriod?: Period
  kind: ChartKind
  title: string
  /** Whether the axis over time ends with the entries, not with the period. */
  fitsEntries?: boolean
  /** Whether the amounts can be shown as a table, where the page lists them nowhere else. */
  hasTable?: boolean
}

export function ReportChart({
  question,
  groupsPeriod,
  kind,
  title,
  fitsEntries = false,
  hasTable = false,
}: ReportChartProps) {
  const svg = useRef<SVGSVGElement>(null)
  const over = useOverTime(question, { groupsPeriod, fitsEntries })
  const whole = useByGroup(question)
  const { shown, error, refetch } = question.width === 'all' ? whole : over
  const settings = useSettings()
  const { time_zone } = settings
  const basis = basisInAddress(question.basis ?? 'cost', settings)
  const hrefOf = (point: ChartPoint | undefined, series: ChartSeries | undefined) => {
    // Bars of the earlier period are of other entries.
    if (series?.isEarlier) return undefined
    const between = (point && shown?.betweenOf?.(point)) ?? momentsOf(question.period, time_zone)
    const chosen = shown ? shown.chosenOf(point, series) : []
    if (!chosen) return addressOfGroups(question, between, time_zone)
    const filter = narrowed(question.filter, chosen)
    return filter && entriesAddress(entriesOf(question.measure, filter), between, basis)
  }
  const image = () => ({
    svg: svg.current!,
    title: `${title}, ${periodInWords(question.period)}`,
    legend: (shown?.series.length ?? 0) > 1 ? shown!.series.map(({ label, color }) => ({ label, color })) : [],
  })
  return (
    <Paper withBorder p="md" className={classes.chart}>
      <Group justify="space-between" mb="sm">
        <CardTitle>{title}</CardTitle>
        <Menu position="bottom-end" shadow="md">
          <Menu.Target>
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              className="tally-no-print"
              leftSection={<IconDownload size={14} />}
              disabled={!shown}
            >
              Save chart
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => savePng(image()).catch((error) => tellProblem(asProblem(error)))}>
              As PNG image
            </Menu.Item>
            <Menu.Item onClick={() => saveSvg(image())}>As SVG drawing</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
      {error && !shown && <Failure error={error} retry={refetch} />}
      {!shown && !error && <Skeleton className={classes.plot} />}
      {shown && (
        <div className={classes.plot} style={{ opacity: shown.isStale ? 0.55 : 1 }}>
          <Chart
            label={title}
            kind={kind}
            points={shown.points}
            series={shown.series}
            format={formatOf(question.measure)}
            {...(shown.totals && { totals: shown.totals })}
            hrefOf={hrefOf}
            svgRef={svg}
          />
        </div>
      )}
      {hasTable && (
        <TableToggle>
          {shown && (
            <ChartTable
              {...shown}
              format={formatOf(question.measure)}
              hrefOf={hrefOf}
              figure={measureOf(question.measure).figure}
              basis={question.basis}
            />
          )}
        </TableToggle>
      )}
    </Paper>
  )
}

/** Only the billed entries are in a cost of billed entries. */
export const entriesOf = <Filter extends object>(measure: MeasureName, filter: Filter): Filter =>
  measureOf(measure).include === 'billed' ? { ...filter, status: ['billed'] } : filter

interface Shown {
  points: ChartPoint[]
  series: ChartSeries[]
  totals?: readonly (number | null)[]
  /** Undefined for a chart by group, whose points are of the whole period. */
  betweenOf?: (point: ChartPoint) => Between
  /** The groups that a bar or a part of it is of; undefined for several others. */
  chosenOf: (point: ChartPoint | undefined, series: ChartSeries | undefined) => Chosen[] | undefined
  isStale: boolean
}

interface Charted {
  shown: Shown | undefined
  error: Error | null | undefined
  refetch: () => unknown
}

const resultsOf = (report: Usage | undefined): Result[] => report?.data[0]?.results ?? []

/** The key of a series of a group. */
const isGroup = (series: ChartSeries | undefined): series is ChartSeries => series !== undefined && series.key !== ALL

function useOverTime(
  question: Question,
  { groupsPeriod = question.period, fitsEntries }: Pick<ReportChartProps, 'groupsPeriod' | 'fitsEntries'>,
): Charted {
  const settings = useSettings()
  const { measure, by: dimension, width, filter, earlier, period } = question
  const enabled = width !== 'all'
  const trend = useQuery({ ...usageQuery(trendQuestion(question)), enabled })
  const before = useQuery({
    ...usageQuery(trendQuestion(question, earlier)),
    enabled: enabled && earlier !== undefined,
  })
  const first = useQuery({ ...usageQuery(firstQuestion(question, groupsPeriod)), enabled: enabled && !earlier })
  const groups = largest(resultsOf(first.data), { dimension, measure })
  const other = onlyOther(resultsOf(first.data), groups, measure)
  const selected = selecting(filter, dimension, groups)
  const groupsTrend = useQuery({
    ...usageQuery(groupsTrendQuestion(question, selected)),
    enabled: enabled && !earlier && groups.length > 0,
  })
  const all = earlier ? [trend, before] : [trend, first, ...(groups.length > 0 ? [groupsTrend] : [])]
  const failed = all.find(({ error }) => error)
  const isHere = all.every(({ data }) => data !== undefined)
  const state = { error: failed?.error, refetch: () => failed?.refetch() }
  if (!enabled || !isHere) return { ...state, shown: undefined }
  const buckets = fitsEntries ? spanOf(trend.data!.data) : trend.data!.data
  const at = buckets.map(({ starting_at }) => starting_at)
  const totals = totalsOf(buckets, measure)
  const ends = new Map(buckets.map(({ starting_at, ending_at }) => [starting_at, ending_at]))
  const shown: Shown = {
    points: at.map((moment) => pointOf(moment, width, settings)),
    series: earlier
      ? comparedSeries(totals, totalsOf(before.data!.data, measure), {
          now: periodInWords(period),
          earlier: periodInWords(earlier),
        })
      : groupSeries({ at, values: totals }, { groups, other, trend: groupsTrend.data }, { dimension, measure }),
    ...(!earlier && { totals }),
    betweenOf: ({ key }) => ({ starting_at: key, ending_at: ends.get(key)! }),
    chosenOf: (_point, series) => {
      if (series?.key === REST) return other && [[dimension, keyOf(other, dimension)]]
      return isGroup(series) && !series.isEarlier ? [[dimension, series.key]] : []
    },
    isStale: all.some(({ isPlaceholderData }) => isPlaceholderData),
  }
  return { ...state, shown }
}

/** The filter for entries of any of these groups. */
function selecting(filter: Question['filter'], dimension: Dimension, groups: readonly Result[]): Question['filter'] {
  const filters = groups.map((group) => narrowed(filter, [[dimension, keyOf(group, dimension)]])!)
  const name = dimension.startsWith('label:') ? 'label' : (dimension as 'model')
  return { ...filter, [name]: [...new Set(filters.flatMap((each) => each[name] ?? []))] }
}

function useByGroup(question: Question): Charted {
  const { by: dimension, second, measure, basis, width, earlier, period } = question
  const enabled = width === 'all'
  const first = useQuery({ ...usageQuery(firstQuestion(question)), enabled })
  const both = useQuery({ ...usageQuery(groupsQuestion(question)), enabled: enabled && second !== undefined })
  const before = useQuery({
    ...usageQuery(firstQuestion(question, earlier)),
    enabled: enabled && earlier !== undefined,
  })
  const all = [first, ...(second ? [both] : []), ...(earlier ? [before] : [])]
  const failed = all.find(({ error }) => error)
  const state = { error: failed?.error, refetch: () => failed?.refetch() }
  if (!enabled || !all.every(({ data }) => data !== undefined)) return { ...state, shown: undefined }
  const { of, title } = measureOf(measure, basis)
  const groups = resultsOf(first.data)
    .toSorted((one, other) => (of(other) ?? 0) - (of(one) ?? 0))
    .slice(0, MOST_GROUPS)
  const keys = groups.map((group) => JSON.stringify(keyOf(group, dimension)))
  const values = groups.map((group) => of(group))
  const earlierOf = new Map(resultsOf(before.data).map((group) => [JSON.stringify(keyOf(group, dimension)), of(group)]))
  const shown: Shown = {
    points: groups.map((group, at) => ({
      key: keys[at]!,
      short: labelOf(group, dimension),
      title: labelOf(group, dimension),
    })),
    series: earlier
      ? comparedSeries(
          values,
          keys.map((key) => earlierOf.get(key) ?? 0),
          { now: periodInWords(period), earlier: periodInWords(earlier) },
        )
      : second
        ? dividedSeries(keys, resultsOf(both.data), { first: dimension, second, measure })
        : [onlySeries(title, values)],
    ...(!earlier && { totals: values }),
    chosenOf: (point, series) => {
      if (series?.key === REST) return undefined
      return [
        ...(point ? [[dimension, JSON.parse(point.key) as string | null] as const] : []),
        ...(second && !earlier && isGroup(series) ? [[second, series.key] as const] : []),
      ]
    },
    isStale: all.some(({ isPlaceholderData }) => isPlaceholderData),
  }
  return { ...state, shown }
}
