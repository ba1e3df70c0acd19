import { ActionIcon, Button, Checkbox, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useLocation } from 'wouter'
import { counted } from '../../format/counts.ts'
import { hasUnreadable } from '../../format/read-numbers.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { DecimalField } from '../../parts/number-fields.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Caption } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { amountOf, type Bill } from './bill-body.ts'
import type { BillDialogProps } from './pay-dialog.tsx'

interface CreditValues {
  what: 'all' | 'lines'
  lines: { text: string; amount: number | string }[]
  note: string
  release: boolean
}

/** Creates a credit note for a paid bill: a bill with its own number and negative lines. */
export function CreditDialog({ bill, isOpen, close }: BillDialogProps) {
  const [, navigate] = useLocation()
  const form = useForm<CreditValues>({
    initialValues: { what: 'all', lines: [{ text: '', amount: '' }], note: '', release: false },
  })
  const { what, lines, note, release } = form.values
  const isIncomplete =
    what === 'lines' && (hasUnreadable(lines) || lines.some(({ text, amount }) => text.trim() === '' || amount === ''))
  return (
    <ConfirmChange
      isOpen={isOpen}
      close={close}
      title={`Create credit note for bill ${bill.number}`}
      action="Send credit note"
      isIncomplete={isIncomplete}
      send={(): Promise<Bill> =>
        answer(
          api.bills({ id: bill.id })['credit-note'].post({
            ...(what === 'lines' && { lines: lines.map(({ text, amount }) => ({ text, amount: Number(amount) })) }),
            ...(what === 'all' && release && { release }),
            ...(note.trim() !== '' && { note: note.trim() }),
          }),
        )
      }
      changes={['bills', 'entries', 'reports', 'audit']}
      done={({ number }) => `Credit note ${number} sent.`}
      after={({ id }) => navigate(`/bills/${id}`)}
    >
      <Text size="sm">
        The credit note gets the next bill number. The bill does not change.
        {bill.balance > 0 && ' What is still open of the bill is offset against the credit note.'}
      </Text>
      <SegmentedControl
        aria-label="Amount to credit"
        data={optionsOf({ all: 'Full remaining amount', lines: 'Part of it' })}
        {...form.getInputProps('what')}
      />
      {what === 'lines' && (
        <Stack gap="xs">
          {lines.map((_, index) => (
            // Lines have no id while they are edited.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <Group key={index} gap={4} wrap="nowrap">
              <TextInput
                aria-label={`Description of line ${index + 1}`}
                placeholder="Description"
                flex={1}
                {...form.getInputProps(`lines.${index}.text`)}
              />
              <DecimalField
                aria-label={`Amount of line ${index + 1} in ${bill.currency}`}
                placeholder={bill.currency}
                min={0}
                digits={bill.document.minor_digits}
                currency={bill.currency}
                w={110}
                styles={{ input: { textAlign: 'right' } }}
                {...form.getInputProps(`lines.${index}.amount`)}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                disabled={lines.length === 1}
                aria-label={`Remove line ${index + 1}`}
                onClick={() => form.removeListItem('lines', index)}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          ))}
          <Group justify="space-between">
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} />}
              onClick={() => form.insertListItem('lines', { text: '', amount: '' })}
            >
              Add line
            </Button>
            <Caption>
              Amounts before tax, in {bill.currency}
              {bill.remaining && `; ${amountOf(bill.remaining.subtotal, bill.document.minor_digits)} remaining`}
            </Caption>
          </Group>
        </Stack>
      )}
      {what === 'all' && bill.entries > 0 && (
        <Checkbox
          label={`Release its ${counted(bill.entries, 'entry', 'entries')}`}
          description="They can be changed and billed again. You cannot undo this, and cannot void the credit note."
          {...form.getInputProps('release', { type: 'checkbox' })}
        />
      )}
      <Textarea label="Note above the lines" autosize minRows={2} {...form.getInputProps('note')} />
    </ConfirmChange>
  )
}
