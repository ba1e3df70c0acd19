/** The form that adds an entry to a sheet or edits one. */
import { Alert, Autocomplete, Button, Group, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FIGURE_CHECKS, FigureFields, isMissing } from '../../parts/entries/figure-fields.tsx'
import { ISSUE_FIELDS } from '../../parts/entries/figure-values.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { issueOfLabels } from '../../parts/labels-text.ts'
import { ModelInput } from '../../parts/model-input.tsx'
import { periodInWords } from '../../parts/period.ts'
import { OFFERED } from '../../parts/pickers.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import { changeOf, draftOf, type EntryValues, emptyEntry, nextEntry, valuesOf } from './entry-values.ts'
import { SHEET_CHANGES, type Sheet, type SheetEntry, sheetOf } from './sheet-body.ts'

interface EntryFormProps {
  sheet: Sheet
  entry: SheetEntry | undefined
  close: () => void
}

export function EntryForm({ sheet, entry, close }: EntryFormProps) {
  const { time_zone } = useSettings()
  const [goesOn, setGoesOn] = useState(false)
  const form = useForm<EntryValues>({
    initialValues: entry ? valuesOf(entry, time_zone) : emptyEntry(sheet.period.from),
    validate: {
      agent_harness: isMissing,
      agent_name: isMissing,
      ...FIGURE_CHECKS,
      labels: issueOfLabels,
    },
  })
  const sending = useFormSend({
    form,
    // An entry is changed with its sheet; further ones may be added at the same time.
    of: entry && sheet,
    send: (values: EntryValues, options) => {
      const { entries } = sheetOf(sheet.id)
      return entry
        ? answer(entries({ entry: entry.id }).patch(changeOf(values, entry, time_zone), options))
        : answer(entries.post(draftOf(values, time_zone)))
    },
    changes: SHEET_CHANGES,
    done: () => (entry ? 'Entry saved.' : 'Entry added.'),
    after: (_, values) => {
      if (goesOn && !entry) form.setValues(nextEntry(values))
      else close()
    },
    fields: ISSUE_FIELDS,
  })
  return (
    <FormModal opened onClose={close} title={entry ? 'Edit entry' : 'Add entry'} size="xl">
      <form onSubmit={sending.submit} noValidate>
        <Stack>
          {sending.refusal !== '' && (
            <Alert color="red" variant="light" role="alert">
              {sending.refusal}
            </Alert>
          )}
          <AgentFields form={form} sheet={sheet} />
          <FigureFields form={form} />
          <PlaceFields form={form} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            {!entry && (
              <Button
                type="submit"
                variant="light"
                loading={sending.isSending && goesOn}
                onClick={() => setGoesOn(true)}
              >
                Add and continue
              </Button>
            )}
            <Button type="submit" loading={sending.isSending && !goesOn} onClick={() => setGoesOn(false)}>
              {entry ? 'Save changes' : 'Add entry'}
            </Button>
          </Group>
        </Stack>
      </form>
    </FormModal>
  )
}

type Form = UseFormReturnType<EntryValues>

function AgentFields({ form, sheet }: { form: Form; sheet: Sheet }) {
  const { time_zone } = useSettings()
  const time = {
    withSeconds: false,
    valueFormat: 'D MMM YYYY, HH:mm',
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

const PlaceFields = ({ form }: { form: Form }) => (
  <>
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
      <KeyInput
        of="tickets"
        label="Ticket"
        placeholder="ACME-42"
        description="Also sets the project."
        form={form}
        field="ticket"
      />
      <KeyInput
        of="projects"
        label="Project"
        placeholder="ACME"
        description="Used if the ticket has no project. Leave both empty to let rules decide."
        form={form}
        field="project"
      />
    </SimpleGrid>
    <TextInput label="Summary" placeholder="What the session did" {...form.getInputProps('summary')} />
    <Textarea
      label="Labels, one per line"
      placeholder="repository=acme/web"
      autosize
      minRows={1}
      {...form.getInputProps('labels')}
    />
  </>
)

interface KeyInputProps {
  of: 'projects' | 'tickets'
  field: 'project' | 'ticket'
  label: string
  placeholder: string
  description: string
  form: Form
}

/** How long to wait after typing before searching. */
const PAUSE_MS = 200

/** The key of a project or ticket. A key that doesn't exist yet is created, as in reports. */
function KeyInput({ of, field, form, ...input }: KeyInputProps) {
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
