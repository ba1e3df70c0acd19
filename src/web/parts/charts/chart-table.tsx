/** The data of a chart as a table: a row for each point, the latest first, and a column for each series. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { cellColumn } from '../columns.tsx'
import { type Figure, FigureLink } from '../figure-link.tsx'
import { type PlainColumn, PlainTable } from '../plain-table.tsx'
import type { ChartProps } from './chart.tsx'
import { type AmountFormat, type ChartPoint, type ChartSeries, inWords, REST } from './series.ts'

interface ChartTableProps {
  points: readonly ChartPoint[]
  series: readonly ChartSeries[]
  format: AmountFormat
  /** By point; the sum of the series by default. */
  totals?: readonly (number | null)[]
  /** The heading of the points. */
  heading?: string
  /** As those of the chart: the lists whose totals the amounts are; of what is left of several groups, a list of these. */
  hrefOf?: ChartProps['hrefOf']
  /** Which of the totals of these lists; without it, amounts are not linked. */
  figure?: Figure | undefined
  basis?: CostBasis | undefined
}

interface Row {
  point: ChartPoint
  /** Its index in the values of the series. */
  at: number
}

export function ChartTable({
  points,
  series,
  format,
  totals,
  heading = 'Period',
  hrefOf,
  figure,
  basis,
}: ChartTableProps) {
  const totalAt = (at: number) =>
    totals ? totals[at]! : series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
  const amount = (value: number | null, href: string | undefined, isRest = false) => {
    const shown = inWords(value, format)
    if (value && isRest && href !== undefined) {
      return (
        <Anchor component={Link} href={href} inherit>
          {shown}
        </Anchor>
      )
    }
    // Without usage there is no list whose total is 0.
    if (!value || !figure || href === undefined) return shown
    return (
      <FigureLink figure={figure} value={value} basis={basis} to={href}>
        {shown}
      </FigureLink>
    )
  }
  const columns: PlainColumn<Row>[] = [
    cellColumn('point', heading, {}, ({ point }) => point.title),
    ...series.map(
      (each): PlainColumn<Row> => ({
        key: each.key,
        title: <bdi>{each.label}</bdi>,
        isNumber: true,
        cell: ({ point, at }) => amount(each.values[at] ?? null, hrefOf?.(point, each), each.key === REST),
      }),
    ),
  ]
  if (series.length > 1) {
    columns.push({
      // No series has this key.
      key: ' total',
      title: 'Total',
      isNumber: true,
      cell: ({ point, at }) => <b>{amount(totalAt(at), totals && hrefOf?.(point, undefined))}</b>,
    })
  }
  return (
    <PlainTable
      label="Chart data"
      columns={columns}
      rows={points.map((point, at) => ({ point, at })).toReversed()}
      rowKey={({ point }) => point.key}
      maxHeight={360}
    />
  )
}
