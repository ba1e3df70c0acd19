/** The form that adds an entry to a sheet or edits one. */
import { Autocomplete, Button, Group, SimpleGrid, Switch, Textarea, TextInput } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { timeInWords } from '../../format/moments.ts'
import { FIGURE_CHECKS, FigureFields, isMissing } from '../../parts/entries/figure-fields.tsx'
import { ISSUE_FIELDS } from '../../parts/entries/figure-values.ts'
import dialog from '../../parts/form.module.css'
import { Form } from '../../parts/form.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { issueOfLabels } from '../../parts/labels-text.ts'
import { ModelInput } from '../../parts/model-input.tsx'
import { periodInWords } from '../../parts/period.ts'
import { OFFERED } from '../../parts/pickers.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import { CostQuestion } from './cost-question.tsx'
import { changeOf, draftOf, type EntryValues, nextEntry, readableCounts, valuesOf } from './entry-values.ts'
import { SHEET_CHANGES, type Sheet, type SheetEntry, sheetOf } from './sheet-body.ts'

interface EntryFormProps {
  sheet: Sheet
  /** The entry to edit; undefined for a new one. */
  entry: SheetEntry | undefined
  /** The initial values of a new one. */
  start: EntryValues
  close: () => void
}

/** The answer of a dry run whose cost is far from the list value, and the values that it is of. */
interface Mismatch {
  of: string
  entry: SheetEntry
}

export function EntryForm({ sheet, entry, start, close }: EntryFormProps) {
  const { time_zone, sheet_required_fields: required } = useSettings()
  const [goesOn, setGoesOn] = useState(false)
  const [mismatch, setMismatch] = useState<Mismatch | null>(null)
  const form = useForm<EntryValues>({
    initialValues: entry ? valuesOf(entry, time_zone) : start,
    validate: {
      agent_harness: isMissing,
      agent_name: isMissing,
      ...FIGURE_CHECKS,
      input: (count, { cost_only }) => (cost_only ? null : FIGURE_CHECKS.input(count)),
      output: (count, { cost_only }) => (cost_only ? null : FIGURE_CHECKS.output(count)),
      reported_cost: (cost, { cost_only }) => (cost_only && cost === '' ? 'Required.' : null),
      labels: issueOfLabels,
    },
  })
  const isAsking = mismatch !== null && mismatch.of === JSON.stringify(form.values)
  const sending = useFormSend({
    form,
    // An entry is changed with its sheet; further ones may be added at the same time.
    of: entry && sheet,
    send: async (values: EntryValues, options): Promise<Mismatch | null> => {
      const { entries } = sheetOf(sheet.id)
      const of = JSON.stringify(values)
      const save = (how: object) =>
        entry
          ? answer(entries({ entry: entry.id }).patch(changeOf(values, entry, time_zone), how))
          : answer(entries.post(draftOf(values, time_zone), how))
      const isKnown = mismatch?.of === of || (entry?.cost_mismatch && entry.reported_cost === values.reported_cost)
      if (values.reported_cost !== '' && !isKnown) {
        const planned = await save({ query: { dry_run: 'true' } })
        if (planned.cost_mismatch) return { of, entry: planned }
      }
      await save(options)
      return null
    },
    changes: SHEET_CHANGES,
    done: (asks) => (asks ? undefined : entry ? 'Entry saved.' : 'Entry added.'),
    after: (asks, values) => {
      setMismatch(asks)
      if (asks) return
      if (goesOn && !entry) form.setValues(nextEntry(values))
      else close()
    },
    fields: {
      ...ISSUE_FIELDS,
      ...Object.fromEntries(required.map((field) => [`/labels/${field.replace('label:', '')}`, 'labels'])),
    },
  })
  return (
    <FormModal opened onClose={close} title={entry ? 'Edit entry' : 'Add entry'} size="xl">
      <Form sending={sending}>
        <AgentFields form={form} sheet={sheet} />
        <Switch
          label="Cost only"
          description="The token counts are not known. They count as 0."
          checked={form.values.cost_only}
          onChange={({ currentTarget: { checked } }) =>
            // Counts that can't be read must not stay in fields that nobody sees.
            form.setValues({ ...(checked ? readableCounts(form.values) : {}), cost_only: checked })
          }
        />
        <FigureFields form={form} isCostOnly={form.values.cost_only} required={required} />
        <PlaceFields form={form} required={required} />
        {isAsking && <CostQuestion entries={[mismatch.entry]} />}
        <Group className={dialog.foot} justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          {!entry && (
            <Button type="submit" variant="light" loading={sending.isSending && goesOn} onClick={() => setGoesOn(true)}>
              Add and continue
            </Button>
          )}
          <Button type="submit" loading={sending.isSending && !goesOn} onClick={() => setGoesOn(false)}>
            {isAsking ? (entry ? 'Save anyway' : 'Add anyway') : entry ? 'Save changes' : 'Add entry'}
          </Button>
        </Group>
      </Form>
    </FormModal>
  )
}

type EntryFormState = UseFormReturnType<EntryValues>

function AgentFields({ form, sheet }: { form: EntryFormState; sheet: Sheet }) {
  const { time_zone } = useSettings()
  const time = {
    withSeconds: false,
    valueFormat: timeInWords,
    highlightToday: true,
    firstDayOfWeek: useFirstDayOfWeek(),
    required: true,
  } as const
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs">
        <TextInput
          label="Harness"
          placeholder="claude-code"
          required
          data-autofocus
          {...form.getInputProps('agent_harness')}
        />
        <TextInput label="Agent" placeholder="reviewer" required {...form.getInputProps('agent_name')} />
        <ModelInput label="Model" placeholder="claude-sonnet-4-5" required {...form.getInputProps('model')} />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        <DateTimePicker
          label="Started"
          description={`Within ${periodInWords(sheet.period)}, in ${time_zone}`}
          minDate={`${sheet.period.from} 00:00:00`}
          maxDate={`${sheet.period.to} 23:59:59`}
          {...time}
          {...form.getInputProps('started_at')}
        />
        <DateTimePicker
          label="Ended"
          description={`In ${time_zone}`}
          minDate={form.values.started_at ?? undefined}
          {...time}
          {...form.getInputProps('ended_at')}
        />
      </SimpleGrid>
    </>
  )
}

const PlaceFields = ({ form, required }: { form: EntryFormState; required: readonly string[] }) => (
  <>
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
      <KeyInput
        of="tickets"
        label="Ticket"
        placeholder="ACME-42"
        description="Also sets the project."
        required={required.includes('ticket')}
        form={form}
        field="ticket"
      />
      <KeyInput
        of="projects"
        label="Project"
        placeholder="ACME"
        description={
          required.includes('project')
            ? 'Used if the ticket has no project.'
            : 'Used if the ticket has no project. Leave both empty to let rules decide.'
        }
        required={required.includes('project')}
        form={form}
        field="project"
      />
    </SimpleGrid>
    <TextInput
      label="Summary"
      placeholder="What the session did"
      required={required.includes('summary')}
      {...form.getInputProps('summary')}
    />
    <Textarea
      label="Labels, one per line"
      required={labelsIn(required).length > 0}
      description={labelsIn(required).length > 0 ? `Required: ${labelsIn(required).join(', ')}` : undefined}
      placeholder="repository=acme/web"
      autosize
      minRows={1}
      {...form.getInputProps('labels')}
    />
  </>
)

export const labelsIn = (required: readonly string[]) =>
  required.flatMap((field) => (field.startsWith('label:') ? [field.slice('label:'.length)] : []))

interface KeyInputProps {
  of: 'projects' | 'tickets'
  field: 'project' | 'ticket'
  label: string
  placeholder: string
  description?: string
  required?: boolean
  form: KeyForm
}

/** How long to wait after typing before searching. */
const PAUSE_MS = 200

/** A form with a project and a ticket. */
interface KeyForm {
  values: { project: string; ticket: string }
  getInputProps: (field: 'project' | 'ticket') => object
}

/** The key of a project or ticket. A key that doesn't exist yet is created, as in reports. */
export function KeyInput({ of, field, form, ...input }: KeyInputProps) {
  const [search] = useDebouncedValue(form.values[field], PAUSE_MS)
  const { data } = useQuery({
    queryKey: [of, 'keys', search],
    queryFn: async ({ signal }) => {
      const api = apiUntil(signal)
      const query = { search: search.trim() || undefined, limit: String(OFFERED) }
      const { data } = await (of === 'projects'
        ? answer(api.projects.get({ query }))
        : answer(api.tickets.get({ query })))
      return data.map(({ key }) => key)
    },
    placeholderData: (before) => before,
  })
  return (
    <Autocomplete data={data ?? []} spellCheck={false} autoComplete="off" {...input} {...form.getInputProps(field)} />
  )
}
