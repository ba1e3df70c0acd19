/** The assignment of entries: a project, a ticket, or none. */
import { Input, SegmentedControl, Stack, Text } from '@mantine/core'
import { type Choice, ProjectPicker, TicketPicker } from './pickers.tsx'

export interface Place {
  kind: 'project' | 'ticket' | 'nothing'
  project: Choice | null
  ticket: Choice | null
}

export const NO_PLACE: Place = { kind: 'project', project: null, ticket: null }

/** Marks a ticket that will be created. */
const NEW = 'new:'
const isNew = (ticket: Choice): boolean => ticket.value.startsWith(NEW)

export const isChosen = ({ kind, project, ticket }: Place): boolean =>
  kind === 'nothing' || (kind === 'project' ? project !== null : ticket !== null)

/** The API's body. A ticket implies its project; only a new ticket needs one. */
export function placeBody({ kind, project, ticket }: Place): { project?: string | null; ticket?: string | null } {
  if (kind === 'nothing') return { project: null, ticket: null }
  if (kind === 'project') return { project: project!.value, ticket: null }
  if (!isNew(ticket!)) return { ticket: ticket!.value }
  return { ticket: ticket!.label, ...(project && { project: project.value }) }
}

/** `ACME`, `ACME-42`, or `none`. */
export function placeInWords({ kind, project, ticket }: Place): string {
  if (kind === 'nothing') return 'none'
  return (kind === 'project' ? project?.label : ticket?.label) ?? '…'
}

interface PlaceFieldsProps {
  value: Place
  change: (place: Place) => void
  /** Validation errors by `/project` and `/ticket`. */
  errors?: Record<string, string>
}

const KINDS = [
  { value: 'project', label: 'Project' },
  { value: 'ticket', label: 'Ticket' },
  { value: 'nothing', label: 'None' },
]

export function PlaceFields({ value, change, errors = {} }: PlaceFieldsProps) {
  const { kind, project, ticket } = value
  const needsProject = kind === 'project' || (ticket !== null && isNew(ticket))
  return (
    <Stack gap="sm">
      <Input.Wrapper label="Assign to" labelElement="div">
        <SegmentedControl
          fullWidth
          size="xs"
          mt={4}
          aria-label="Assign to"
          data={KINDS}
          value={kind}
          onChange={(chosen) => change({ ...value, kind: chosen as Place['kind'] })}
        />
      </Input.Wrapper>
      {kind === 'ticket' && (
        <TicketPicker
          label="Ticket"
          placeholder="Key or title"
          value={ticket}
          change={(ticket) => change({ ...value, ticket })}
          offerNew={(typed) => ({ value: `${NEW}${typed}`, label: typed })}
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
        <Text size="sm" c="dimmed">
          They stay unattributed and are not billed to any client. Rules no longer assign them.
        </Text>
      )}
    </Stack>
  )
}
