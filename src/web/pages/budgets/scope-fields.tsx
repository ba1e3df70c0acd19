/** Which entries a budget counts. */
import { SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { ModelInput } from '../../parts/model-input.tsx'
import { type Choice, ClientPicker, PersonPicker, ProjectPicker, TicketPicker } from '../../parts/pickers.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useRole } from '../../server/me.ts'
import classes from './budgets.module.css'
import type { BudgetFormState } from './form-state.ts'

type PickedName = 'client' | 'project' | 'ticket' | 'agent_manager'

const picking = (form: BudgetFormState) => (name: PickedName) => ({
  value: form.values[name],
  change: (choice: Choice | null) => form.setFieldValue(name, choice),
  error: form.errors[name],
  placeholder: 'Any',
})

export function ScopeFields({ form }: { form: BudgetFormState }) {
  const picked = picking(form)
  return (
    <Stack gap="xs" component="fieldset" className={classes.fieldset}>
      <Text component="legend" size="sm" fw={600}>
        Scope
      </Text>
      <Caption>Leave all empty to count all entries of the organization.</Caption>
      <SimpleGrid cols={{ base: 1, sm: 3 }} verticalSpacing="xs">
        <ClientPicker label="Client" {...picked('client')} />
        <ProjectPicker label="Project" {...picked('project')} />
        <ManagerField {...picked('agent_manager')} />
      </SimpleGrid>
    </Stack>
  )
}

/** What limits a budget further, seldom. */
export const NarrowerScopeFields = ({ form }: { form: BudgetFormState }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing="xs">
    <TicketPicker label="Ticket" project={form.values.project?.value} {...picking(form)('ticket')} />
    <TextInput label="Agent" placeholder="Any" {...form.getInputProps('agent_name')} />
    <ModelInput label="Model" placeholder="Any" {...form.getInputProps('model')} />
    <TextInput
      label="Label"
      placeholder="repository:acme/web"
      description="As name:value."
      spellCheck={false}
      {...form.getInputProps('label')}
    />
  </SimpleGrid>
)

type ManagerFieldProps = Pick<Parameters<typeof PersonPicker>[0], 'value' | 'change' | 'error' | 'placeholder'>

/** Only admins can search people; others type an e-mail address. */
function ManagerField({ value, change, ...field }: ManagerFieldProps) {
  const seesPeople = useRole('admin')
  if (seesPeople) return <PersonPicker label="Agent manager" value={value} change={change} {...field} />
  return (
    <TextInput
      {...field}
      label="Agent manager"
      placeholder="ada@example.com"
      value={value?.label ?? ''}
      onChange={({ currentTarget: { value: text } }) =>
        change(text === '' ? null : { value: text.trim(), label: text })
      }
    />
  )
}
