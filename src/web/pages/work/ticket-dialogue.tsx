/** Adding a ticket, looking at one and changing it. */
import { Anchor, Badge, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { Details } from '../../parts/details.tsx'
import { Moment } from '../../parts/figures.tsx'
import { FormDialogue } from '../../parts/form-dialogue.tsx'
import { type Choice, ProjectPicker, projectLabel } from '../../parts/pickers.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useMe, useRole } from '../../server/me.ts'
import type { Ticket } from './project.ts'
import { ArchiveWork, RemoveWork } from './work-changes.tsx'

interface Values {
  key: string
  title: string
  project: Choice | null
}

const CHANGES = ['tickets', 'entries', 'reports', 'audit'] as const

export function NewTicket({ close }: { close: () => void }) {
  const form = useForm<Values>({
    initialValues: { key: '', title: '', project: null },
    validate: { key: (key) => (key.trim() === '' ? 'Is required, such as ACME-42.' : null) },
  })
  const sending = useFormSend({
    form,
    send: ({ key, title, project }) =>
      answer(api.tickets.post({ key: key.trim(), title: title.trim() || null, project: project?.value ?? null })),
    changes: CHANGES,
    done: ({ key }) => `The ticket ${key} is added.`,
    after: close,
  })
  const { value, onChange, ...project } = form.getInputProps('project')
  return (
    <FormDialogue {...sending} title="New ticket" action="Add the ticket" close={close}>
      <TextInput
        label="Key"
        description="As reports name it. It stays as it is."
        placeholder="ACME-42"
        required
        data-autofocus
        {...form.getInputProps('key')}
      />
      <TextInput label="Title" placeholder="What it is about" {...form.getInputProps('title')} />
      <ProjectPicker {...project} label="Project" placeholder="None" value={value} change={onChange} />
    </FormDialogue>
  )
}

interface TicketDialogueProps {
  ticket: Ticket
  close: () => void
}

export function TicketDialogue({ ticket, close }: TicketDialogueProps) {
  const mayChangeAll = useRole('billing', 'admin')
  const leads = useMe().ledIds.includes(ticket.project?.id ?? '')
  if (mayChangeAll || leads) return <ChangeTicket ticket={ticket} close={close} mayChangeAll={mayChangeAll} />
  return (
    <Modal opened onClose={close} title={ticket.key}>
      <Stack>
        <TicketDetails ticket={ticket} />
        <EntriesLink ticket={ticket} />
      </Stack>
    </Modal>
  )
}

const TicketDetails = ({ ticket: { title, project, created_at } }: { ticket: Ticket }) => (
  <Details
    of={[
      ['Title', title],
      ['Project', project ? projectLabel(project) : 'none'],
      ['Added', <Moment key="at" at={created_at} />],
    ]}
  />
)

const EntriesLink = ({ ticket }: { ticket: Ticket }) => (
  <Anchor component={Link} href={addressOf('/entries', { ticket: ticket.key })} size="sm">
    Its entries
  </Anchor>
)

function ChangeTicket({ ticket, close, mayChangeAll }: TicketDialogueProps & { mayChangeAll: boolean }) {
  const [open, setOpen] = useState<'archive' | 'remove' | null>(null)
  const form = useForm<Values>({
    initialValues: {
      key: ticket.key,
      title: ticket.title ?? '',
      project: ticket.project && { value: ticket.project.id, label: projectLabel(ticket.project) },
    },
  })
  const sending = useFormSend({
    form,
    send: ({ title, project }) =>
      answer(
        api.tickets({ id: ticket.id }).patch({
          title: title.trim() || null,
          ...(mayChangeAll ? { project: project?.value ?? null } : {}),
        }),
      ),
    changes: CHANGES,
    done: ({ key }) => `The ticket ${key} is saved.`,
    after: close,
  })
  const { value, onChange, ...project } = form.getInputProps('project')
  const isArchived = ticket.archived_at !== null
  const what = { part: 'tickets', id: ticket.id, name: ticket.key, isArchived, close: () => setOpen(null) } as const
  return (
    <>
      <FormDialogue
        {...sending}
        title={`Ticket ${ticket.key}`}
        action="Save"
        close={close}
        more={
          <>
            <Button variant="subtle" color="gray" size="compact-sm" onClick={() => setOpen('archive')}>
              {isArchived ? 'Restore' : 'Archive'}
            </Button>
            {mayChangeAll && (
              <Button variant="subtle" color="red" size="compact-sm" onClick={() => setOpen('remove')}>
                Remove
              </Button>
            )}
          </>
        }
      >
        <Group justify="space-between">
          <EntriesLink ticket={ticket} />
          {isArchived && <Badge color="gray">archived</Badge>}
        </Group>
        <TextInput label="Title" placeholder="What it is about" data-autofocus {...form.getInputProps('title')} />
        {mayChangeAll ? (
          <ProjectPicker
            {...project}
            label="Project"
            description="Its entries that are on no bill follow it."
            placeholder="None"
            value={value}
            change={onChange}
          />
        ) : (
          <Text size="sm" c="dimmed">
            Project {ticket.project?.key}
          </Text>
        )}
      </FormDialogue>
      <ArchiveWork {...what} isOpen={open === 'archive'} />
      <RemoveWork {...what} isOpen={open === 'remove'} removed={close} />
    </>
  )
}
