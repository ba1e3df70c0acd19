import { TextInput } from '@mantine/core'
import { DateInput } from '@mantine/dates'
import { useState } from 'react'
import { dayOf } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
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
  const [reference, setReference] = useState('')
  const pay = useSend({
    send: () =>
      answer(
        api.bills({ id: bill.id }).paid.post({
          ...(on && { on }),
          ...(reference.trim() !== '' && { reference: reference.trim() }),
        }),
      ),
    changes: ['bills', 'audit'],
    done: () => `Bill ${bill.number} marked as paid.`,
    quiet: true,
  })
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title={`Mark bill ${bill.number} (${billedMoney(bill.total, bill.currency)}) as paid`}
      action="Mark as paid"
      confirm={() => pay.mutateAsync()}
    >
      <DateInput
        label="Paid on"
        value={on}
        onChange={setOn}
        minDate={bill.issued_on}
        maxDate={today}
        valueFormat="D MMM YYYY"
        firstDayOfWeek={firstDayOfWeek}
        data-autofocus
      />
      <TextInput
        label="Reference"
        description="For example, the reference of the bank transfer."
        maxLength={200}
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
    </Confirm>
  )
}
