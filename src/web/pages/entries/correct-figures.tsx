/** The form that corrects what an agent reported by mistake. */
import { SimpleGrid } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { timeInWords } from '../../format/moments.ts'
import { CHANGED_BY_ENTRIES, type Entry } from '../../parts/entries/entry.ts'
import { FIGURE_CHECKS, FigureFields, isMissing } from '../../parts/entries/figure-fields.tsx'
import { type FigureValues, figureChangesOf, figureValuesOf, ISSUE_FIELDS } from '../../parts/entries/figure-values.ts'
import { Reason } from '../../parts/entries/reason.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { ModelInput } from '../../parts/model-input.tsx'
import { Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'

interface Values extends FigureValues {
  reason: string
}

export default function CorrectFigures({ entry, close }: { entry: Entry; close: () => void }) {
  const { time_zone } = useSettings()
  const form = useForm<Values>({
    initialValues: { ...figureValuesOf(entry, time_zone), reason: '' },
    validate: { ...FIGURE_CHECKS, reason: isMissing },
  })
  const sending = useFormSend({
    form,
    of: entry,
    send: ({ reason, ...values }: Values, options) => {
      const change = { ...figureChangesOf(values, entry, time_zone), reason: reason.trim() }
      return answer(api['token-entries']({ id: entry.id }).patch(change, options))
    },
    changes: CHANGED_BY_ENTRIES,
    done: () => 'Entry corrected.',
    after: close,
    fields: ISSUE_FIELDS,
  })
  const time = {
    valueFormat: timeInWords,
    firstDayOfWeek: useFirstDayOfWeek(),
    description: `In ${time_zone}`,
    required: true,
  } as const
  const isUnchanged = Object.keys(figureChangesOf(form.values, entry, time_zone)).length === 0
  return (
    <FormDialog
      {...sending}
      title="Correct usage"
      action="Correct usage"
      close={close}
      size="xl"
      isIncomplete={isUnchanged}
    >
      <Note>
        The history keeps what was reported. Later reports of the session do not undo the correction: later usage
        becomes a new entry. The list value is calculated again at the current prices.
      </Note>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs">
        <ModelInput label="Model" description="As the agent names it" required {...form.getInputProps('model')} />
        <DateTimePicker label="Started" {...time} {...form.getInputProps('started_at')} />
        <DateTimePicker label="Ended" {...time} {...form.getInputProps('ended_at')} />
      </SimpleGrid>
      <FigureFields form={form} />
      <Reason
        value={form.values.reason}
        change={(reason) => form.setFieldValue('reason', reason)}
        error={form.errors.reason}
      />
    </FormDialog>
  )
}
