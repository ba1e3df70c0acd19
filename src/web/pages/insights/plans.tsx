/** Whether seats of plans pay for themselves: what their usage would have cost, beside their fee. */
import { Anchor, Badge } from '@mantine/core'
import { Link } from 'wouter'
import { colorsOf, REST_COLOR } from '../../../shared/charts/colors.ts'
import { roughCount } from '../../format/counts.ts'
import { addMonths, firstOfMonth, monthInShort, monthInWords } from '../../format/moments.ts'
import { money } from '../../format/money.ts'
import { spanInWords } from '../../parts/budgets/budget.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { AMOUNTS, type ChartPoint, type ChartSeries } from '../../parts/charts/series.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/figures.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useRole } from '../../server/me.ts'
import { type PlanValue, type ReportQuery, useSeats } from './queries.ts'
import { Section } from './section.tsx'
import { seatsInWords, timesInWords } from './words.ts'

export function PlanSeats({ query }: { query: ReportQuery }) {
  const report = useSeats(query)
  const isOfBooks = useRole('billing', 'admin')
  const { data } = report
  const rows = data?.data.flatMap(rowsOf) ?? []
  return (
    <Section
      title="Plans"
      found={data && seatsInWords(data)}
      note="Whether a seat pays for itself: the list value of what its plan paid for, minus what was charged in addition to the fee, divided by the fee. At 1, both are the same. A period that is still running has its whole fee, but only part of its use. Of the filters, only the period applies: it lists the periods of plans that contain any of its days."
      request={report}
    >
      {data && rows.length > 0 && (
        <Chart
          label="List value divided by fee, by plan and month"
          kind="lines"
          points={pointsOf(data.data)}
          series={seriesOf(data.data)}
          format={AMOUNTS.times}
          totals="none"
        />
      )}
      {data && (
        <DataTable
          label="Seats of plans"
          name="insights-seats"
          columns={columnsFor(isOfBooks)}
          list={rows}
          rowKey={({ key }) => key}
          isMuted={({ person }) => person === undefined}
          fold={20}
          empty={
            <Empty title="No plans in this period">
              {isOfBooks ? (
                <>
                  Add the subscriptions that your agents run on to the page{' '}
                  <Anchor component={Link} href="/plans" inherit>
                    Plans
                  </Anchor>
                  , with their fee and the people who use them.
                </>
              ) : (
                'No plan pays for entries that you see.'
              )}
            </Empty>
          }
        />
      )}
    </Section>
  )
}

/** A person in a period of a plan, or its unused seats. */
interface Row {
  key: string
  of: PlanValue
  /** Absent for unused seats. */
  person?: PlanValue['people'][number]
  fee: number
}

function rowsOf(of: PlanValue): Row[] {
  const key = `${of.plan.id} ${of.from}`
  const people = of.people.map((person) => ({ key: `${key} ${person.id}`, of, person, fee: person.fee }))
  return of.unused_seats ? [...people, { key, of, fee: of.unused ?? 0 }] : people
}

const columnsFor = (isOfBooks: boolean): Column<Row>[] => [
  cellColumn(
    'person',
    'Seat',
    { value: ({ person }) => person?.name ?? '', minWidth: '170px', phone: 'title' },
    ({ of, person }) => (
      <>
        {person ? <bdi>{person.name}</bdi> : unusedInWords(of.unused_seats!)}
        <Caption>
          {isOfBooks ? (
            <Anchor component={Link} href={`/plans/${of.plan.id}`} inherit>
              <bdi>{of.plan.name}</bdi>
            </Anchor>
          ) : (
            <bdi>{of.plan.name}</bdi>
          )}
        </Caption>
      </>
    ),
  ),
  cellColumn('period', 'Period', { value: ({ of }) => of.from, width: '240px', phone: 'bare' }, ({ of }) => (
    <>
      {spanInWords(of)}
      {of.state === 'running' && <Caption>running</Caption>}
      {of.state === 'ended' && (
        <Caption>
          ended, not closed
          {isOfBooks && (
            <>
              {': '}
              <Anchor component={Link} href={`/plans/${of.plan.id}`} inherit>
                close it
              </Anchor>
            </>
          )}
        </Caption>
      )}
    </>
  )),
  cellColumn(
    'list_value',
    'List value',
    { value: ({ person }) => person?.list_value ?? null, isNumber: true, width: '120px' },
    ({ person }) =>
      person && (
        <>
          <Money amount={person.list_value} />
          {person.charge !== 0 && <Caption>{money(person.charge)} charged</Caption>}
        </>
      ),
  ),
  cellColumn('fee', 'Fee', { value: ({ fee }) => fee, isNumber: true, width: '110px' }, ({ fee }) => (
    <Money amount={fee} />
  )),
  cellColumn(
    'ratio',
    'Value ÷ fee',
    { value: ({ person }) => person?.ratio ?? null, isNumber: true, width: '120px', phone: 'value' },
    ({ of, person }) => <RatioCell ratio={person ? person.ratio : 0} isRunning={of.state === 'running'} />,
  ),
  cellColumn(
    'allowance',
    'Allowance used',
    { value: ({ person }) => person?.allowance_used ?? null, width: '150px' },
    ({ of, person }) => (person ? allowanceInWords(of, person) : ''),
  ),
]

const unusedInWords = (seats: number) => (seats === 1 ? '1 unused seat' : `${seats} unused seats`)

/** Below the break-even, a fee that has ended was too much; one that is running has not been used yet. */
function RatioCell({ ratio, isRunning }: { ratio: number | null; isRunning: boolean }) {
  if (ratio === null) return <>–</>
  const text = timesInWords(ratio)
  if (isRunning && ratio < 1) return <>{text}</>
  return (
    <Badge color={ratio < 1 ? 'red' : 'teal'} variant="light">
      {text}
    </Badge>
  )
}

function allowanceInWords(
  { allowance, allowance_unit: unit }: PlanValue,
  { allowance_used: used }: { allowance_used: number | null },
) {
  if (allowance === null || used === null) return ''
  return unit === 'usd'
    ? `${money(used)} of ${money(allowance)}`
    : `${roughCount(used)} of ${roughCount(allowance)} ${unit}`
}

/** The months in which the periods begin. */
function monthsOf(periods: readonly PlanValue[]): string[] {
  const begins = periods.map(({ from }) => firstOfMonth(from)).sort()
  const months: string[] = []
  for (let month = begins[0]!; month <= begins.at(-1)!; month = addMonths(month, 1)) months.push(month)
  return months
}

const pointsOf = (periods: readonly PlanValue[]): ChartPoint[] =>
  monthsOf(periods).map((month) => ({ key: month, short: monthInShort(month), title: monthInWords(month) }))

/** More are hard to tell apart. */
const CHARTED = 6

/** The plans with the highest fees, and the line where value and fee are the same. */
export function seriesOf(periods: readonly PlanValue[]): ChartSeries[] {
  const months = monthsOf(periods)
  const feeOf = (of: readonly PlanValue[]) => of.reduce((sum, { fee_usd }) => sum + fee_usd, 0)
  const plans = [...Map.groupBy(periods, ({ plan }) => plan.id)]
    .sort(([, one], [, other]) => feeOf(other) - feeOf(one))
    .slice(0, CHARTED)
  const colors = colorsOf(plans.map(([id]) => id))
  const lines = plans.map(([key, of], at): ChartSeries => {
    const byMonth = Map.groupBy(of, ({ from }) => firstOfMonth(from))
    const ratioOf = (some: readonly PlanValue[]) => {
      const fee = feeOf(some)
      return fee > 0 ? some.reduce((sum, { list_value, charge }) => sum + list_value - charge, 0) / fee : null
    }
    return {
      key,
      label: of[0]!.plan.name,
      color: colors[at]!,
      values: months.map((month) => ratioOf(byMonth.get(month) ?? [])),
    }
  })
  return [
    ...lines,
    { key: 'break-even', label: 'Break-even', color: REST_COLOR, values: months.map(() => 1), isEarlier: true },
  ]
}
