/** What can be done with a bill, by its state. */
import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import type { Bill } from './bill-body.ts'
import { CreditDialogue } from './credit-dialogue.tsx'
import { DeliverDialogue } from './deliver-dialogue.tsx'
import { PayDialogue } from './pay-dialogue.tsx'
import { VoidDialogue } from './void-dialogue.tsx'

type Open = 'pay' | 'void' | 'credit' | 'deliver' | null

export function BillActions({ bill }: { bill: Bill }) {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const { state, kind } = bill
  return (
    <>
      <Documents bill={bill} />
      <Button variant="default" onClick={() => setOpen('deliver')}>
        E-mail …
      </Button>
      {state === 'sent' && (
        <Button variant="default" onClick={() => setOpen('void')}>
          Make void …
        </Button>
      )}
      {state === 'sent' && <Button onClick={() => setOpen('pay')}>Mark as paid …</Button>}
      {state === 'paid' && kind === 'bill' && <Button onClick={() => setOpen('credit')}>Credit note …</Button>}
      {state === 'void' && kind === 'bill' && <Replacement bill={bill} />}
      <DeliverDialogue bill={bill} isOpen={open === 'deliver'} close={close} />
      <VoidDialogue bill={bill} isOpen={open === 'void'} close={close} />
      <PayDialogue bill={bill} isOpen={open === 'pay'} close={close} />
      <CreditDialogue bill={bill} isOpen={open === 'credit'} close={close} />
    </>
  )
}

/** The same scope and period again. */
const Replacement = ({ bill: { client, project, period, number } }: { bill: Bill }) => (
  <Button
    component={Link}
    href={addressOf('/bills/new', {
      // Of a project's bill the project alone says for what it is.
      client: project ? undefined : client?.name,
      project: project?.key,
      from: period.from,
      to: period.to,
      replaces: number,
    })}
  >
    New bill in its place
  </Button>
)

const DOCUMENTS = [
  { path: 'pdf', title: 'PDF', isSaved: true },
  { path: 'html', title: 'Page to print', isSaved: false },
  { path: 'csv', title: 'Lines as CSV', isSaved: true },
  { path: 'entries.csv', title: 'Entries as CSV', isSaved: true },
  { path: 'journal', title: 'hledger journal', isSaved: true },
]

function Documents({ bill: { id, state } }: { bill: Bill }) {
  const documents =
    state === 'void' ? [{ path: 'void-notice', title: 'Void notice as PDF', isSaved: true }, ...DOCUMENTS] : DOCUMENTS
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
