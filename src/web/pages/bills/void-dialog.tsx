import { Checkbox, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { BillDialogProps } from './pay-dialog.tsx'

export function VoidDialog({ bill, isOpen, close }: BillDialogProps) {
  const [reason, setReason] = useState('')
  const [deliver, setDeliver] = useState(true)
  const what = bill.kind === 'bill' ? 'bill' : 'credit note'
  const wasSent = bill.deliveries.length > 0
  const makeVoid = useSend({
    send: () => answer(api.bills({ id: bill.id }).void.post({ reason: reason.trim(), deliver })),
    changes: ['bills', 'entries', 'reports', 'audit'],
    done: () => `${bill.kind === 'bill' ? 'Bill' : 'Credit note'} ${bill.number} voided.`,
    quiet: true,
  })
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title={`Void ${what} ${bill.number}?`}
      action={`Void ${what}`}
      isDangerous
      isIncomplete={reason.trim() === ''}
      confirm={() => makeVoid.mutateAsync()}
    >
      <Text size="sm">
        {bill.entries === 0
          ? 'It keeps its number and document.'
          : `Its ${counted(bill.entries, 'entry', 'entries')} can be changed and billed again. The bill keeps its number and document.`}{' '}
        You cannot undo this.
      </Text>
      <Textarea
        label="Reason"
        description="Shown on the void notice."
        autosize
        minRows={2}
        required
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {wasSent && (
        <Checkbox
          label="E-mail a void notice to everyone who received the bill"
          checked={deliver}
          onChange={(event) => setDeliver(event.currentTarget.checked)}
        />
      )}
    </Confirm>
  )
}
