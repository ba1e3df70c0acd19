/** The dialog in which a lead proposes a rule for a repository. */
import { Select, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { proposals } from '../../parts/proposals.ts'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer } from '../../server/api.ts'
import { type Group, ticketOf } from './groups.ts'
import type { LedProject } from './led-repositories.ts'

interface ProposeRuleProps {
  group: Group & { repository: string }
  /** Those of the person's projects that have the repository. */
  projects: readonly LedProject[]
  close: () => void
}

interface Values {
  name: string
  project: string
  branch: string
  ticket: string
}

export function ProposeRule({ group, projects, close }: ProposeRuleProps) {
  const { repository } = group
  const form = useForm<Values>({
    initialValues: {
      name: group.rule.name,
      project: (projects.find(({ id }) => id === group.suggestion?.project?.id) ?? projects[0]!).id,
      branch: group.branch_pattern ?? '',
      ticket: ticketOf(group),
    },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  })
  const sending = useFormSend({
    form,
    send: ({ name, project, branch, ticket }) =>
      answer(
        proposals.post({
          name: name.trim(),
          repository,
          project,
          conditions: branch.trim() === '' ? [] : [{ field: 'labels.branch', matches: branch.trim() }],
          ticket: ticket.trim() === '' ? null : ticket.trim(),
        }),
      ),
    changes: ['rules', 'audit'],
    done: ({ name }) => `Rule “${name}” proposed. An admin decides about it.`,
    after: close,
    fields: { '/conditions/1/matches': 'branch', '/conditions': 'branch', '/repository': 'project' },
  })
  return (
    <FormDialog {...sending} title="Propose rule" action="Propose rule" close={close}>
      <Text size="sm">
        Assigns further entries of <bdi>{repository}</bdi> whose report names no project or ticket, once an admin
        accepts it.
      </Text>
      <TextInput label="Name" maxLength={200} required data-autofocus {...form.getInputProps('name')} />
      <Select
        label="Assign to project"
        description="Those of your projects that have this repository."
        data={projects.map((project) => ({ value: project.id, label: projectLabel(project) }))}
        allowDeselect={false}
        required
        {...form.getInputProps('project')}
      />
      <TextInput
        label="Only branches"
        description="Optional. A glob, such as feature/*, or a regex between slashes, such as /(?<ticket>ACME-[0-9]+)/."
        spellCheck={false}
        {...form.getInputProps('branch')}
      />
      <TextInput
        label="Assign to ticket"
        description="Optional. A named group of the regex can be used in braces, such as {ticket}."
        spellCheck={false}
        {...form.getInputProps('ticket')}
      />
    </FormDialog>
  )
}
