import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconCopy, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { addressOf, one, useAddress } from '../../address.ts'
import { duration } from '../../format/moments.ts'
import { cellColumn, momentColumn, textColumn } from '../../parts/columns.tsx'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Download } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Dimmed, SectionTitle } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { useList } from '../../server/list.ts'
import { useSettings } from '../../server/me.ts'
import { EntryForm } from './entry-form.tsx'
import {
  defaultsOf,
  duplicateOf,
  type EntryDefaults,
  type EntryValues,
  emptyEntry,
  isCostOnly,
  timeOfNew,
} from './entry-values.ts'
import { missingFields } from './grid-model.ts'
import { GridView } from './grid-view.tsx'
import { SHEET_CHANGES, type Sheet, type SheetEntry, sheetOf } from './sheet-body.ts'

/** As wide as a grid of a week needs. */
const WIDE = '(min-width: 62em)'

export function SheetEntries({ sheet, mayEdit }: { sheet: Sheet; mayEdit: boolean }) {
  const { time_zone } = useSettings()
  const [{ view }, show] = useAddress({ view: one })
  const isWide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false })
  const shown = view === 'grid' || view === 'list' ? view : isWide ? 'grid' : 'list'
  const { defaults, isAsking } = useDefaults(sheet, mayEdit)
  const [form, setForm] = useState<{ entry: SheetEntry | undefined; start: EntryValues } | null>(null)
  const now = () => timeOfNew(sheet.period, time_zone)
  const add = () => setForm({ entry: undefined, start: emptyEntry(now(), defaults) })
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Group gap="sm">
          <SectionTitle>Entries</SectionTitle>
          <Segmented
            size="xs"
            aria-label="View"
            titles={{ grid: 'Grid', list: 'List' }}
            value={shown}
            choose={(view) => show({ view })}
          />
        </Group>
        {mayEdit && (
          <Group gap="xs">
            {sheet.entries === 0 && <Download path="/token-sheets/template">CSV template</Download>}
            <Button variant="default" loading={isAsking} onClick={add}>
              Add entry
            </Button>
          </Group>
        )}
      </Group>
      {shown === 'grid' ? (
        <GridView sheet={sheet} mayEdit={mayEdit} defaults={defaults} />
      ) : (
        <EntryList
          sheet={sheet}
          mayEdit={mayEdit}
          edit={(entry) => setForm({ entry, start: emptyEntry(now()) })}
          duplicate={(entry) => setForm({ entry: undefined, start: duplicateOf(entry, time_zone, now()) })}
        />
      )}
      {form && <EntryForm sheet={sheet} {...form} close={() => setForm(null)} />}
    </div>
  )
}

/** What the owner of the sheet used last. */
function useDefaults(
  { agent_manager }: Sheet,
  enabled: boolean,
): { defaults: EntryDefaults | undefined; isAsking: boolean } {
  const { data, isLoading } = useQuery({
    queryKey: ['entries', 'last', agent_manager.id],
    queryFn: async ({ signal }) => {
      const query = { agent_manager: [agent_manager.id], limit: '1' }
      return (await answer(apiUntil(signal)['token-entries'].get({ query }))).data[0] ?? null
    },
    enabled,
  })
  return { defaults: data ? defaultsOf(data) : undefined, isAsking: isLoading }
}

interface EntryListProps {
  sheet: Sheet
  mayEdit: boolean
  edit: (entry: SheetEntry) => void
  duplicate: (entry: SheetEntry) => void
}

function EntryList({ sheet, mayEdit, edit, duplicate }: EntryListProps) {
  const [, navigate] = useLocation()
  const { sheet_required_fields: required } = useSettings()
  const [removing, setRemoving] = useState<SheetEntry | null>(null)
  const list = useList(['sheets', 'entries', sheet.id], (page, signal) =>
    answer(sheetOf(sheet.id, signal).entries.get({ query: page === undefined ? {} : { page } })),
  )
  return (
    <div>
      <DataTable
        label="Sheet entries"
        name="sheet-entries"
        list={list}
        rowKey={({ id }) => id}
        open={(entry) => (mayEdit ? edit(entry) : navigate(addressOf('/entries', { open: entry.id })))}
        columns={mayEdit ? [...columnsOf(required), actions(duplicate, setRemoving)] : columnsOf(required)}
        empty={
          <Empty title="No entries yet">
            {mayEdit
              ? 'Add entries one by one, or fill in the CSV template and import it from the menu.'
              : 'Entries appear here once they are added.'}
          </Empty>
        }
      />
      <RemoveEntry sheet={sheet} entry={removing} close={() => setRemoving(null)} />
    </div>
  )
}

const columnsOf = (required: readonly string[]): Column<SheetEntry>[] => [
  momentColumn('at', 'Started', ({ started_at }) => started_at, { phone: 'bare', width: '160px' }),
  cellColumn(
    'duration',
    'Duration',
    {
      value: ({ started_at, ended_at }) => Date.parse(ended_at) - Date.parse(started_at),
      width: '90px',
      phone: 'hidden',
    },
    ({ started_at, ended_at }) => duration(started_at, ended_at),
  ),
  cellColumn(
    'what',
    'Summary',
    { value: ({ summary, agent_name }) => summary ?? agent_name, phone: 'title' },
    (entry) => (
      <>
        {entry.summary ?? entry.agent_name} <Dimmed>{entry.agent_harness}</Dimmed>
        {missingFields(entry, required).length > 0 && (
          <Text size="xs" c="orange">
            Missing: {missingFields(entry, required).join(', ')}
          </Text>
        )}
      </>
    ),
  ),
  textColumn('model', 'Model', ({ model }) => model, { phone: 'bare', width: '16%' }),
  cellColumn(
    'place',
    'Assigned to',
    { value: ({ project, ticket }) => ticket?.key ?? project?.key, width: '15%', phone: 'bare' },
    ({ project, ticket }) => ticket?.key ?? project?.key ?? <EmptyCell>no project</EmptyCell>,
  ),
  cellColumn('tokens', 'Tokens', { value: ({ tokens }) => tokens.total, isNumber: true, width: '90px' }, (entry) =>
    isCostOnly(entry) ? <EmptyCell>cost only</EmptyCell> : <Count value={entry.tokens.total} />,
  ),
  cellColumn('cost', 'Cost', { value: ({ cost }) => cost, isNumber: true, width: '130px', phone: 'value' }, (entry) => (
    <>
      <Money amount={entry.cost} />
      {entry.cost_mismatch && (
        <Text size="xs" c="orange">
          far from the list value
        </Text>
      )}
    </>
  )),
]

const actions = (duplicate: (entry: SheetEntry) => void, remove: (entry: SheetEntry) => void): Column<SheetEntry> =>
  cellColumn('actions', 'Actions', { phone: 'bare', width: '84px' }, (entry) => (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={`Duplicate ${entry.summary ?? entry.agent_name}`}
        onClick={() => duplicate(entry)}
      >
        <IconCopy size={15} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={`Remove ${entry.summary ?? entry.agent_name}`}
        onClick={() => remove(entry)}
      >
        <IconX size={15} />
      </ActionIcon>
    </Group>
  ))

interface RemoveEntryProps {
  sheet: Sheet
  entry: SheetEntry | null
  close: () => void
}

function RemoveEntry({ sheet, entry, close }: RemoveEntryProps) {
  return (
    <ConfirmChange
      isOpen={entry !== null}
      close={close}
      title="Remove this entry?"
      action="Remove entry"
      isDangerous
      send={() => answer(sheetOf(sheet.id).entries({ entry: entry!.id }).delete())}
      changes={SHEET_CHANGES}
      done={() => 'Entry removed.'}
    >
      <Text size="sm">“{entry?.summary ?? entry?.agent_name}” is permanently removed from the sheet.</Text>
    </ConfirmChange>
  )
}
