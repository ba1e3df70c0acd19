/** The data of a chart as a table: a row for each point, the latest first, and a column for each series. */
import { ScrollArea, Table } from '@mantine/core'
import classes from './chart.module.css'
import { type AmountFormat, type ChartPoint, type ChartSeries, inWords } from './series.ts'

interface ChartTableProps {
  points: readonly ChartPoint[]
  series: readonly ChartSeries[]
  format: AmountFormat
  /** By point; the sum of the series by default. */
  totals?: readonly (number | null)[]
  /** The heading of the points. */
  heading?: string
}

export function ChartTable({ points, series, format, totals, heading = 'Period' }: ChartTableProps) {
  const totalAt = (at: number) =>
    totals ? totals[at]! : series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
  const hasTotal = series.length > 1
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
                {series.map(({ key, values }) => (
                  <Table.Td key={key} ta="right">
                    {inWords(values[at] ?? null, format)}
                  </Table.Td>
                ))}
                {hasTotal && (
                  <Table.Td ta="right" fw={600}>
                    {inWords(totalAt(at), format)}
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
