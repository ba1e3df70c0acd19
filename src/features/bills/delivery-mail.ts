/** The e-mail with a bill, with the notice that it was voided, or with a reminder that it is overdue. Pure. */

import { type Formats, formatsOf } from '../../shared/locales.ts'
import { balanceOf } from './balance.ts'
import { amountText } from './documents/content.ts'
import type { BillDocument } from './schema.ts'
import type { BillView } from './store/bills.ts'

export type Notice = 'sent' | 'void' | 'reminder'

export interface Mail {
  from: { name: string; address: string }
  replyTo?: string
  to: string
  subject: string
  text: string
  /** The same for every attempt, so that mail programs detect duplicates. */
  messageId: string
  headers?: Record<string, string>
  attachments: { filename: string; content: Buffer; contentType: string }[]
}

export interface MailParts {
  /** The key of the delivery. */
  id: number
  notice: Notice
  to: string
  /** The text above the amounts; null for Tally's default. */
  message: string | null
  /** The sender's address, if it is not the issuer's. */
  from: string
  view: BillView
  document: BillDocument
  attachment: { bytes: Uint8Array; contentType: string; fileName: string }
}

export function mailOf({ id, notice, to, message, from, view, document, attachment }: MailParts): Mail {
  const { bill } = view
  const issuer = oneLine(document.issuer.name)
  const formats = formatsOf(document.locale)
  const what = `${bill.kind === 'bill' ? 'Bill' : 'Credit note'} ${bill.number}`
  const isReturned = document.issuer.email !== null && document.issuer.email !== from
  return {
    from: { name: issuer, address: from },
    ...(isReturned ? { replyTo: oneLine(document.issuer.email!) } : {}),
    to,
    subject: SUBJECTS[notice](`${what} from ${issuer}`, formats.day(bill.dueOn)),
    text: [
      ...(message === null ? [] : [message, '']),
      ...TEXTS[notice]({ view, what, issuer, document, formats }),
      '',
      ...(document.footer === null || notice === 'void' ? [] : [document.footer, '']),
      issuer,
      ...(document.issuer.address === null ? [] : [document.issuer.address]),
    ].join('\n'),
    messageId: `<${bill.uid}.${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    attachments: [
      {
        filename: attachment.fileName,
        content: Buffer.from(attachment.bytes),
        contentType: attachment.contentType,
      },
    ],
  }
}

const SUBJECTS: Record<Notice, (bill: string, dueOn: string) => string> = {
  sent: (bill) => bill,
  void: (bill) => `${bill} has been voided`,
  reminder: (bill, dueOn) => `Reminder: ${lowered(bill)} was due on ${dueOn}`,
}

interface TextParts {
  view: BillView
  /** `Bill 2026-0001` */
  what: string
  issuer: string
  document: BillDocument
  formats: Formats
}

const TEXTS: Record<Notice, (parts: TextParts) => string[]> = { sent: sentText, void: voidText, reminder: reminderText }

const lowered = (text: string) => `${text[0]!.toLowerCase()}${text.slice(1)}`

function sentText({ view: { bill, client }, what, document, formats: { day } }: TextParts): string[] {
  const { currency, tax } = document
  const amount = (minor: bigint) => `${currency} ${amountText(minor, document)}`
  const facts: [string, string][] = [['Period', `${day(bill.periodFrom)} to ${day(bill.periodTo)}`]]
  if (document.purchase_order !== null) facts.push(['Purchase order', document.purchase_order])
  if (document.corrects) facts.push(['Corrects', `bill ${document.corrects.number}`])
  if (document.replaces) facts.push(['Replaces', `bill ${document.replaces.number} (void)`])
  if (tax) facts.push(['Subtotal', amount(bill.subtotal)], [tax.name, amount(bill.tax)])
  facts.push(['Total', amount(bill.total)])
  if (bill.kind === 'bill') facts.push(['Due', day(bill.dueOn)])
  const recipient = document.recipient?.name ?? client?.name
  return [
    `${what}${recipient === undefined ? '' : ` for ${recipient}`}, dated ${day(bill.issuedOn)}, is attached.`,
    '',
    ...columnsOf(facts),
  ]
}

function reminderText({ view: { bill }, what, issuer, document, formats: { day } }: TextParts): string[] {
  const { currency } = document
  const amount = (minor: bigint) => `${currency} ${amountText(minor, document)}`
  const facts: [string, string][] = [['Total', amount(bill.total)]]
  if (bill.paidAmount !== 0n) facts.push(['Paid', amount(bill.paidAmount)])
  facts.push(['Open', amount(balanceOf(bill))], ['Due', day(bill.dueOn)])
  return [
    `${what} from ${issuer}, dated ${day(bill.issuedOn)}, was due on ${day(bill.dueOn)} and has not been paid in full. It is attached again.`,
    '',
    ...columnsOf(facts),
    '',
    'If you have paid it meanwhile, no action is needed.',
  ]
}

function columnsOf(facts: [label: string, text: string][]): string[] {
  const width = Math.max(...facts.map(([label]) => label.length))
  return facts.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`)
}

function voidText({ view: { bill }, what, issuer, formats: { day } }: TextParts): string[] {
  return [
    `${what} from ${issuer}, dated ${day(bill.issuedOn)}, has been voided. No payment is due.`,
    '',
    `  Reason  ${bill.voidReason}`,
  ]
}

/** A name in a message header: always a single line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}
