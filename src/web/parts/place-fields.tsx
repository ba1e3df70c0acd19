/** Where entries belong: on a project, on a ticket, or on nothing. */
import { Input, SegmentedControl, Stack, Text } from '@mantine/core'
import { type Choice, ProjectPicker, TicketPicker } from './pickers.tsx'

export interface Place {
  kind: 'project' | 'ticket' | 'nothing'
  project: Choice | null
  ticket: Choice | null
}

export const NO_PLACE: Place = { kind: 'project', project: null, ticket: null }

/** A ticket that is only about to be made has no id. */
const NEW = 'new:'
const isNew = (ticket: Choice): boolean => ticket.value.startsWith(NEW)

export const isChosen = ({ kind, project, ticket }: Place): boolean =>
  kind === 'nothing' || (kind === 'project' ? project !== null : ticket !== null)

/** As the API takes it. A ticket brings its project along; only of a new one the project has to be said. */
export function placeBody({ kind, project, ticket }: Place): { project?: string | null; ticket?: string | null } {
  if (kind === 'nothing') return { project: null, ticket: null }
  if (kind === 'project') return { project: project!.value, ticket: null }
  if (!isNew(ticket!)) return { ticket: ticket!.value }
  return { ticket: ticket!.label, ...(project && { project: project.value }) }
}

/** `ACME`, `ACME-42`, or `nothing`. */
export function placeInWords({ kind, project, ticket }: Place): string {
  if (kind === 'nothing') return 'nothing'
  return (kind === 'project' ? project?.label : ticket?.label) ?? '…'
}

interface PlaceFieldsProps {
  value: Place
  change: (place: Place) => void
  /** By `/project` and `/ticket`, what the API had to say. */
  errors?: Record<string, string>
}

const KINDS = [
  { value: 'project', label: 'A project' },
  { value: 'ticket', label: 'A ticket' },
  { value: 'nothing', label: 'Nothing' },
]

export function PlaceFields({ value, change, errors = {} }: PlaceFieldsProps) {
  const { kind, project, ticket } = value
  const needsProject = kind === 'project' || (ticket !== null && isNew(ticket))
  return (
    <Stack gap="sm">
      <Input.Wrapper label="Place on" labelElement="div">
        <SegmentedControl
          fullWidth
          size="xs"
          mt={4}
          aria-label="Place on"
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
          label={kind === 'ticket' ? 'Project of the new ticket' : 'Project'}
          placeholder="Key or name"
          description={kind === 'ticket' ? 'Not needed where the key begins with that of a project.' : undefined}
          value={project}
          change={(project) => change({ ...value, project })}
          error={errors['/project']}
        />
      )}
      {kind === 'nothing' && (
        <Text size="sm" c="dimmed">
          They belong to no project and go on no client’s bill. Rules leave them alone from then on.
        </Text>
      )}
    </Stack>
  )
}
