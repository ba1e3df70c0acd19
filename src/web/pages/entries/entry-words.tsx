/** The summary and labels of an entry, and a form to edit them. */
import { ActionIcon, Button, Group, Stack, Textarea, Title, Tooltip } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { CHANGED_BY_ENTRIES, type Entry } from '../../parts/entries/entry.ts'
import { Refusal } from '../../parts/form.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { DrawerForm, useOpener } from './drawer-form.tsx'
import { rightsTo } from './rights.ts'

export function EntryWords({ entry }: { entry: Entry }) {
  const [isCorrecting, setCorrecting] = useState(false)
  const { correct } = rightsTo(entry, useMe())
  const opener = useOpener(isCorrecting)
  if (isCorrecting) return <Correction entry={entry} close={() => setCorrecting(false)} />
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Title order={3} fw={600} fz="lg" lh={1.35} c={entry.summary === null ? 'dimmed' : undefined}>
        <bdi>{entry.summary ?? 'No summary'}</bdi>
      </Title>
      {correct && (
        <Tooltip label="Edit summary and labels">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Edit summary and labels"
            ref={opener}
            onClick={() => setCorrecting(true)}
          >
            <IconPencil size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  )
}

function Correction({ entry, close }: { entry: Entry; close: () => void }) {
  const form = useForm({
    initialValues: { summary: entry.summary ?? '', labels: labelLines(entry.labels) },
    validate: {
      labels: (text) => {
        const bad = linesOf(text).find((line) => !LABEL.test(line))
        return bad === undefined
          ? null
          : `“${bad}” is not a valid label. Use “name: value”, with only a-z, 0-9, _, . and - in the name.`
      },
    },
  })
  const sending = useFormSend({
    form,
    of: entry,
    send: ({ summary, labels }: typeof form.values, options) => {
      const change = { summary: summary.trim() === '' ? null : summary, labels: readLabels(labels) }
      return answer(api['token-entries']({ id: entry.id }).patch(change, options))
    },
    changes: CHANGED_BY_ENTRIES,
    done: () => 'Entry updated.',
    after: close,
  })
  return (
    <DrawerForm close={close} submit={sending.submit}>
      <Stack gap="sm">
        <Refusal text={sending.refusal} />
        <Textarea label="Summary" autosize minRows={1} maxRows={6} {...form.getInputProps('summary')} />
        <Textarea
          label="Labels"
          description="One per line, such as repository: acme/web. Rules run again unless a person or report assigned the entry."
          autosize
          minRows={2}
          {...form.getInputProps('labels')}
        />
        <Group gap="xs">
          <Button type="submit" size="xs" loading={sending.isSending}>
            Save changes
          </Button>
          <Button size="xs" variant="default" onClick={close}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </DrawerForm>
  )
}

const LABEL = /^[a-z0-9_.-]{1,64}\s*:/

const labelLines = (labels: Entry['labels']): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const readLabels = (text: string): Entry['labels'] =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
