/** The actions of a bill, depending on its state. */
import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { ShareButton } from '../../parts/share-button.tsx'
import type { Bill } from './bill-body.ts'
import { CreditDialog } from './credit-dialog.tsx'
import { DeliverDialog } from './deliver-dialog.tsx'
import { PayDialog } from './pay-dialog.tsx'
import { VoidDialog } from './void-dialog.tsx'

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
