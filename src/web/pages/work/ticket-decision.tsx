/** Whether a ticket's project is decided, where reports put it until then, and deciding on it. */
import { Alert, Badge, Button, Group, List, Radio, Stack, Text, Tooltip } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { counted } from '../../format/counts.ts'
import { FormDialogue } from '../../parts/form-dialogue.tsx'
import { type Choice, ProjectPicker, projectLabel } from '../../parts/pickers.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useMe, useRole } from '../../server/me.ts'
import type { Ticket } from './project.ts'

/** What may be different once a ticket has changed. */
export const TICKET_CHANGES = ['tickets', 'entries', 'reports', 'audit'] as const

/** Only who sees the assumed projects can tell. */
const isConflicting = ({ project_decided, assumed_projects }: Ticket): boolean =>
  !project_decided && (assumed_projects?.length ?? 0) > 1

const UNDECIDED =
  'Nobody has set this ticket’s project. Until then, each person’s reports place only their own entries.'
const CONFLICTING = 'People’s reports put this ticket in different projects, and nobody has set its project.'

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

/** The project of a ticket, where reports put it as long as that is not decided, and the button to decide. */
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
      {!project_decided && (
        <Text size="xs" c="dimmed">
          {isConflicting(ticket) ? CONFLICTING : UNDECIDED}
        </Text>
      )}
      <AssumedProjects ticket={ticket} />
    </Stack>
  )
}

/** Whether it is offered. Of other people's entries on the ticket only the server knows: it may still refuse a lead. */
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
      <Text size="xs" c="dimmed">
        Assumed from reports
      </Text>
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
  /** The id of an assumed project, or one of the two below. */
  choice: string
  project: Choice | null
}

/** No ids look like these. */
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
    done: ({ key, project }) => (project ? `The project of ${key} is ${project.key}.` : `${key} has no project now.`),
    after: close,
    fields: ({ choice }) => ({ '/project': choice === OTHER ? 'project' : 'choice' }),
  })
  const isChoice = assumed.length > 0 || mayClear
  return (
    <FormDialogue
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
          This takes the decision back: its entries that are on no bill are in no project, and each person’s reports
          place their own entries again.
        </Alert>
      ) : (
        <Text size="sm" c="dimmed">
          The ticket’s entries that are on no bill move to the project, whoever reported them. All later reports that
          name the ticket go there as well.
        </Text>
      )}
    </FormDialogue>
  )
}

interface OtherProjectProps {
  form: UseFormReturnType<Values>
  /** Whether it stands alone, with no choice above that names it. */
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
      {...(isNamed ? { label: 'Project' } : { 'aria-label': 'Which project' })}
      placeholder="Key or name"
      lead={onlyLed ? person.id : undefined}
      value={value}
      change={onChange}
    />
  )
}
