/** Adds a row to the grid: what is worked on, by which agent, with which model. Saved with its first number. */
import { SimpleGrid, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { isMissing } from '../../parts/entries/figure-fields.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { issueOfLabels, labelsOf, labelsText } from '../../parts/labels-text.ts'
import { ModelInput } from '../../parts/model-input.tsx'
import { Caption } from '../../parts/texts.tsx'
import { KeyInput, labelsIn } from './entry-form.tsx'
import type { RowSubject } from './grid-model.ts'

interface RowFormProps {
  start: RowSubject
  /** Fields that the organization requires of each entry. */
  required: readonly string[]
  add: (subject: RowSubject) => void
  close: () => void
}

export function RowForm({ start, required, add, close }: RowFormProps) {
  const labels = labelsIn(required)
  const isRequired = (field: string) => (text: string) => (required.includes(field) ? isMissing(text) : null)
  const form = useForm({
    initialValues: { ...start, labels: labelsText(start.labels) },
    validate: {
      agent_harness: isMissing,
      agent_name: isMissing,
      model: isMissing,
      provider: isRequired('provider'),
      ticket: isRequired('ticket'),
      project: (project, { ticket }) => (ticket === '' ? isRequired('project')(project) : null),
      summary: isRequired('summary'),
      labels: (text) => {
        const missing = labels.filter((name) => !labelsOf(text)[name])
        return (
          issueOfLabels(text) ?? (missing.length > 0 ? `Add ${missing.map((name) => `${name}=…`).join(', ')}.` : null)
        )
      },
    },
  })
  const submit = form.onSubmit(({ labels: text, ...values }) => {
    const texts = Object.fromEntries(Object.entries(values).map(([field, value]) => [field, value.trim()]))
    add({ ...(texts as Omit<RowSubject, 'labels'>), labels: labelsOf(text) })
    close()
  })
  return (
    <FormDialog title="Add row" action="Add row" close={close} submit={submit} isSending={false} refusal="" size="lg">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        <KeyInput
          of="tickets"
          field="ticket"
          label="Ticket"
          placeholder="ACME-42"
          required={required.includes('ticket')}
          form={form}
        />
        <KeyInput
          of="projects"
          field="project"
          label="Project"
          placeholder="ACME"
          required={required.includes('project')}
          form={form}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs">
        <TextInput label="Harness" placeholder="claude-code" required {...form.getInputProps('agent_harness')} />
        <TextInput label="Agent" placeholder="reviewer" required {...form.getInputProps('agent_name')} />
        <ModelInput label="Model" placeholder="claude-sonnet-4-5" required {...form.getInputProps('model')} />
      </SimpleGrid>
      {required.includes('provider') && <TextInput label="Provider" required {...form.getInputProps('provider')} />}
      {required.includes('summary') && <TextInput label="Summary" required {...form.getInputProps('summary')} />}
      {labels.length > 0 && (
        <Textarea
          label="Labels, one per line"
          description={`Required: ${labels.join(', ')}`}
          required
          autosize
          {...form.getInputProps('labels')}
        />
      )}
      <Caption>The row is saved with the first number that you type into it.</Caption>
    </FormDialog>
  )
}
