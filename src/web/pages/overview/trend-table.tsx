/** The data of the chart as a table. */
import { ScrollArea, Table } from '@mantine/core'
import { Count, Money } from '../../parts/figures.tsx'
import { useSettings } from '../../server/me.ts'
import { bucketInWords, type Width } from './buckets.ts'
import type { Bar, Measure } from './groups.ts'

interface CourseTableProps {
  bars: readonly Bar[]
  labels: readonly string[]
  restLabel: string
  measure: Measure
  width: Width
}

export function TrendTable({ bars, labels, restLabel, measure, width }: CourseTableProps) {
  const settings = useSettings()
  const hasRest = bars.some(({ rest }) => rest > 0)
  const shown = (value: number) => (measure === 'cost' ? <Money amount={value} /> : <Count value={value} />)
  return (
    <ScrollArea.Autosize mah={360} mt="xs" viewportProps={{ tabIndex: 0, 'aria-label': 'Chart data' }}>
      <Table fz="sm" verticalSpacing={4} stickyHeader aria-label="Chart data">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Period</Table.Th>
            {[...labels, ...(hasRest ? [restLabel] : []), 'Total'].map((label) => (
              <Table.Th key={label} ta="right">
                <bdi>{label}</bdi>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bars.toReversed().map(({ starting_at, stripes, rest, total }) => (
            <Table.Tr key={starting_at}>
              <Table.Th fw={400} style={{ whiteSpace: 'nowrap' }}>
                {bucketInWords(starting_at, width, settings)}
              </Table.Th>
              {stripes.map((value, index) => (
                <Table.Td key={labels[index]} ta="right">
                  {shown(value)}
                </Table.Td>
              ))}
              {hasRest && <Table.Td ta="right">{shown(rest)}</Table.Td>}
              <Table.Td ta="right" fw={600}>
                {shown(total)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  )
}
