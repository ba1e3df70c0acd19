/** The data of a chart as a table: a row for each point, the latest first, and a column for each series. */
import { Anchor, ScrollArea, Table } from '@mantine/core'
import { Link } from 'wouter'
import { type Figure, FigureLink } from '../figure-link.tsx'
import classes from './chart.module.css'
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
}

export function ChartTable({ points, series, format, totals, heading = 'Period', hrefOf, figure }: ChartTableProps) {
  const totalAt = (at: number) =>
    totals ? totals[at]! : series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
  const hasTotal = series.length > 1
  const amount = (value: number | null, href: string | undefined, isRest = false) => {
    const shown = inWords(value, format)
    if (value && isRest && href !== undefined) {
      return (
        <Anchor component={Link} href={href} inherit c="inherit">
          {shown}
        </Anchor>
      )
    }
    // Without usage there is no list whose total is 0.
    if (!value || !figure || href === undefined) return shown
    return (
      <FigureLink figure={figure} value={value} to={href}>
        {shown}
      </FigureLink>
    )
  }
  return (
    <ScrollArea.Autosize mah={360} mt="xs" viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Chart data' }}>
      <Table fz="sm" verticalSpacing={4} stickyHeader aria-label="Chart data" className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{heading}</Table.Th>
            {series.map(({ key, label }) => (
              <Table.Th key={key} ta="right">
                <bdi>{label}</bdi>
              </Table.Th>
            ))}
            {hasTotal && <Table.Th ta="right">Total</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points
            .map((point, at) => (
              <Table.Tr key={point.key}>
                <Table.Th fw={400} scope="row">
                  {point.title}
                </Table.Th>
                {series.map((each) => (
                  <Table.Td key={each.key} ta="right">
                    {amount(each.values[at] ?? null, hrefOf?.(point, each), each.key === REST)}
                  </Table.Td>
                ))}
                {hasTotal && (
                  <Table.Td ta="right" fw={600}>
                    {amount(totalAt(at), totals && hrefOf?.(point, undefined))}
                  </Table.Td>
                )}
              </Table.Tr>
            ))
            .toReversed()}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  )
}
