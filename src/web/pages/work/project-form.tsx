/** Adding a project, and changing one. */
import { NumberInput, SimpleGrid, Switch, TagsInput, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialogue } from '../../parts/form-dialogue.tsx'
import { type Choice, ClientPicker } from '../../parts/pickers.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import type { Project } from './project.ts'

interface Values {
  key: string
  name: string
  aliases: string[]
  client: Choice | null
  billable: boolean
  /** An empty text where there is none. */
  markup: number | string
  budget: number | string
  /** Names of those who lead it already, e-mail addresses of others. */
  leads: string[]
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
}

const valuesOf = ({ key, name, aliases, client, billable, markup, budget, leads }: Project): Values => ({
  key,
  name,
  aliases,
  client: client && { value: client.id, label: client.name },
  billable: billable ?? true,
  markup: markup ?? '',
  budget: budget ?? '',
  leads: (leads ?? []).map(({ name }) => name),
})

export const numberOrNull = (value: number | string): number | null => (value === '' ? null : Number(value))

function bodyOf(values: Values, project: Project | undefined) {
  const known = new Map(project?.leads?.map(({ id, name }) => [name, id]))
  return {
    key: values.key.trim(),
    ...(values.name.trim() === '' ? {} : { name: values.name.trim() }),
    aliases: values.aliases,
    client: values.client?.value ?? null,
    billable: values.billable,
    markup: numberOrNull(values.markup),
    budget: numberOrNull(values.budget),
    leads: values.leads.map((lead) => known.get(lead) ?? lead),
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
    validate: { key: (key) => (key.trim() === '' ? 'Is required: short, such as ACME.' : null) },
  })
  const sending = useFormSend({
    form,
    send: (values) => {
      const body = bodyOf(values, project)
      if (!project) return answer(api.projects.post(body))
      // Who leads it may change nothing else, and need not send it.
      return answer(api.projects({ id: project.id }).patch(mayChangeAll ? body : { aliases: body.aliases }))
    },
    changes: ['projects', 'me', 'reports', 'audit'],
    done: ({ key }) => `The project ${key} is saved.`,
    after: (changed) => {
      close()
      saved?.(changed)
    },
    fields: issueFields,
  })
  return (
    <FormDialogue
      {...sending}
      title={project ? `Change ${project.key}` : 'New project'}
      action={project ? 'Save' : 'Add the project'}
      close={close}
      size="lg"
    >
      {mayChangeAll && <NameFields form={form} isNew={!project} />}
      <TagsInput
        label="Further names"
        description={
          mayChangeAll
            ? 'Reports that say one of these, such as a repository, arrive here. Press Enter after each.'
            : 'Reports that say one of these arrive here. Press Enter after each. You may add and remove names of several words; for others, ask billing or an admin.'
        }
        clearable
        {...form.getInputProps('aliases')}
      />
      {mayChangeAll && <MoneyFields form={form} />}
    </FormDialogue>
  )
}

type Form = UseFormReturnType<Values>

/** Issues of one alias or lead stand at the field of all of them. */
function issueFields({ aliases, leads }: Values): Record<string, string> {
  return Object.fromEntries([
    ...aliases.map((_, index) => [`/aliases/${index}`, 'aliases']),
    ...leads.map((_, index) => [`/leads/${index}`, 'leads']),
  ])
}

const NameFields = ({ form, isNew }: { form: Form; isNew: boolean }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }}>
    <TextInput
      label="Key"
      description={isNew ? 'Short; reports and tickets name it so.' : 'The one before stays as a further name.'}
      placeholder="ACME"
      required
      data-autofocus
      {...form.getInputProps('key')}
    />
    <TextInput
      label="Name"
      description="As people read it; the key where it is empty."
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
        description="Who gets its bills. Clients are added in their own tab."
        placeholder="None"
        value={value}
        change={onChange}
      />
      <LeadsField form={form} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NumberInput
          label="Budget (USD)"
          description="What its work may cost in all."
          placeholder="None"
          min={0}
          thousandSeparator=","
          hideControls
          {...form.getInputProps('budget')}
        />
        <NumberInput
          label="Markup (%)"
          description="On top of costs, on bills."
          placeholder="As the client’s"
          hideControls
          {...form.getInputProps('markup')}
        />
      </SimpleGrid>
      <Switch
        label="Its entries go on bills"
        description="Off for work that nobody pays for; bills say what they leave out."
        {...form.getInputProps('billable', { type: 'checkbox' })}
      />
    </>
  )
}

/** As many people as are offered at once; others are typed by their address. */
const PEOPLE_OFFERED = '200'

function LeadsField({ form }: { form: Form }) {
  const seesPeople = useRole('admin')
  const [typed, setTyped] = useState('')
  const { data } = useQuery({
    queryKey: ['users', 'leads'],
    queryFn: () => answer(api.users.get({ query: { limit: PEOPLE_OFFERED } })),
    enabled: seesPeople,
  })
  return (
    <TagsInput
      label="Leads"
      description="They see all its entries, approve and place them. E-mail addresses, with Enter after each."
      // Offered while one types: a list that stayed open would cover the button below.
      data={typed === '' ? [] : (data?.data.map(({ email }) => email) ?? [])}
      searchValue={typed}
      onSearchChange={setTyped}
      placeholder={form.values.leads.length === 0 ? 'ada@example.com' : undefined}
      {...form.getInputProps('leads')}
    />
  )
}
