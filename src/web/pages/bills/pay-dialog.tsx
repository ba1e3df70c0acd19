import { Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { dayOf } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { hasUnreadable } from '../../format/read-numbers.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { DateField } from '../../parts/date-field.tsx'
import { DecimalField } from '../../parts/number-fields.tsx'
import { answer, api } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import type { Bill } from './bill-body.ts'

export interface BillDialogProps {
  bill: Bill
  isOpen: boolean
  close: () => void
}

export function PayDialog({ bill, isOpen, close }: BillDialogProps) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const today = dayOf(new Date(), time_zone)
  const [on, setOn] = useState<string | null>(today)
  const [amount, setAmount] = useState<number | string>('')
  const [reference, setReference] = useState('')
  const isRefund = bill.balance < 0
  const open = billedMoney(Math.abs(bill.balance), bill.currency)
  return (
    <ConfirmChange
      isOpen={isOpen}
      close={close}
      title={isRefund ? `Record refund of credit note ${bill.number}` : `Record payment of bill ${bill.number}`}
      action={isRefund ? 'Record refund' : 'Record payment'}
      isIncomplete={hasUnreadable(amount)}
      send={() =>
        answer(
          api.bills({ id: bill.id }).payments.post({
            ...(amount !== '' && { amount: isRefund ? -Number(amount) : Number(amount) }),
            ...(on && { on }),
            ...(reference.trim() !== '' && { reference: reference.trim() }),
          }),
        )
      }
      changes={['bills', 'audit']}
      done={({ state, balance }) =>
        state === 'paid'
          ? `${isRefund ? 'Credit note' : 'Bill'} ${bill.number} marked as paid.`
          : `${isRefund ? 'Refund' : 'Payment'} recorded; ${billedMoney(balance, bill.currency)} is open.`
      }
    >
      <Text size="sm">{open} is open.</Text>
      <DecimalField
        label={`Amount in ${bill.currency}`}
        description="Leave empty for the whole open balance."
        placeholder={Math.abs(bill.balance).toFixed(bill.document.minor_digits)}
        min={0}
        max={Math.abs(bill.balance)}
        digits={bill.document.minor_digits}
        currency={bill.currency}
        value={amount}
        onChange={setAmount}
        data-autofocus
      />
      <DateField
        label="Paid on"
        value={on}
        onChange={setOn}
        minDate={bill.issued_on}
        maxDate={today}
        firstDayOfWeek={firstDayOfWeek}
      />
      <TextInput
        label="Reference"
        description="For example, the reference of the bank transfer."
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
    </ConfirmChange>
  )
}
