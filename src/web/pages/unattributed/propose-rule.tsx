/** The dialog in which a lead proposes a rule for a repository. */
import { Select, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { proposals } from '../../parts/proposals.ts'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { type Group, ticketOf } from './groups.ts'
import type { LedProject } from './led-repositories.ts'
import { type NewProposal, ProposalTest } from './proposal-test.tsx'

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

const bodyOf = ({ name, project, branch, ticket }: Values, repository: string): NewProposal => ({
  name: name.trim(),
  repository,
  project,
  conditions: branch.trim() === '' ? [] : [{ field: 'labels.branch', matches: branch.trim() }],
  ticket: ticket.trim() === '' ? null : ticket.trim(),
})

export function ProposeRule({ group, projects, close }: ProposeRuleProps) {
  const { repository } = group
  const { lead_rules } = useSettings()
  const title = lead_rules ? 'Create rule' : 'Propose rule'
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
    send: (values) => answer(proposals.post(bodyOf(values, repository))),
    changes: ['rules', 'audit'],
    done: ({ name, state }) =>
      state === 'accepted'
        ? `Rule “${name}” created. It applies to new entries from now on.`
        : `Rule “${name}” proposed. An admin decides about it.`,
    after: close,
    fields: { '/conditions/0/matches': 'branch', '/conditions': 'branch', '/repository': 'project' },
  })
  return (
    <FormDialog {...sending} title={title} action={title} close={close}>
      <Text size="sm">
        Assigns further entries of <bdi>{repository}</bdi> whose report names no project or ticket
        {lead_rules ? ', after all rules of admins.' : ', once an admin accepts it.'}
      </Text>
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
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
      <ProposalTest proposal={bodyOf(form.values, repository)} />
    </FormDialog>
  )
}
