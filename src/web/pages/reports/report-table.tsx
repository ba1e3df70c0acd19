/** The table of a report: every group with its figure, each of which leads to its entries. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf, changedAddress } from '../../address.ts'
import { count, counted, decimalsOf, percentChange } from '../../format/counts.ts'
import { cellColumn } from '../../parts/columns.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { ownPeriod, type Period, periodInWords } from '../../parts/period.ts'
import { Note } from '../../parts/texts.tsx'
import { type Chosen, type Dimension, entriesAddress, narrowed, titleOf } from '../../parts/usage/dimensions.ts'
import { type MeasureName, measureOf } from '../../parts/usage/measures.ts'
import { ShareBar } from '../../parts/usage/share-bar.tsx'
import type { Totals } from '../../parts/usage/usage.ts'
import { basisInAddress } from '../../server/cost-basis.ts'
import { type Me, useSettings } from '../../server/me.ts'
import { momentsOf, type Question } from './question.ts'
import { entriesOf } from './report-chart.tsx'
import type { Row } from './rows.ts'

/** An amount of a measure; what is unknown is not 0. */
function Amount({ value, measure }: { value: number | null; measure: MeasureName }) {
  switch (measureOf(measure).unit) {
    case 'money':
      return <Money amount={value} />
    case 'hours':
      return <>{value === null ? '–' : `${value < 10 ? decimalsOf(value, 1, 1) : count(Math.round(value))} h`}</>
    case 'count':
      return value === null ? <>–</> : <Count value={value} />
  }
}

/** Where an amount leads: people to a report with a row for each, sessions nowhere, since no list has a row for each. */
function addressOfFigure(
  measure: MeasureName,
  { filter, period, basis }: Pick<Question, 'filter' | 'period' | 'basis'>,
  timeZone: string,
) {
  if (measure === 'sessions') return undefined
  if (measure === 'people') return addressOf('/reports', { ...filter, by: 'agent_manager', period: ownPeriod(period) })
  return entriesAddress(entriesOf(measure, filter), momentsOf(period, timeZone), basis)
}

/** An amount that leads to what it is of. */
function LinkedAmount({
  href,
  value,
  measure,
  basis,
}: {
  href: string | undefined
  value: number | null
  measure: MeasureName
  basis: CostBasis | undefined
}) {
  const { figure } = measureOf(measure)
  const amount = <Amount value={value} measure={measure} />
  if (href === undefined) return amount
  if (figure) {
    return (
      <FigureLink figure={figure} value={value} basis={basis} to={href}>
        {amount}
      </FigureLink>
    )
  }
  return (
    <Anchor component={Link} href={href} inherit>
      {amount}
    </Anchor>
  )
}

/** The change since the earlier period. */
function Change({ value, earlier }: { value: number | null; earlier: number | null }) {
  if (value === null || earlier === null) return <>–</>
  if (earlier === 0) return <>{value === 0 ? '–' : 'new'}</>
  return <>{percentChange(value / earlier - 1)}</>
}

interface Columns {
  question: Question
  totals: Totals
}

/** Figures beside the measure, which most questions lead to. */
const BESIDE = ['cost', 'tokens', 'entries'] as const

const WIDTH = '120px'

export function useReportColumns({ question, totals }: Columns): Column<Row>[] {
  const settings = useSettings()
  const { time_zone } = settings
  const { measure, by, second, earlier } = question
  const basis = basisInAddress(question.basis ?? 'cost', settings)
  const { of, title, isDistinct } = measureOf(measure, question.basis)
  const all = of(totals)
  const shareOf = ({ value }: Row) => (all && value !== null ? value / all : 0)
  const addressOfEntries = (chosen: readonly Chosen[], period: Period, of: MeasureName) => {
    const filter = narrowed(question.filter, chosen)
    return filter && entriesAddress(entriesOf(of, filter), momentsOf(period, time_zone), basis)
  }
  const figure = (name: MeasureName, period: Period, read: (row: Row) => number | null) => (row: Row) => {
    const value = read(row)
    const filter = value === 0 ? undefined : narrowed(question.filter, row.chosen)
    const href = filter && addressOfFigure(name, { filter, period, basis }, time_zone)
    return <LinkedAmount href={href} value={value} measure={name} basis={question.basis} />
  }
  const name = (dimension: Dimension, at: number): Column<Row> =>
    cellColumn(
      at === 0 ? 'name' : 'second',
      titleOf(dimension),
      {
        sort: at === 0 ? 'name' : 'second',
        minWidth: at === 0 ? '180px' : '140px',
        phone: at === 0 ? 'title' : 'line',
      },
      ({ names, chosen }) => {
        const narrow = narrowed({}, [chosen[at]!])
        const text = <bdi>{names[at]}</bdi>
        if (!narrow) return text
        return (
          <Anchor component={Link} href={addressOfEntries(chosen, question.period, measure) ?? '/entries'} size="sm">
            {text}
          </Anchor>
        )
      },
    )
  const number = { isNumber: true, width: WIDTH } as const
  return [
    name(by, 0),
    ...(second === undefined ? [] : [name(second, 1)]),
    {
      ...number,
      key: 'value',
      title,
      sort: 'value',
      phone: 'value',
      cell: figure(measure, question.period, (row) => row.value),
    },
    ...(earlier
      ? ([
          {
            ...number,
            key: 'earlier',
            title: periodInWords(earlier),
            sort: 'earlier',
            width: '150px',
            cell: figure(measure, earlier, (row) => row.earlier),
          },
          cellColumn('change', 'Change', { ...number, sort: 'change' }, (row) => <Change {...row} />),
        ] satisfies Column<Row>[])
      : []),
    ...(isDistinct
      ? []
      : [
          cellColumn('share', 'Share', { width: '120px', phone: 'hidden' }, (row) => (
            <ShareBar share={shareOf(row)} />
          )) satisfies Column<Row>,
        ]),
    ...BESIDE.filter((beside) => beside !== measure).map(
      (beside): Column<Row> => ({
        ...number,
        key: beside,
        title: measureOf(beside, question.basis).title,
        sort: beside,
        phone: 'hidden',
        cell: figure(beside, question.period, ({ figures }) => measureOf(beside).of(figures)),
      }),
    ),
  ]
}

/** Without entries, the total is 0, as it is in the rows; the API leaves it open. */
const totalOf = (name: MeasureName) => (totals: Totals) => (totals.entries === 0 ? 0 : measureOf(name).of(totals))

/** The pinned totals, which lead to all entries of the report. */
export function footOf({ question, totals }: Columns, earlier: Totals | undefined, settings: Me['settings']) {
  const { measure, period } = question
  const of = totalOf(measure)
  const linked = (name: MeasureName, shown: Period, value: number | null) => (
    <LinkedAmount
      href={addressOfFigure(
        name,
        { ...question, period: shown, basis: basisInAddress(question.basis ?? 'cost', settings) },
        settings.time_zone,
      )}
      value={value}
      measure={name}
      basis={question.basis}
    />
  )
  return {
    name: 'Total',
    value: linked(measure, period, of(totals)),
    ...(earlier &&
      question.earlier && {
        earlier: linked(measure, question.earlier, of(earlier)),
        change: <Change value={of(totals)} earlier={of(earlier)} />,
      }),
    ...Object.fromEntries(
      BESIDE.filter((beside) => beside !== measure).map((beside) => [
        beside,
        linked(beside, period, totalOf(beside)(totals)),
      ]),
    ),
  }
}

/** Entries without a price are missing in amounts. */
export function UnpricedNote({ totals, question }: Columns) {
  const { time_zone } = useSettings()
  const { basis = 'cost' } = question
  const unpriced = totals.unpriced_entries
  if (unpriced === 0 || measureOf(question.measure).unit !== 'money') return null
  const href = changedAddress(
    '/entries',
    entriesAddress(question.filter, momentsOf(question.period, time_zone)).split('?')[1] ?? '',
    basis === 'cost' ? { priced: 'false' } : { unknown_cost: basis },
  )
  return (
    <Note>
      Amounts exclude{' '}
      <FigureLink figure="entries" value={unpriced} to={href} c={undefined}>
        {basis === 'cost'
          ? `${count(unpriced)} unpriced ${unpriced === 1 ? 'entry' : 'entries'}`
          : `${counted(unpriced, 'entry', 'entries')} without ${BASIS_TITLES[basis].toLowerCase()}`}
      </FigureLink>
    </Note>
  )
}

/** Entries whose active time is unknown are missing in it. */
export function UntimedNote({ totals: { entries, untimed_entries = 0 }, question }: Columns) {
  if (untimed_entries === 0 || question.measure !== 'active_seconds') return null
  return (
    <Note>
      Active time excludes {count(untimed_entries)} of {counted(entries, 'entry', 'entries')}, whose active time is
      unknown, such as those from telemetry.
    </Note>
  )
}
