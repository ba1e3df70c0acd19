import { TagsInput, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../../parts/confirm.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { BillDialogProps } from './pay-dialog.tsx'

export function DeliverDialog({ bill, isOpen, close }: BillDialogProps) {
  const usual = bill.document.recipient?.email
  const [to, setTo] = useState<string[]>(usual ? [usual] : [])
  const [message, setMessage] = useState('')
  const deliver = useSend({
    send: () =>
      answer(
        api.bills({ id: bill.id }).deliver.post({
          to,
          ...(message.trim() !== '' && { message: message.trim() }),
        }),
      ),
    changes: ['bills', 'audit'],
    done: () => 'E-mail queued. Its delivery status is shown next to the bill.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title={bill.state === 'void' ? `E-mail void notice for bill ${bill.number}` : `E-mail bill ${bill.number}`}
      action="Send e-mail"
      isIncomplete={to.length === 0}
      confirm={() => deliver.mutateAsync()}
    >
      <Note>{bill.state === 'void' ? 'The void notice is attached as a PDF.' : 'The bill is attached as a PDF.'}</Note>
      <TagsInput
        label="To"
        description="Press Enter after each address."
        placeholder={to.length === 0 ? 'bills@acme.example' : ''}
        splitChars={[',', ' ', ';']}
        maxTags={10}
        acceptValueOnBlur
        value={to}
        onChange={setTo}
        data-autofocus
      />
      <Textarea
        label="Message"
        placeholder="Default message"
        autosize
        minRows={2}
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
    </Confirm>
  )
}
