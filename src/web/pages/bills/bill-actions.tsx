/** The actions of a bill, depending on its state. */
import { Button, Checkbox, Menu, TagsInput, Text, Textarea } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { ShareButton } from '../../parts/share-button.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import type { Bill } from './bill-body.ts'
import { CreditDialog } from './credit-dialog.tsx'
import { type BillDialogProps, PayDialog } from './pay-dialog.tsx'

type Open = 'pay' | 'void' | 'credit' | 'deliver' | null

export function BillActions({ bill }: { bill: Bill }) {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const { state, kind, remaining, payments, corrected_by } = bill
  const isPaid = payments.some(({ reversed, offset_against }) => !reversed && !offset_against)
  const mayBeVoided = state !== 'void' && !isPaid && corrected_by.length === 0
  return (
    <>
      <Documents bill={bill} />
      <ShareButton subject={{ bill: bill.id }} what={kind === 'bill' ? 'bill' : 'credit note'} />
      <Button variant="default" onClick={() => setOpen('deliver')}>
        Send by e-mail…
      </Button>
      {mayBeVoided && (
        <Button variant="default" onClick={() => setOpen('void')}>
          {kind === 'bill' ? 'Void bill…' : 'Void credit note…'}
        </Button>
      )}
      {remaining !== null && (remaining.total !== 0 || remaining.subtotal !== 0) && (
        <Button variant={state === 'paid' ? 'filled' : 'default'} onClick={() => setOpen('credit')}>
          Create credit note…
        </Button>
      )}
      {state === 'sent' && (
        <Button onClick={() => setOpen('pay')}>{kind === 'bill' ? 'Record payment…' : 'Record refund…'}</Button>
      )}
      {state === 'void' && kind === 'bill' && <Replacement bill={bill} />}
      <DeliverDialog bill={bill} isOpen={open === 'deliver'} close={close} />
      <VoidDialog bill={bill} isOpen={open === 'void'} close={close} />
      <PayDialog bill={bill} isOpen={open === 'pay'} close={close} />
      <CreditDialog bill={bill} isOpen={open === 'credit'} close={close} />
    </>
  )
}

/** A new bill for the same scope and period. */
const Replacement = ({ bill: { client, project, period, number } }: { bill: Bill }) => (
  <Button
    component={Link}
    href={addressOf('/bills/new', {
      // The project alone identifies the scope of a project's bill.
      client: project ? undefined : client?.name,
      project: project?.key,
      from: period.from,
      to: period.to,
      replaces: number,
    })}
  >
    Create replacement bill
  </Button>
)

const DOCUMENTS = [
  { path: 'pdf', title: 'PDF', isSaved: true },
  { path: 'html', title: 'Printable page', isSaved: false },
  { path: 'csv', title: 'Lines (CSV)', isSaved: true },
  { path: 'entries.csv', title: 'Entries (CSV)', isSaved: true },
  { path: 'journal', title: 'hledger journal', isSaved: true },
]

function Documents({ bill: { id, state } }: { bill: Bill }) {
  const documents =
    state === 'void' ? [{ path: 'void-notice', title: 'Void notice (PDF)', isSaved: true }, ...DOCUMENTS] : DOCUMENTS
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />} rightSection={<IconChevronDown size={14} />}>
          Download
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {documents.map(({ path, title, isSaved }) => (
          <Menu.Item
            key={path}
            component="a"
            href={`/api/v1/bills/${id}/${path}`}
            {...(isSaved ? { download: true } : { target: '_blank', rel: 'noreferrer' })}
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function VoidDialog({ bill, isOpen, close }: BillDialogProps) {
  const [reason, setReason] = useState('')
  const [deliver, setDeliver] = useState(true)
  const what = bill.kind === 'bill' ? 'bill' : 'credit note'
  const wasSent = bill.deliveries.length > 0
  return (
    <ConfirmChange
      isOpen={isOpen}
      close={close}
      title={`Void ${what} ${bill.number}?`}
      action={`Void ${what}`}
      isDangerous
      isIncomplete={reason.trim() === ''}
      send={() => answer(api.bills({ id: bill.id }).void.post({ reason: reason.trim(), deliver }))}
      changes={['bills', 'entries', 'reports', 'audit']}
      done={() => `${bill.kind === 'bill' ? 'Bill' : 'Credit note'} ${bill.number} voided.`}
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
    </ConfirmChange>
  )
}

function DeliverDialog({ bill, isOpen, close }: BillDialogProps) {
  const usual = bill.document.recipient?.email
  const [to, setTo] = useState<string[]>(usual ? [usual] : [])
  const [message, setMessage] = useState('')
  return (
    <ConfirmChange
      isOpen={isOpen}
      close={close}
      title={bill.state === 'void' ? `E-mail void notice for bill ${bill.number}` : `E-mail bill ${bill.number}`}
      action="Send e-mail"
      isIncomplete={to.length === 0}
      send={() =>
        answer(
          api.bills({ id: bill.id }).deliver.post({
            to,
            ...(message.trim() !== '' && { message: message.trim() }),
          }),
        )
      }
      changes={['bills', 'audit']}
      done={() => 'E-mail queued. Its delivery status is shown next to the bill.'}
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
    </ConfirmChange>
  )
}
