/** Adding the rows of a filled template: all of them, or none. */
import { Alert, Anchor, Button, FileButton, Group, List, Modal, ScrollArea, Stack, Text, Textarea } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { answer } from '../../server/api.ts'
import { type Problem, sentence } from '../../server/problem.ts'
import { useSend } from '../../server/send.ts'
import { SHEET_CHANGES, sheetOf } from './sheet-body.ts'

export function ImportEntries({ id, close }: { id: string; close: () => void }) {
  const [text, setText] = useState('')
  const add = useSend({
    send: () => answer(sheetOf(id).import.post(text, { headers: { 'content-type': 'text/csv' } })),
    changes: SHEET_CHANGES,
    done: ({ added }) => `${counted(added, 'entry is', 'entries are')} added.`,
    after: close,
    quiet: true,
  })
  const change = (next: string) => {
    setText(next)
    add.reset()
  }
  return (
    <Modal opened onClose={close} title="Add rows of a CSV file" size="lg" closeOnClickOutside={false}>
      <Stack>
        <Text size="sm" c="dimmed">
          Its first line names the columns, as the{' '}
          <Anchor href="/api/v1/token-sheets/template" download inherit underline="always">
            template
          </Anchor>{' '}
          does; each row below is an entry. All rows are added, or none.
        </Text>
        <Group>
          <FileButton onChange={(file) => void file?.text().then(change)} accept=".csv,text/csv">
            {(props) => (
              <Button variant="default" leftSection={<IconUpload size={16} />} {...props}>
                Choose a file
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed">
            or paste it
          </Text>
        </Group>
        <Textarea
          aria-label="Rows"
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
            Add the rows
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const LINE = /^\/lines\/(\d+)\/?(.*)$/

/** `/lines/7/started_at` as a person finds it in the file. */
function placeOf(pointer: string): string {
  const [, line, column] = LINE.exec(pointer) ?? []
  if (line === undefined) return ''
  return `Line ${line}${column ? `, ${column.replaceAll('/', '.')}` : ''}: `
}

const Issues = ({ problem }: { problem: Problem }) => (
  <Alert color="red" variant="light" title="Nothing was added" role="alert">
    {problem.issues.length === 0 ? (
      <Text size="sm">{problem.message}</Text>
    ) : (
      <ScrollArea.Autosize mah={200} type="auto" viewportProps={{ tabIndex: 0 }}>
        <List size="sm">
          {problem.issues.map(({ pointer, message }) => {
            const place = placeOf(pointer)
            return (
              <List.Item key={`${pointer} ${message}`}>
                {place}
                {place === '' ? sentence(message) : `${message}.`}
              </List.Item>
            )
          })}
        </List>
      </ScrollArea.Autosize>
    )}
  </Alert>
)
