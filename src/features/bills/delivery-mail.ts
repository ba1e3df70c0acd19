/** The e-mail with a bill, or with the notice that it was voided. Pure. */

import { minorDigitsOf } from './currency.ts'
import { amountText } from './documents/content.ts'
import type { BillDocument } from './schema.ts'
import type { BillView } from './store/bills.ts'

export type Notice = 'sent' | 'void'

export interface Mail {
  from: { name: string; address: string }
  replyTo?: string
  to: string
  subject: string
  text: string
  /** The same for every attempt, so that mail programs detect duplicates. */
  messageId: string
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
  const what = `${bill.kind === 'bill' ? 'Bill' : 'Credit note'} ${bill.number}`
  const isReturned = document.issuer.email !== null && document.issuer.email !== from
  return {
    from: { name: issuer, address: from },
    ...(isReturned ? { replyTo: oneLine(document.issuer.email!) } : {}),
    to,
    subject: notice === 'void' ? `${what} from ${issuer} has been voided` : `${what} from ${issuer}`,
    text: [
      ...(message === null ? [] : [message, '']),
      ...(notice === 'void' ? voidText(view, what, issuer) : sentText(view, what, document)),
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

function sentText({ bill, client }: BillView, what: string, document: BillDocument): string[] {
  const { currency, tax } = document
  const amount = (minor: bigint) => `${currency} ${amountText(minor, minorDigitsOf(currency))}`
  const facts: [string, string][] = [['Period', `${bill.periodFrom} to ${bill.periodTo}`]]
  if (document.purchase_order !== null) facts.push(['Purchase order', document.purchase_order])
  if (document.corrects) facts.push(['Corrects', `bill ${document.corrects.number}`])
  if (document.replaces) facts.push(['Replaces', `bill ${document.replaces.number} (void)`])
  if (tax) facts.push(['Subtotal', amount(bill.subtotal)], [tax.name, amount(bill.tax)])
  facts.push(['Total', amount(bill.total)])
  if (bill.kind === 'bill') facts.push(['Due', bill.dueOn])
  const width = Math.max(...facts.map(([label]) => label.length))
  const recipient = document.recipient?.name ?? client?.name
  return [
    `${what}${recipient === undefined ? '' : ` for ${recipient}`}, dated ${bill.issuedOn}, is attached.`,
    '',
    ...facts.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`),
  ]
}

function voidText({ bill }: BillView, what: string, issuer: string): string[] {
  return [
    `${what} from ${issuer}, dated ${bill.issuedOn}, has been voided. No payment is due.`,
    '',
    `  Reason  ${bill.voidReason}`,
  ]
}

/** A name in a message header: always a single line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}
