import { Drawer, Group, Stack, Text } from '@mantine/core'
import { useLocation } from 'wouter'
import { cellColumn, countColumn, momentColumn, moneyColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Download } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Caption } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { useList } from '../../server/list.ts'
import type { Bill, BillLine } from './bill-body.ts'

interface LineEntriesProps {
  bill: Bill
  line: BillLine | null
  close: () => void
}

const askEntries = (id: string, line: number, page: string | undefined, signal: AbortSignal) =>
  answer(
    apiUntil(signal)
      .bills({ id })
      .entries.get({ query: { line: String(line), page } }),
  )

type Entry = Awaited<ReturnType<typeof askEntries>>['data'][number]

const COLUMNS: Column<Entry>[] = [
  cellColumn('agent', 'Agent', { value: ({ agent_name }) => agent_name, phone: 'title' }, ({ agent_name, summary }) => (
    <>
      <bdi>{agent_name}</bdi>
      {summary && (
        <Caption truncate>
          <bdi>{summary}</bdi>
        </Caption>
      )}
    </>
  )),
  momentColumn('started', 'Started', ({ started_at }) => started_at, { width: '165px' }),
  textColumn('model', 'Model', ({ model }) => model, { width: '150px' }),
  countColumn('tokens', 'Tokens', ({ tokens }) => tokens.total, { width: '70px' }),
  moneyColumn('cost', 'Cost', ({ cost }) => cost, { width: '80px', phone: 'value' }),
]

/** A drawer that lists the entries of a bill line. */
export const LineEntries = ({ bill, line, close }: LineEntriesProps) => (
  <Drawer
    opened={line !== null}
    onClose={close}
    size="xl"
    title={`Entries on line ${line?.line ?? ''} of bill ${bill.number}`}
  >
    {line && <Entries bill={bill} line={line} />}
  </Drawer>
)

function Entries({ bill, line }: { bill: Bill; line: BillLine }) {
  const [, navigate] = useLocation()
  const list = useList(['bills', bill.id, 'entries', line.line], (page, signal) =>
    askEntries(bill.id, line.line, page, signal),
  )
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm">
          <Money amount={line.cost} /> total, <Count value={line.tokens.total} /> tokens
        </Text>
        <Download path={`/bills/${bill.id}/entries`} query={{ line: String(line.line), format: 'csv' }} />
      </Group>
      <DataTable
        label="Entries on this line"
        name="bill-entries"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/entries/${id}`)}
        empty={<Empty title="No entries">The entries on this line may have been merged into other entries.</Empty>}
      />
    </Stack>
  )
}
