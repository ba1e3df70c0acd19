/** How much of the limits of their plans people use, and whether they reach them. */
import { Anchor, Badge, Text } from '@mantine/core'
import { Link } from 'wouter'
import { AGENTS } from '../../../shared/agents.ts'
import { colorsOf } from '../../../shared/charts/colors.ts'
import { percent } from '../../format/counts.ts'
import { addDays, dayInWords, shortDay, startOfDay } from '../../format/moments.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { AMOUNTS, type ChartPoint, type ChartSeries } from '../../parts/charts/series.ts'
import { cellColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Ago, Moment } from '../../parts/figures.tsx'
import { Caption } from '../../parts/texts.tsx'
import { type LimitsReport, type LimitUse, type ReportQuery, useLimits } from './queries.ts'
import { Section } from './section.tsx'
import { limitsInWords, windowInWords } from './words.ts'

export function PlanLimits({ query }: { query: ReportQuery }) {
  const report = useLimits(query)
  const { data } = report
  return (
    <Section
      title="Limits"
      found={data && limitsInWords(data)}
      note="How much of the five-hour, weekly and other limits of plans is used, as agents report it. A projection continues the use of a window to its end: it says what would happen, not what will. Of the filters, those of people and agents apply."
      request={report}
    >
      {data && data.data.length > 0 && (
        <Chart
          label="Highest use of limits by day"
          kind="lines"
          points={pointsOf(data)}
          series={seriesOf(data)}
          format={AMOUNTS.share}
          totals="none"
        />
      )}
      {data && (
        <DataTable
          label="Limits"
          columns={COLUMNS}
          list={data.data}
          rowKey={keyOf}
          fold={20}
          empty={
            <Empty title="No limits in this period">
              Codex says its limits in its session files, which{' '}
              <Anchor component={Link} href="/connect" inherit>
                hooks and scans
              </Anchor>{' '}
              read. Claude Code says them to its status line only: call <code>tally agents limits</code> there. Agents
              with an API key have none.
            </Empty>
          }
        />
      )}
    </Section>
  )
}

const keyOf = ({ user, agent_harness, name, window_minutes }: LimitUse): string =>
  [user.id, agent_harness, name, window_minutes].join(' ')

/** `Claude Code, 5 hours`; with the name of the limit where it says more than its window. */
function limitName({ agent_harness, name, window_minutes }: LimitUse): string {
  const agent = (AGENTS as Record<string, { title: string }>)[agent_harness]?.title ?? agent_harness
  const model = /^(?:five_hour|seven_day)_(.+)$/.exec(name)?.[1]
  const isNamed = model === undefined && !['five_hour', 'seven_day', agent_harness].includes(name)
  return [agent, model ?? (isNamed ? name : undefined), windowInWords(window_minutes)].filter(Boolean).join(', ')
}

const COLUMNS: Column<LimitUse>[] = unsorted([
  cellColumn('person', 'Person', { minWidth: '150px', phone: 'title' }, ({ user, plan }) => (
    <>
      <bdi>{user.name}</bdi>
      {plan !== null && (
        <Caption>
          <bdi>{plan}</bdi>
        </Caption>
      )}
    </>
  )),
  cellColumn('limit', 'Limit', { minWidth: '180px', phone: 'bare' }, (use) => <bdi>{limitName(use)}</bdi>),
  cellColumn('used', 'Used', { isNumber: true, width: '110px', phone: 'value' }, ({ latest }) => (
    <>
      {percent(latest.used_percent / 100)}
      <Caption>
        <Ago at={latest.read_at} />
      </Caption>
    </>
  )),
  cellColumn('resets', 'Resets', { width: '150px' }, ({ latest }) => (
    <Moment at={latest.resets_at} isShort otherwise="unknown" />
  )),
  cellColumn('projection', 'Projection', { width: '220px' }, (use) => <ProjectionCell use={use} />),
  cellColumn(
    'credits',
    'Credits left',
    { isNumber: true, width: '110px', phone: 'hidden' },
    ({ latest }) => latest.credits_left ?? '–',
  ),
])

function ProjectionCell({ use: { latest, projection } }: { use: LimitUse }) {
  if (!projection) {
    const hasEnded = latest.resets_at !== null && Date.parse(latest.resets_at) <= Date.now()
    return (
      <Text size="sm" c="dimmed">
        {hasEnded ? 'Window has ended' : latest.resets_at === null ? 'Unknown' : 'Too early to say'}
      </Text>
    )
  }
  if (!projection.reaches_limit) return <>{percent(projection.used_percent / 100)} when it resets</>
  return (
    <>
      <Badge color="red" variant="light">
        {projection.reaches_at === null ? 'Limit reached' : 'Reaches the limit'}
      </Badge>
      {projection.reaches_at !== null && (
        <Caption>
          about <Moment at={projection.reaches_at} isShort />
        </Caption>
      )}
    </>
  )
}

/** The most urgent ones; more are hard to tell apart. */
const CHARTED = 6

function daysOf({ from, to }: LimitsReport): string[] {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}

const pointsOf = (report: LimitsReport): ChartPoint[] =>
  daysOf(report).map((day) => ({
    key: day,
    short: shortDay(startOfDay(day, report.time_zone), report.time_zone),
    title: dayInWords(day),
  }))

function seriesOf(report: LimitsReport): ChartSeries[] {
  const charted = report.data.slice(0, CHARTED)
  const colors = colorsOf(charted.map(keyOf))
  return charted.map((use, at) => {
    const highest = new Map(use.days.map(({ day, highest_percent }) => [day, highest_percent / 100]))
    return {
      key: keyOf(use),
      label: `${use.user.name}: ${limitName(use)}`,
      color: colors[at]!,
      values: daysOf(report).map((day) => highest.get(day) ?? null),
    }
  })
}
