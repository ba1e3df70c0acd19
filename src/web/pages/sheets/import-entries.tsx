/** Imports the rows of a CSV template: all of them or none. */
import { Alert, Anchor, Button, FileButton, Group, List, ScrollArea, Stack, Text, Textarea } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { answer } from '../../server/api.ts'
import type { Problem } from '../../server/problem.ts'
import { useSend } from '../../server/send.ts'
import { importIssue } from './import-issue.ts'
import { SHEET_CHANGES, sheetOf } from './sheet-body.ts'

export function ImportEntries({ id, close }: { id: string; close: () => void }) {
  const [text, setText] = useState('')
  const add = useSend({
    send: () => answer(sheetOf(id).import.post(text, { headers: { 'content-type': 'text/csv' } })),
    changes: SHEET_CHANGES,
    done: ({ added }) => `${counted(added, 'entry', 'entries')} added.`,
    after: close,
    quiet: true,
  })
  const change = (next: string) => {
    setText(next)
    add.reset()
  }
  return (
    <FormModal opened onClose={close} title="Import CSV" size="lg">
      <Stack>
        <Text size="sm" c="dimmed">
          The first line names the columns, as in the{' '}
          <Anchor href="/api/v1/token-sheets/template" download inherit underline="always">
            template
          </Anchor>
          ; each row after it is an entry. Either all rows are added or none.
        </Text>
        <Group>
          <FileButton onChange={(file) => void file?.text().then(change)} accept=".csv,text/csv">
            {(props) => (
              <Button variant="default" leftSection={<IconUpload size={16} />} {...props}>
                Choose file
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed">
            or paste the rows below
          </Text>
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
        {add.error && <Issues problem={add.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button disabled={text.trim() === ''} loading={add.isPending} onClick={() => add.mutate()}>
            Import CSV
          </Button>
        </Group>
      </Stack>
    </FormModal>
  )
}

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
