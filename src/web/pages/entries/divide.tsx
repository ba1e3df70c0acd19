/** The form that divides an entry between projects and tickets: what is not given away stays where the entry is. */
import { ActionIcon, Button, Group, SegmentedControl, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { randomId } from '@mantine/hooks'
import { IconPlus, IconX } from '@tabler/icons-react'
import { counted, percent } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { CHANGED_BY_ENTRIES, type Entry, placeKey } from '../../parts/entries/entry.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { DecimalField } from '../../parts/number-fields.tsx'
import { type Choice, ProjectPicker, TicketPicker } from '../../parts/pickers.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import classes from './entries.module.css'

interface PartValues {
  key: string
  project: Choice | null
  ticket: Choice | null
  /** A percentage, or an amount in US dollars. */
  size: number | ''
}

interface Values {
  by: 'share' | 'amount'
  parts: PartValues[]
}

const emptyPart = (): PartValues => ({ key: randomId(), project: null, ticket: null, size: '' })

export default function Divide({ entry, close }: { entry: Entry; close: () => void }) {
  const form = useForm<Values>({ initialValues: { by: 'share', parts: [emptyPart()] } })
  const { by, parts } = form.values
  const whole = by === 'share' ? 100 : (entry.cost ?? 0)
  const rest = whole - parts.reduce((sum, { size }) => sum + (size || 0), 0)
  const sending = useFormSend({
    form,
    send: ({ by, parts }: Values) =>
      answer(
        api['token-entries']({ id: entry.id }).divide.post({
          parts: [by === 'share' ? { share: rest } : {}, ...parts.map((part) => bodyOf(part, by))],
        }),
      ),
    changes: CHANGED_BY_ENTRIES,
    done: ({ parts }) => `Divided into ${counted(parts.length, 'entry', 'entries')}.`,
    after: close,
    // The first part of the request is what stays.
    fields: ({ parts }) =>
      Object.fromEntries(
        parts.flatMap((_, position) =>
          (['project', 'ticket', 'share', 'amount'] as const).map((field) => [
            `/parts/${position + 1}/${field}`,
            `parts.${position}.${field === 'share' || field === 'amount' ? 'size' : field}`,
          ]),
        ),
      ),
  })
  const isComplete = rest > 0 && parts.every(({ project, ticket, size }) => (project || ticket) && size)
  return (
    <FormDialog {...sending} title="Divide entry" action="Divide" close={close} size="lg" isIncomplete={!isComplete}>
      <Note>
        Each part becomes an entry of its own, with its share of the tokens and the cost. A session that goes on keeps
        its division.
      </Note>
      {entry.cost !== null && (
        <SegmentedControl
          aria-label="Divide by"
          data={optionsOf({ share: 'Percent', amount: 'Amount' })}
          {...form.getInputProps('by')}
        />
      )}
      {parts.map((part, position) => (
        <Group key={part.key} gap="xs" align="flex-start" wrap="nowrap">
          <div className={classes.dividedPlace}>
            <ProjectPicker
              aria-label={`Project of part ${position + 1}`}
              placeholder="Project"
              value={part.project}
              change={(project) => form.setFieldValue(`parts.${position}.project`, project)}
              disabled={part.ticket !== null}
              error={form.errors[`parts.${position}.project`]}
            />
            <TicketPicker
              aria-label={`Ticket of part ${position + 1}`}
              placeholder="or ticket"
              value={part.ticket}
              change={(ticket) => form.setFieldValue(`parts.${position}.ticket`, ticket)}
              disabled={part.project !== null}
              error={form.errors[`parts.${position}.ticket`]}
            />
          </div>
          <DecimalField
            aria-label={by === 'share' ? `Percent of part ${position + 1}` : `Amount of part ${position + 1}`}
            w={120}
            min={0}
            placeholder={by === 'share' ? '%' : '$'}
            {...(by === 'share' ? { digits: 6, unit: '%' } : { digits: 9, currency: 'USD' })}
            {...form.getInputProps(`parts.${position}.size`)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={4}
            aria-label={`Remove part ${position + 1}`}
            disabled={parts.length === 1}
            onClick={() => form.removeListItem('parts', position)}
          >
            <IconX size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group justify="space-between">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('parts', emptyPart())}
        >
          Add part
        </Button>
        <Text size="sm" c={rest > 0 ? undefined : 'red'} aria-live="polite">
          {restText(entry, by, rest)}
        </Text>
      </Group>
    </FormDialog>
  )
}

function bodyOf({ project, ticket, size }: PartValues, by: Values['by']) {
  return { ...(ticket ? { ticket: ticket.value } : { project: project!.value, ticket: null }), [by]: size || 0 }
}

function restText(entry: Entry, by: Values['by'], rest: number): string {
  if (rest <= 0) return 'Nothing is left for the entry itself.'
  const place = placeKey(entry)
  const where = place ? `stays on ${place}` : 'stays unattributed'
  if (by === 'amount') return `${money(rest)} ${where}`
  const cost = entry.cost === null ? '' : `, ${money((entry.cost * rest) / 100)},`
  return `${percent(rest / 100)}${cost} ${where}`
}
