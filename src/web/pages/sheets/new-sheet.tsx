/** Creates a sheet for a month or a date range. */
import { SegmentedControl, Textarea } from '@mantine/core'
import { DatePickerInput, MonthPickerInput } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { dayOf, firstOfMonth } from '../../format/moments.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { type Choice, PersonPicker } from '../../parts/pickers.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useFirstDayOfWeek, useRole, useSettings } from '../../server/me.ts'
import { SHEET_CHANGES, type Sheet } from './sheet-body.ts'

interface Values {
  kind: 'month' | 'days'
  month: string | null
  days: [string | null, string | null]
  note: string
  person: Choice | null
}

export function NewSheet({ close, opened }: { close: () => void; opened: (sheet: Sheet) => void }) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const isAdmin = useRole('admin')
  const form = useForm<Values>({
    initialValues: {
      kind: 'month',
      month: firstOfMonth(dayOf(new Date(), time_zone)),
      days: [null, null],
      note: '',
      person: null,
    },
    validate: {
      month: (month, { kind }) => (kind === 'month' && month === null ? 'Required.' : null),
      days: ([from, to], { kind }) => (kind === 'days' && !(from && to) ? 'Choose the first and last day.' : null),
    },
  })
  const sending = useFormSend({
    form,
    send: ({ kind, month, days: [from, to], note, person }: Values) =>
      answer(
        api['token-sheets'].post({
          ...(kind === 'month' ? { month: month!.slice(0, 7) } : { period: { from: from!, to: to! } }),
          ...(note.trim() === '' ? {} : { note: note.trim() }),
          ...(person === null ? {} : { person: person.value }),
        }),
      ),
    changes: SHEET_CHANGES,
    after: (sheet) => {
      close()
      opened(sheet)
    },
    fields: { '/period': 'days', '/period/from': 'days', '/period/to': 'days' },
  })
  const { value, onChange, ...person } = form.getInputProps('person')
  return (
    <FormDialog {...sending} title="New token sheet" action="Create sheet" close={close}>
      <SegmentedControl
        aria-label="Period"
        data={[
          { value: 'month', label: 'Month' },
          { value: 'days', label: 'Date range' },
        ]}
        {...form.getInputProps('kind')}
      />
      {form.values.kind === 'month' ? (
        <MonthPickerInput
          label="Month"
          description={`Time zone: ${time_zone}`}
          valueFormat="MMMM YYYY"
          {...form.getInputProps('month')}
        />
      ) : (
        <DatePickerInput
          type="range"
          allowSingleDateInRange
          firstDayOfWeek={firstDayOfWeek}
          label="Date range"
          description={`Inclusive. Time zone: ${time_zone}`}
          valueFormat="D MMM YYYY"
          placeholder="First and last day"
          {...form.getInputProps('days')}
        />
      )}
      <Textarea label="Note" placeholder="What the sheet is for" autosize minRows={2} {...form.getInputProps('note')} />
      {isAdmin && (
        <PersonPicker
          {...person}
          label="Agent manager"
          description="The person its entries belong to. Leave empty for yourself."
          placeholder="You"
          value={value}
          change={onChange}
        />
      )}
    </FormDialog>
  )
}
