/** Creates a sheet for a month or a date range. */
import { Alert, Anchor, List, SegmentedControl, Text, Textarea } from '@mantine/core'
import { DatePickerInput, MonthPickerInput } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { counted } from '../../format/counts.ts'
import { addDays, addMonths, dayOf, firstOfMonth } from '../../format/moments.ts'
import { daysFormatter, monthFormatter } from '../../parts/date-field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { type Period, periodInWords } from '../../parts/period.ts'
import { type Choice, PersonPicker } from '../../parts/pickers.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useFirstDayOfWeek, useMe, useRole, useSettings } from '../../server/me.ts'
import { SHEET_CHANGES, type Sheet } from './sheet-body.ts'

interface Values {
  kind: 'month' | 'days'
  month: string | null
  days: [string | null, string | null]
  note: string
  person: Choice | null
}

/** The sheets of the same person that share days with the one that is asked for. */
interface Others {
  of: string
  sheets: Sheet[]
}

/** Note and such may change without asking again. */
const questionOf = ({ kind, month, days, person }: Values) => JSON.stringify([kind, month, days, person?.value])

const periodOf = ({ kind, month, days: [from, to] }: Values): Period =>
  kind === 'month' ? { from: month!, to: addDays(addMonths(month!, 1), -1) } : { from: from!, to: to! }

const askOthers = async (person: string, { from, to }: Period) => {
  const query = { agent_manager: [person], ending_after: from, ending_at: addDays(to, 1) }
  return (await answer(api['token-sheets'].get({ query }))).data
}

export function NewSheet({ close, opened }: { close: () => void; opened: (sheet: Sheet) => void }) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const isAdmin = useRole('admin')
  const me = useMe()
  const [others, setOthers] = useState<Others | null>(null)
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
    send: async (values: Values): Promise<Sheet | Others> => {
      const { kind, month, days, note, person } = values
      const [from, to] = days
      const of = questionOf(values)
      if (others?.of !== of) {
        const sheets = await askOthers(person?.value ?? me.person.id, periodOf(values))
        if (sheets.length > 0) return { of, sheets }
      }
      return answer(
        api['token-sheets'].post({
          ...(kind === 'month' ? { month: month!.slice(0, 7) } : { period: { from: from!, to: to! } }),
          ...(note.trim() === '' ? {} : { note: note.trim() }),
          ...(person === null ? {} : { person: person.value }),
        }),
      )
    },
    changes: SHEET_CHANGES,
    after: (result) => {
      if ('sheets' in result) return setOthers(result)
      close()
      opened(result)
    },
    fields: { '/period': 'days', '/period/from': 'days', '/period/to': 'days' },
  })
  const { value, onChange, ...person } = form.getInputProps('person')
  const isAsking = others !== null && others.of === questionOf(form.values)
  return (
    <FormDialog
      {...sending}
      title="New token sheet"
      action={isAsking ? 'Create another sheet' : 'Create sheet'}
      close={close}
    >
      <SegmentedControl
        aria-label="Period"
        data={optionsOf({ month: 'Month', days: 'Date range' })}
        {...form.getInputProps('kind')}
      />
      {form.values.kind === 'month' ? (
        <MonthPickerInput
          label="Month"
          description={`Time zone: ${time_zone}`}
          valueFormatter={monthFormatter}
          {...form.getInputProps('month')}
        />
      ) : (
        <DatePickerInput
          type="range"
          allowSingleDateInRange
          firstDayOfWeek={firstDayOfWeek}
          label="Date range"
          description={`Inclusive. Time zone: ${time_zone}`}
          valueFormatter={daysFormatter}
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
      {isAsking && <OtherSheets sheets={others.sheets} isOwn={form.values.person === null} />}
    </FormDialog>
  )
}

const OtherSheets = ({ sheets, isOwn }: { sheets: Sheet[]; isOwn: boolean }) => (
  <Alert
    color="orange"
    variant="light"
    role="alert"
    title={isOwn ? 'You already have a sheet for these days' : 'There already is a sheet for these days'}
  >
    <Text size="sm">Entries are easier to keep apart on one sheet. Open it, or create another one.</Text>
    <List size="sm" mt={4}>
      {sheets.map(({ id, period, status, entries }) => (
        <List.Item key={id}>
          <Anchor component={Link} href={`/sheets/${id}`} size="sm">
            {periodInWords(period)}
          </Anchor>
          , {status}, {counted(entries, 'entry', 'entries')}
        </List.Item>
      ))}
    </List>
  </Alert>
)
