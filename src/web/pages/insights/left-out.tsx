/** The entries that the amounts of a report exclude, in parts that are lists. */
import { Button, Collapse, Table } from '@mantine/core'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { dayOf } from '../../format/moments.ts'
import { periodInWords } from '../../parts/period.ts'
import { useSettings } from '../../server/me.ts'
import { Entries, ModelName } from './cells.tsx'
import type { CacheReport } from './queries.ts'

type Part = CacheReport['left_out'][number]

export function LeftOut({ parts }: { parts: readonly Part[] }) {
  const [isShown, setShown] = useState(false)
  const { time_zone } = useSettings()
  if (parts.length === 0) return null
  const entries = parts.reduce((sum, part) => sum + part.entries, 0)
  return (
    <div className="tally-no-print">
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        mb="xs"
        onClick={() => setShown(!isShown)}
        aria-expanded={isShown}
      >
        {isShown ? 'Hide' : 'Show'} {counted(entries, 'entry', 'entries')} without a price
      </Button>
      <Collapse expanded={isShown}>
        {isShown && (
          <Table fz="sm" mb="sm" w="fit-content" maw="100%" aria-label="Entries without a price">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Model</Table.Th>
                <Table.Th>Period</Table.Th>
                <Table.Th ta="right">Entries</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {parts.map((part) => (
                <Table.Tr key={part.list}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    <ModelName {...part} />
                  </Table.Td>
                  <Table.Td>{spanInWords(part, time_zone)}</Table.Td>
                  <Table.Td ta="right">
                    <Entries {...part} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Collapse>
    </div>
  )
}

function spanInWords({ starting_at, ending_at }: Part, timeZone: string): string {
  const lastMoment = new Date(Date.parse(ending_at) - 1)
  return periodInWords({ from: dayOf(new Date(starting_at), timeZone), to: dayOf(lastMoment, timeZone) })
}

/** The parts of one model, each as a link to its entries. */
export const PartsOf = ({ parts }: { parts: readonly Part[] }) =>
  parts.length === 0
    ? 0
    : parts.map((part) => (
        <div key={part.list}>
          <Entries {...part} />
        </div>
      ))
