/** Imports the rows of a CSV template: all of them or none. */
import { Alert, Anchor, Button, FileButton, Group, List, ScrollArea, Stack, Text, Textarea } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { shortDayAndTime } from '../../format/moments.ts'
import { cellColumn, exactCountColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { Money } from '../../parts/figures.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import type { Problem } from '../../server/problem.ts'
import { useSend } from '../../server/send.ts'
import { CostQuestion } from './cost-question.tsx'
import { importIssue } from './import-issue.ts'
import { SHEET_CHANGES, type SheetEntry, sheetOf } from './sheet-body.ts'

export function ImportEntries({ id, close }: { id: string; close: () => void }) {
  const [text, setText] = useState('')
  const preview = useSend({
    send: () => answer(sheetOf(id).import.post(text, { ...CSV, query: { dry_run: 'true' } })),
    changes: [],
    quiet: true,
  })
  const add = useSend({
    send: () => answer(sheetOf(id).import.post(text, CSV)),
    changes: SHEET_CHANGES,
    done: ({ added }) => `${counted(added, 'entry', 'entries')} added.`,
    after: close,
    quiet: true,
  })
  const change = (next: string) => {
    setText(next)
    preview.reset()
    add.reset()
  }
  return (
    <FormModal opened onClose={close} title="Import CSV" size="lg">
      <Stack>
        <Note>
          The first line names the columns, as in the{' '}
          <Anchor href="/api/v1/token-sheets/template" download inherit>
            template
          </Anchor>
          ; each row after it is an entry. Either all rows are added or none.
        </Note>
        <Group>
          <FileButton onChange={(file) => void file?.text().then(change)} accept=".csv,text/csv">
            {(props) => (
              <Button variant="default" leftSection={<IconUpload size={16} />} {...props}>
                Choose file
              </Button>
            )}
          </FileButton>
          <Note>or paste the rows below</Note>
        </Group>
        <Textarea
          aria-label="CSV rows"
          autosize
          minRows={6}
          maxRows={14}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13, whiteSpace: 'pre' } }}
          value={text}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        />
        {(preview.error ?? add.error) && <Issues problem={(preview.error ?? add.error)!} />}
        {preview.data && !add.error && <Preview entries={preview.data.data} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          {preview.data && !add.error ? (
            <Button loading={add.isPending} onClick={() => add.mutate()}>
              Import {counted(preview.data.added, 'entry', 'entries')}
            </Button>
          ) : (
            <Button disabled={text.trim() === ''} loading={preview.isPending} onClick={() => preview.mutate()}>
              Preview import
            </Button>
          )}
        </Group>
      </Stack>
    </FormModal>
  )
}

const CSV = { headers: { 'content-type': 'text/csv' } }

const Preview = ({ entries }: { entries: SheetEntry[] }) => {
  const { time_zone } = useSettings()
  const mismatches = entries.filter(({ cost_mismatch }) => cost_mismatch)
  return (
    <Stack gap="xs" aria-live="polite">
      {mismatches.length > 0 && <CostQuestion entries={mismatches} />}
      <DataTable
        label="Entries to import"
        name="imported-entries"
        columns={columnsIn(time_zone)}
        list={entries}
        rowKey={({ id }) => id}
        fold={10}
        empty={null}
      />
    </Stack>
  )
}

const columnsIn = (timeZone: string): Column<SheetEntry>[] => [
  cellColumn(
    'started',
    'Started',
    { value: ({ started_at }) => started_at, width: '130px', phone: 'bare' },
    ({ started_at }) => shortDayAndTime(started_at, timeZone),
  ),
  textColumn('model', 'Model', ({ model }) => model, { phone: 'title' }),
  cellColumn(
    'place',
    'Assigned to',
    { value: (entry) => placeOf(entry), width: '120px' },
    (entry) => placeOf(entry) ?? <EmptyCell>no project</EmptyCell>,
  ),
  exactCountColumn('tokens', 'Tokens', ({ tokens }) => tokens.total, { width: '100px' }),
  cellColumn(
    'cost',
    'Cost (USD)',
    { value: ({ cost }) => cost, isNumber: true, width: '120px', phone: 'value' },
    ({ cost, cost_mismatch }) => (
      <>
        <Money amount={cost} />
        {cost_mismatch && (
          <Text span inherit c="orange">
            {' '}
            check
          </Text>
        )}
      </>
    ),
  ),
]

const placeOf = ({ ticket, project }: SheetEntry) => ticket?.key ?? project?.key

const Issues = ({ problem }: { problem: Problem }) => (
  <Alert color="red" variant="light" title="Nothing was added" role="alert">
    {problem.issues.length === 0 ? (
      <Text size="sm">{problem.message}</Text>
    ) : (
      <ScrollArea.Autosize mah={200} type="auto" viewportProps={{ tabIndex: 0 }}>
        <List size="sm">
          {problem.issues.map((issue) => (
            <List.Item key={`${issue.pointer} ${issue.message}`}>{importIssue(issue)}</List.Item>
          ))}
        </List>
      </ScrollArea.Autosize>
    )}
  </Alert>
)
