/** The dialogs that create, show and edit a ticket. */
import { Anchor, Badge, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { Details } from '../../parts/details.tsx'
import { Moment } from '../../parts/figures.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { type Choice, ProjectPicker } from '../../parts/pickers.tsx'
import { addressOfThing } from '../../parts/thing-address.ts'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api, apiUntil } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import type { Ticket } from './project.ts'
import { SetProject, TICKET_CHANGES, TicketProject } from './ticket-decision.tsx'
import { ArchiveWork, RemoveWork } from './work-changes.tsx'

interface Values {
  key: string
  title: string
  project: Choice | null
}

export function NewTicket({ close }: { close: () => void }) {
  const form = useForm<Values>({
    initialValues: { key: '', title: '', project: null },
    validate: { key: (key) => (key.trim() === '' ? 'Enter a key, such as ACME-42.' : null) },
  })
  const sending = useFormSend({
    form,
    send: ({ key, title, project }) =>
      answer(api.tickets.post({ key: key.trim(), title: title.trim() || null, project: project?.value ?? null })),
    changes: TICKET_CHANGES,
    done: ({ key }) => `Ticket ${key} created.`,
    after: close,
  })
  const { value, onChange, ...project } = form.getInputProps('project')
  return (
    <FormDialog {...sending} title="New ticket" action="Create ticket" close={close}>
      <TextInput
        label="Key"
        description="The key that reports use. You can’t change it later."
        placeholder="ACME-42"
        required
        data-autofocus
        {...form.getInputProps('key')}
      />
      <TextInput label="Title" placeholder="What it is about" {...form.getInputProps('title')} />
      <ProjectPicker
        {...project}
        label="Project"
        description="All reports that name the ticket go there. Without a project, each person’s reports assign only their own entries."
        placeholder="None"
        value={value}
        change={onChange}
      />
    </FormDialog>
  )
}

interface TicketDialogProps {
  ticket: Ticket
  close: () => void
  /** Leaves the page of a ticket that was removed. */
  removed?: (() => void) | undefined
}

/** Opened from a list, whose rows have no version: people who may change the ticket get it by itself. */
export function TicketDialog({ ticket: row, close, removed }: TicketDialogProps) {
  const mayChange = row.assumed_projects !== undefined && row.assumed_projects !== null
  const { data, isError } = useQuery({
    queryKey: ['tickets', 'one', row.id],
    queryFn: ({ signal }): Promise<Ticket> => answer(apiUntil(signal).tickets({ id: row.id }).get()),
    enabled: mayChange,
    staleTime: 0,
    gcTime: 0,
  })
  if (mayChange && !data && !isError) return null
  const ticket = data ?? row
  // The server sends assumed projects only to people who may change the ticket.
  return ticket.assumed_projects ? (
    <ChangeTicket ticket={ticket} close={close} removed={removed} />
  ) : (
    <ShowTicket ticket={ticket} close={close} />
  )
}

function ShowTicket({ ticket, close }: TicketDialogProps) {
  const [isDeciding, setDeciding] = useState(false)
  return (
    <>
      <Modal opened onClose={close} title={`Ticket ${ticket.key}`}>
        <Stack>
          <TicketLink ticket={ticket} />
          <Details
            of={[
              ['Title', ticket.title],
              ['Added', <Moment key="at" at={ticket.created_at} />],
            ]}
          />
          <TicketProject ticket={ticket} decide={() => setDeciding(true)} />
        </Stack>
      </Modal>
      {isDeciding && <SetProject ticket={ticket} close={() => setDeciding(false)} />}
    </>
  )
}

const TicketLink = ({ ticket }: { ticket: Ticket }) => (
  <Anchor component={Link} href={addressOfThing('ticket', ticket.id)} size="sm">
    View cost and entries
  </Anchor>
)

function ChangeTicket({ ticket, close, removed = close }: TicketDialogProps) {
  const mayRemove = useRole('billing', 'admin')
  const [open, setOpen] = useState<'archive' | 'remove' | 'project' | null>(null)
  const form = useForm({ initialValues: { title: ticket.title ?? '' } })
  const sending = useFormSend({
    form,
    of: ticket,
    send: ({ title }, options) =>
      answer(api.tickets({ id: ticket.id }).patch({ title: title.trim() || null }, options)),
    changes: TICKET_CHANGES,
    done: ({ key }) => `Ticket ${key} saved.`,
    after: close,
  })
  const isArchived = ticket.archived_at !== null
  const what = { part: 'tickets', id: ticket.id, name: ticket.key, isArchived, close: () => setOpen(null) } as const
  return (
    <>
      <FormDialog
        {...sending}
        title={`Ticket ${ticket.key}`}
        action="Save changes"
        close={close}
        more={
          <>
            <Button variant="subtle" color="gray" size="compact-sm" onClick={() => setOpen('archive')}>
              {isArchived ? 'Restore' : 'Archive'}
            </Button>
            {mayRemove && (
              <Button variant="subtle" color="red" size="compact-sm" onClick={() => setOpen('remove')}>
                Remove
              </Button>
            )}
          </>
        }
      >
        <Group justify="space-between">
          <TicketLink ticket={ticket} />
          {isArchived && <Badge color="gray">archived</Badge>}
        </Group>
        <TextInput label="Title" placeholder="What it is about" data-autofocus {...form.getInputProps('title')} />
        <TicketProject ticket={ticket} decide={() => setOpen('project')} />
      </FormDialog>
      {open === 'project' && <SetProject ticket={ticket} close={() => setOpen(null)} />}
      <ArchiveWork {...what} isOpen={open === 'archive'} />
      <RemoveWork {...what} isOpen={open === 'remove'} removed={removed} />
    </>
  )
}
