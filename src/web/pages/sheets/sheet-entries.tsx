import { ActionIcon, Button, Group, Text, Title } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { duration } from '../../format/moments.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Download } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { Count, Moment, Money } from '../../parts/figures.tsx'
import { answer } from '../../server/api.ts'
import { useList } from '../../server/list.ts'
import { useSend } from '../../server/send.ts'
import { EntryForm } from './entry-form.tsx'
import { SHEET_CHANGES, type Sheet, type SheetEntry, sheetOf } from './sheet-body.ts'

export function SheetEntries({ sheet, mayEdit }: { sheet: Sheet; mayEdit: boolean }) {
  const [, navigate] = useLocation()
  const [editing, setEditing] = useState<SheetEntry | 'new' | null>(null)
  const [removing, setRemoving] = useState<SheetEntry | null>(null)
  const list = useList(['sheets', 'entries', sheet.id], (page, signal) =>
    answer(sheetOf(sheet.id, signal).entries.get({ query: page === undefined ? {} : { page } })),
  )
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Entries
        </Title>
        {mayEdit && (
          <Group gap="xs">
            {sheet.entries === 0 && <Download path="/token-sheets/template">CSV template</Download>}
            <Button variant={sheet.entries === 0 ? 'filled' : 'default'} onClick={() => setEditing('new')}>
              Add entry
            </Button>
          </Group>
        )}
      </Group>
      <DataTable
        label="Sheet entries"
        list={list}
        rowKey={({ id }) => id}
        open={(entry) => (mayEdit ? setEditing(entry) : navigate(addressOf('/entries', { open: entry.id })))}
        columns={mayEdit ? [...COLUMNS, removal(setRemoving)] : COLUMNS}
        empty={
          <Empty title="No entries yet">
            {mayEdit
              ? 'Add entries one by one, or fill in the CSV template and import it from the menu.'
              : 'Entries appear here once they are added.'}
          </Empty>
        }
      />
      {editing && (
        <EntryForm sheet={sheet} entry={editing === 'new' ? undefined : editing} close={() => setEditing(null)} />
      )}
      <RemoveEntry sheet={sheet} entry={removing} close={() => setRemoving(null)} />
    </div>
  )
}

const COLUMNS: Column<SheetEntry>[] = [
  { key: 'at', title: 'Started', phone: 'bare', width: '160px', cell: ({ started_at }) => <Moment at={started_at} /> },
  {
    key: 'duration',
    title: 'Duration',
    width: '90px',
    phone: 'hidden',
    cell: ({ started_at, ended_at }) => duration(started_at, ended_at),
  },
  {
    key: 'what',
    title: 'Summary',
    phone: 'title',
    cell: ({ summary, agent_name, agent_harness }) => (
      <>
        {summary ?? agent_name}{' '}
        <Text span inherit c="dimmed">
          {agent_harness}
        </Text>
      </>
    ),
  },
  { key: 'model', title: 'Model', phone: 'bare', width: '16%', cell: ({ model }) => model },
  {
    key: 'place',
    title: 'Assigned to',
    width: '15%',
    phone: 'bare',
    cell: ({ project, ticket }) => ticket?.key ?? project?.key ?? <EmptyCell>no project</EmptyCell>,
  },
  {
    key: 'tokens',
    title: 'Tokens',
    isNumber: true,
    width: '90px',
    cell: ({ tokens }) => <Count value={tokens.total} />,
  },
  {
    key: 'cost',
    title: 'Cost (USD)',
    isNumber: true,
    width: '130px',
    phone: 'value',
    cell: ({ cost }) => <Money amount={cost} />,
  },
]

const removal = (remove: (entry: SheetEntry) => void): Column<SheetEntry> => ({
  key: 'remove',
  title: 'Remove',
  width: '84px',
  cell: (entry) => (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={`Remove ${entry.summary ?? entry.agent_name}`}
      onClick={() => remove(entry)}
    >
      <IconX size={15} />
    </ActionIcon>
  ),
})

interface RemoveEntryProps {
  sheet: Sheet
  entry: SheetEntry | null
  close: () => void
}

function RemoveEntry({ sheet, entry, close }: RemoveEntryProps) {
  const remove = useSend({
    send: () => answer(sheetOf(sheet.id).entries({ entry: entry!.id }).delete()),
    changes: SHEET_CHANGES,
    done: () => 'Entry removed.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen={entry !== null}
      close={close}
      title="Remove this entry?"
      action="Remove entry"
      isDangerous
      confirm={() => remove.mutateAsync()}
    >
      <Text size="sm">“{entry?.summary ?? entry?.agent_name}” is permanently removed from the sheet.</Text>
    </Confirm>
  )
}
