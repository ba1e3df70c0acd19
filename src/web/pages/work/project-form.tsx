/** The form that creates or edits a project. */
import { SimpleGrid, Switch, TagsInput, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { COST_DIGITS, DecimalField, PERCENT_DIGITS } from '../../parts/number-fields.tsx'
import { issueFieldsOf, namesOf, PeopleField, peopleOf } from '../../parts/people-field.tsx'
import { type Choice, ClientPicker } from '../../parts/pickers.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import type { Project } from './project.ts'
import { RepositoryField } from './repository-field.tsx'

interface Values {
  key: string
  name: string
  aliases: string[]
  client: Choice | null
  billable: boolean
  /** An empty string if there is none. */
  markup: number | string
  budget: number | string
  /** Names of current people, e-mail addresses of new ones. */
  leads: string[]
  approvers: string[]
  repositories: string[]
}

const EMPTY: Values = {
  key: '',
  name: '',
  aliases: [],
  client: null,
  billable: true,
  markup: '',
  budget: '',
  leads: [],
  approvers: [],
  repositories: [],
}

const valuesOf = ({ key, name, aliases, client, billable, markup, budget, ...project }: Project): Values => ({
  key,
  name,
  aliases,
  client: client && { value: client.id, label: client.name },
  billable: billable ?? true,
  markup: markup ?? '',
  budget: budget ?? '',
  leads: namesOf(project.leads),
  approvers: namesOf(project.approvers),
  repositories: project.repositories ?? [],
})

export const numberOrNull = (value: number | string): number | null => (value === '' ? null : Number(value))

function bodyOf(values: Values, project: Project | undefined) {
  return {
    key: values.key.trim(),
    ...(values.name.trim() === '' ? {} : { name: values.name.trim() }),
    aliases: values.aliases,
    client: values.client?.value ?? null,
    billable: values.billable,
    markup: numberOrNull(values.markup),
    budget: numberOrNull(values.budget),
    leads: peopleOf(values.leads, project?.leads),
    approvers: peopleOf(values.approvers, project?.approvers),
    repositories: values.repositories,
  }
}

interface ProjectFormProps {
  project?: Project
  close: () => void
  saved?: (project: Project) => void
}

export function ProjectForm({ project, close, saved }: ProjectFormProps) {
  const mayChangeAll = useRole('billing', 'admin')
  const form = useForm<Values>({
    initialValues: project ? valuesOf(project) : EMPTY,
    validate: { key: (key) => (key.trim() === '' ? 'Enter a short key, such as ACME.' : null) },
  })
  const sending = useFormSend({
    form,
    of: project,
    send: (values, options) => {
      const body = bodyOf(values, project)
      if (!project) return answer(api.projects.post(body))
      // Leads may change only the aliases.
      return answer(api.projects({ id: project.id }).patch(mayChangeAll ? body : { aliases: body.aliases }, options))
    },
    changes: ['projects', 'budgets', 'me', 'reports', 'audit'],
    done: ({ key }) => `Project ${key} saved.`,
    after: (changed) => {
      close()
      saved?.(changed)
    },
    fields: issueFields,
  })
  return (
    <FormDialog
      {...sending}
      title={project ? `Edit ${project.key}` : 'New project'}
      action={project ? 'Save changes' : 'Create project'}
      close={close}
      size="lg"
    >
      {mayChangeAll && <NameFields form={form} isNew={!project} />}
      <TagsInput
        label="Aliases"
        description={
          mayChangeAll
            ? 'Reports that use one of these names, such as a repository, are assigned to this project. Press Enter after each.'
            : 'Reports that use one of these names are assigned to this project. Press Enter after each. You can add and remove names of several words; for others, ask someone with the billing or admin role.'
        }
        clearable
        {...form.getInputProps('aliases')}
      />
      {mayChangeAll && <RepositoryField project={project} {...form.getInputProps('repositories')} />}
      {mayChangeAll && <MoneyFields form={form} />}
    </FormDialog>
  )
}

type Form = UseFormReturnType<Values>

/** Issues with one alias or person are shown at the field that lists them all. */
const issueFields = ({ aliases, leads, approvers, repositories }: Values) => ({
  ...issueFieldsOf('repositories', repositories),
  ...issueFieldsOf('aliases', aliases),
  ...issueFieldsOf('leads', leads),
  ...issueFieldsOf('approvers', approvers),
})

const NameFields = ({ form, isNew }: { form: Form; isNew: boolean }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }}>
    <TextInput
      label="Key"
      description={isNew ? 'A short name for reports and tickets.' : 'The previous key becomes an alias.'}
      placeholder="ACME"
      required
      data-autofocus
      {...form.getInputProps('key')}
    />
    <TextInput
      label="Name"
      description="The display name. Defaults to the key."
      placeholder="Acme web"
      {...form.getInputProps('name')}
    />
  </SimpleGrid>
)

function MoneyFields({ form }: { form: Form }) {
  const { value, onChange, ...client } = form.getInputProps('client')
  return (
    <>
      <ClientPicker
        {...client}
        label="Client"
        description="Who receives its bills. Create clients in the Clients tab."
        placeholder="None"
        value={value}
        change={onChange}
      />
      <PeopleField
        label="Leads"
        description="Leads see all entries of the project, and can approve and assign them. Type e-mail addresses and press Enter after each."
        {...form.getInputProps('leads')}
      />
      <PeopleField
        label="Approvers"
        description="Approvers can approve its entries and token sheets, and see only what they can decide about."
        {...form.getInputProps('approvers')}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <DecimalField
          label="Budget (USD)"
          description="The total that its work may cost."
          placeholder="None"
          min={0}
          digits={COST_DIGITS}
          currency="USD"
          {...form.getInputProps('budget')}
        />
        <DecimalField
          label="Markup (%)"
          description="Added to costs on bills."
          placeholder="Client default"
          unit="%"
          digits={PERCENT_DIGITS}
          {...form.getInputProps('markup')}
        />
      </SimpleGrid>
      <Switch
        label="Billable"
        description="Turn off for unpaid work. Bills list the entries that they leave out."
        {...form.getInputProps('billable', { type: 'checkbox' })}
      />
    </>
  )
}
