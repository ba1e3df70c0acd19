import { Checkbox, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { BillDialogueProps } from './pay-dialogue.tsx'

export function VoidDialogue({ bill, isOpen, close }: BillDialogueProps) {
  const [reason, setReason] = useState('')
  const [deliver, setDeliver] = useState(true)
  const wasSent = bill.deliveries.length > 0
  const makeVoid = useSend({
    send: () => answer(api.bills({ id: bill.id }).void.post({ reason: reason.trim(), deliver })),
    changes: ['bills', 'entries', 'reports', 'audit'],
    done: () => `Bill ${bill.number} is void.`,
    quiet: true,
  })
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title={`Make bill ${bill.number} void?`}
      action="Make void"
      isDangerous
      isIncomplete={reason.trim() === ''}
      confirm={() => makeVoid.mutateAsync()}
    >
      <Text size="sm">
        {bill.entries === 0
          ? 'It keeps its number and its document.'
          : `Its ${counted(bill.entries, 'entry', 'entries')} can be changed and billed again. It keeps its number and its document.`}{' '}
        This cannot be taken back.
      </Text>
      <Textarea
        label="Reason"
        description="It stands on the void notice."
        autosize
        minRows={2}
        maxLength={1000}
        required
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {wasSent && (
        <Checkbox
          label="Tell those to whom it was sent by e-mail"
          checked={deliver}
          onChange={(event) => setDeliver(event.currentTarget.checked)}
        />
      )}
    </Confirm>
  )
}
