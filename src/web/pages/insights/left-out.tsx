/** The entries that the amounts of a report exclude, in parts that are lists. */
import { Button, Collapse } from '@mantine/core'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { dayOf } from '../../format/moments.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
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
        // In line with the text above.
        ml={-7}
        onClick={() => setShown(!isShown)}
        aria-expanded={isShown}
      >
        {isShown ? 'Hide' : 'Show'} {counted(entries, 'entry', 'entries')} without a price
      </Button>
      <Collapse expanded={isShown}>
        {isShown && (
          <DataTable
            label="Entries without a price"
            name="entries-without-a-price"
            columns={columnsIn(time_zone)}
            list={parts}
            rowKey={({ list }) => list}
            fold={10}
            empty={null}
          />
        )}
      </Collapse>
    </div>
  )
}

const columnsIn = (timeZone: string): Column<Part>[] => [
  cellColumn('model', 'Model', { value: ({ model }) => model, phone: 'title' }, (part) => <ModelName {...part} />),
  cellColumn('period', 'Period', { value: ({ starting_at }) => starting_at, width: '240px', phone: 'bare' }, (part) =>
    spanInWords(part, timeZone),
  ),
  cellColumn(
    'entries',
    'Entries',
    { value: ({ entries }) => entries, isNumber: true, width: '100px', phone: 'value' },
    (part) => <Entries {...part} />,
  ),
]

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
