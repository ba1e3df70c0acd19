/** The assignment of entries: a project, a ticket, or none. */
import { Input, Stack } from '@mantine/core'
import { ProjectPicker, TicketPicker } from './pickers.tsx'
import { isNew, newTicket, type Place } from './place.ts'
import { Segmented } from './segmented.tsx'
import { Note } from './texts.tsx'

interface PlaceFieldsProps {
  value: Place
  change: (place: Place) => void
  /** Validation errors by `/project` and `/ticket`. */
  errors?: Record<string, string>
}

const KINDS = { project: 'Project', ticket: 'Ticket', nothing: 'None' }

export function PlaceFields({ value, change, errors = {} }: PlaceFieldsProps) {
  const { kind, project, ticket } = value
  const needsProject = kind === 'project' || (ticket !== null && isNew(ticket))
  return (
    <Stack gap="sm">
      <Input.Wrapper label="Assign to" labelElement="div">
        <Segmented
          fullWidth
          size="xs"
          mt={4}
          aria-label="Assign to"
          titles={KINDS}
          value={kind}
          choose={(kind) => change({ ...value, kind })}
        />
      </Input.Wrapper>
      {kind === 'ticket' && (
        <TicketPicker
          label="Ticket"
          placeholder="Key or title"
          value={ticket}
          change={(ticket) => change({ ...value, ticket })}
          offerNew={newTicket}
          error={errors['/ticket']}
        />
      )}
      {kind !== 'nothing' && needsProject && (
        <ProjectPicker
          label={kind === 'ticket' ? 'Project for the new ticket' : 'Project'}
          placeholder="Key or name"
          description={kind === 'ticket' ? 'Not needed if the ticket key starts with a project key.' : undefined}
          value={project}
          change={(project) => change({ ...value, project })}
          error={errors['/project']}
        />
      )}
      {kind === 'nothing' && (
        <Note>They stay unattributed and are not billed to any client. Rules no longer assign them.</Note>
      )}
    </Stack>
  )
}
