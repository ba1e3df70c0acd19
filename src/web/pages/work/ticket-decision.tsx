/** A ticket's project: whether it is set, which projects reports assume until then, and the form that sets it. */
import { Alert, Badge, Button, Group, List, Radio, Stack, Text, Tooltip } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { counted } from '../../format/counts.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { type Choice, ProjectPicker } from '../../parts/pickers.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Caption, Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useMe, useRole } from '../../server/me.ts'
import type { Ticket } from './project.ts'

/** Parts of the API that a change to a ticket affects. */
export const TICKET_CHANGES = ['tickets', 'entries', 'reports', 'audit'] as const

/** False for people who don't see the assumed projects. */
const isConflicting = ({ project_decided, assumed_projects }: Ticket): boolean =>
  !project_decided && (assumed_projects?.length ?? 0) > 1

const UNDECIDED =
  'No one has set this ticket’s project. Until someone does, each person’s reports assign only their own entries.'
const CONFLICTING =
  'Reports from different people assign this ticket to different projects, and nobody has set its project.'

export function DecisionBadge({ ticket }: { ticket: Ticket }) {
  if (ticket.project_decided) return null
  const conflicts = isConflicting(ticket)
  return (
    <Tooltip label={conflicts ? CONFLICTING : UNDECIDED} multiline maw={300}>
      <Badge color={conflicts ? 'orange' : 'gray'} style={{ flexShrink: 0 }}>
        {conflicts ? 'Conflicting' : 'Not decided'}
      </Badge>
    </Tooltip>
  )
}

interface TicketProjectProps {
  ticket: Ticket
  /** Opens {@link SetProject}, which cannot be inside of the form that this may be in: both would be sent. */
  decide: () => void
}

/** A ticket's project, or the projects assumed from reports while it is not set, and the button to set it. */
export function TicketProject({ ticket, decide }: TicketProjectProps) {
  const mayDecide = useMayDecide(ticket)
  const { project, project_decided } = ticket
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Group gap={6}>
          <Text size="sm">{project ? `Project ${projectLabel(project)}` : 'No project'}</Text>
          <DecisionBadge ticket={ticket} />
        </Group>
        {mayDecide && (
          <Button size="xs" variant="default" onClick={decide}>
            {project_decided ? 'Change project' : 'Set project'}
          </Button>
        )}
      </Group>
      {!project_decided && <Caption>{isConflicting(ticket) ? CONFLICTING : UNDECIDED}</Caption>}
      <AssumedProjects ticket={ticket} />
    </Stack>
  )
}

/** Whether to offer the button. The server may still refuse a lead, because only it knows of other people's entries. */
function useMayDecide({ project, project_decided }: Ticket): boolean {
  const mayDecideAll = useRole('billing', 'admin')
  const { leads, ledIds } = useMe()
  if (mayDecideAll || !project_decided) return mayDecideAll || leads
  return ledIds.length > 1 && ledIds.includes(project?.id ?? '')
}

const people = (count: number): string => counted(count, 'person', 'people')

const AssumedProjects = ({ ticket: { project_decided, assumed_projects = [] } }: { ticket: Ticket }) =>
  !project_decided &&
  assumed_projects.length > 0 && (
    <div>
      <Caption>Assumed from reports</Caption>
      <List size="sm">
        {assumed_projects.map(({ project, agent_managers }) => (
          <List.Item key={project?.id ?? 'none'}>
            {project ? projectLabel(project) : 'No project'}, {people(agent_managers)}
          </List.Item>
        ))}
      </List>
    </div>
  )

interface Values {
  /** The id of an assumed project, {@link OTHER} or {@link NONE}. */
  choice: string
  project: Choice | null
}

/** Not valid ids, so they can't clash with one. */
const OTHER = 'other'
const NONE = 'none'

export function SetProject({ ticket, close }: { ticket: Ticket; close: () => void }) {
  const mayDecideAll = useRole('billing', 'admin')
  const { key, project_decided, project: current } = ticket
  const assumed = (ticket.assumed_projects ?? []).flatMap(({ project, agent_managers }) =>
    project ? [{ ...project, agent_managers }] : [],
  )
  const mayClear = mayDecideAll && project_decided
  const form = useForm<Values>({
    initialValues: {
      choice: assumed.length === 1 ? assumed[0]!.id : assumed.length > 1 ? '' : OTHER,
      project: project_decided && current ? { value: current.id, label: projectLabel(current) } : null,
    },
    validate: {
      choice: (choice) => (choice === '' ? 'Choose a project.' : null),
      project: (project, { choice }) => (choice === OTHER && !project ? 'Choose a project.' : null),
    },
  })
  const sending = useFormSend({
    form,
    send: ({ choice, project }) => {
      const decided = choice === NONE ? null : choice === OTHER ? project!.value : choice
      return answer(api.tickets({ id: ticket.id }).patch({ project: decided }))
    },
    changes: TICKET_CHANGES,
    done: ({ key, project }) => (project ? `${key} now belongs to ${project.key}.` : `${key} no longer has a project.`),
    after: close,
    fields: ({ choice }) => ({ '/project': choice === OTHER ? 'project' : 'choice' }),
  })
  const isChoice = assumed.length > 0 || mayClear
  return (
    <FormDialog
      {...sending}
      title={project_decided ? `Change the project of ${key}` : `Set the project of ${key}`}
      action={project_decided ? 'Change project' : 'Set project'}
      close={close}
    >
      {isChoice && (
        <Radio.Group label="Project" {...form.getInputProps('choice')}>
          <Stack gap="xs" mt="xs">
            {assumed.map(({ agent_managers, ...project }) => (
              <Radio
                key={project.id}
                value={project.id}
                label={projectLabel(project)}
                description={`Assumed from the reports of ${people(agent_managers)}`}
              />
            ))}
            <Radio value={OTHER} label={assumed.length > 0 ? 'Another project' : 'A project'} />
            {mayClear && <Radio value={NONE} label="No project" />}
          </Stack>
        </Radio.Group>
      )}
      {form.values.choice === OTHER && <OtherProject form={form} isNamed={!isChoice} onlyLed={!mayDecideAll} />}
      {form.values.choice === NONE ? (
        <Alert color="orange" variant="light">
          This clears the project of the ticket: its unbilled entries are in no project, and each person’s reports
          assign only their own entries again.
        </Alert>
      ) : (
        <Note>
          All unbilled entries of the ticket move to this project, no matter who reported them. Later reports that name
          the ticket go there as well.
        </Note>
      )}
    </FormDialog>
  )
}

interface OtherProjectProps {
  form: UseFormReturnType<Values>
  /** Whether it needs its own label, because there is no choice above it. */
  isNamed: boolean
  onlyLed: boolean
}

/** A lead may choose among their own projects. */
function OtherProject({ form, isNamed, onlyLed }: OtherProjectProps) {
  const { person } = useMe()
  const { value, onChange, ...field } = form.getInputProps('project')
  return (
    <ProjectPicker
      {...field}
      {...(isNamed ? { label: 'Project' } : { 'aria-label': 'Other project' })}
      placeholder="Key or name"
      lead={onlyLed ? person.id : undefined}
      value={value}
      change={onChange}
    />
  )
}
