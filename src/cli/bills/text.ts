/** Formats bills for the terminal. */
import { minorDigitsOf } from '../../features/bills/contract.ts'
import type { Bill, BillDocument, BillHead, BillLine, BillTotals } from '../../features/bills/schema.ts'
import type { BillRun, BillRunRow } from '../../features/bills/service.ts'
import { numberText } from '../../lib/exact-json.ts'
import { parseDecimal } from '../../lib/money.ts'
import { BASIS_TITLES, billBasisText, type CostBasis } from '../../shared/cost-basis.ts'
import { counted, countText, dollars, inDollars } from '../terminal/numbers.ts'
import { type Column, minute, print, printFields, printTable } from '../terminal/print.ts'
import { exact } from './bill.ts'

/** An amount of what was read by `parseExactJson`, with all digits of its currency. */
function amountText<Key extends string>(holder: Partial<Record<Key, number>>, key: Key, digits: number): string {
  const minor = parseDecimal(numberText(holder, key), digits)!
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0')
  const whole = BigInt(text.slice(0, text.length - digits)).toLocaleString('en')
  return `${minor < 0n ? '-' : ''}${whole}${digits === 0 ? '' : `.${text.slice(-digits)}`}`
}

export function totalText(document: BillDocument): string {
  return `${amountText(document, 'total', document.minor_digits)} ${document.currency}`
}

/** What is still to be paid. */
export function balanceText(bill: Bill): string {
  return `${amountText(bill, 'balance', bill.document.minor_digits)} ${bill.currency}`
}

const DIMENSIONS: Record<string, string> = {
  project: 'PROJECT',
  ticket: 'TICKET',
  model: 'MODEL',
  agent_manager: 'AGENT MANAGER',
  agent_name: 'AGENT',
}

/** Beyond this a name makes the table wider than a screen. */
const NAME_CELLS = 40

function keyText(key: BillLine['keys'][string] | undefined): string {
  if (key === null || key === undefined) return '–'
  if (typeof key === 'string') return shortened(key)
  if (key.key === undefined) return shortened(key.name ?? '–')
  return shortened(key.name === null || key.name === key.key ? key.key : `${key.key} ${key.name}`)
}

function shortened(text: string): string {
  const letters = [...text]
  return letters.length <= NAME_CELLS ? text : `${letters.slice(0, NAME_CELLS - 1).join('')}…`
}

/** What is on a bill: its lines, what was added, its sums. */
function printLines(document: BillDocument): void {
  const { currency, exchange_rate: rate, minor_digits: digits } = document
  const columns: Column<BillLine>[] = [
    { title: 'LINE', of: ({ line }) => String(line), align: 'right' },
    ...document.group_by.map((dimension) => ({
      flows: true,
      title: DIMENSIONS[dimension] ?? dimension.replace('label:', '').toUpperCase(),
      of: ({ keys }: BillLine) => keyText(keys[dimension]),
    })),
    { title: 'SESSIONS', rank: 2, of: ({ sessions }) => countText(sessions), align: 'right' },
    {
      title: 'TOKENS',
      rank: 1,
      of: ({ tokens }) => BigInt(numberText(tokens, 'total')).toLocaleString('en'),
      align: 'right',
    },
    { title: 'COST (USD)', of: ({ cost }) => dollars(cost), align: 'right' },
    { title: 'MARKUP', of: ({ markup }) => (markup === null ? 'mixed' : `${markup}%`), align: 'right' },
    { title: `AMOUNT (${currency})`, rank: -1, of: (line) => amountText(line, 'amount', digits), align: 'right' },
  ]
  for (const { title, lines } of document.sections) {
    if (title !== null) print(`${title}:`)
    printTable(columns, lines)
    print('')
  }
  if (document.extra_lines.length > 0) {
    printTable(
      [
        { title: 'OTHER ITEMS', flows: true, of: ({ text }) => text },
        { title: `AMOUNT (${currency})`, of: (line) => amountText(line, 'amount', digits), align: 'right' },
      ],
      document.extra_lines,
    )
    print('')
  }
  const { tax } = document
  const sums: [label: string, amount: string][] = [
    ['Subtotal', amountText(document, 'subtotal', digits)],
    ...(tax ? [[`${tax.name} ${tax.percent}%`, amountText(tax, 'amount', digits)] as [string, string]] : []),
    [`Total ${currency}`, amountText(document, 'total', digits)],
  ]
  const [labels, amounts] = [0, 1].map((column) => Math.max(...sums.map((sum) => Bun.stringWidth(sum[column]!))))
  for (const [label, amount] of sums) {
    print(`${label}${' '.repeat(labels! - Bun.stringWidth(label))}  ${amount.padStart(amounts!)}`)
  }
  print('')
  print(
    `${counted(document.entries, 'entry', 'entries')} with ${costTitleOf(document)} of ${inDollars(document.cost)}${
      currency === 'USD' ? '' : `, at ${numberText({ rate }, 'rate')} ${currency} per US dollar`
    }.`,
  )
}

/** Names the basis, unless it is the cost. */
function costTitleOf({ basis = 'cost', provisional }: BillDocument): string {
  if (basis === 'cost') return 'a cost'
  return `${basis === 'allocated' ? 'an' : 'a'} ${BASIS_TITLES[basis].toLowerCase()}${provisional ? ' (provisional)' : ''}`
}

/** Whom a bill is for, in a few words. */
function scopeText({ client, project }: Pick<BillHead, 'client' | 'project'>): string {
  return project?.name ?? client?.name ?? 'everything'
}

const LEFT_OUT: Record<keyof BillDocument['left_out'], string> = {
  rejected: 'rejected',
  held: 'held as possible duplicates (list them with `tally entries list --status held`)',
  unpriced: 'unpriced (list their models with `tally reports unpriced`)',
  not_approved: 'not approved yet (list them with `tally approvals`)',
  on_sheets: 'on token sheets that are not approved',
  not_billable: 'in non-billable projects',
  earlier: 'from before the period (bill them with --include-earlier yes)',
  unattributed: 'in the period, unattributed (list them with `tally unattributed`)',
  without_client: 'in the period, in projects without a client',
  without_project: 'in the period, on tickets without a project',
  corrections: 'corrections of shares of plans (bill them with --basis allocated)',
}

const unknownOn = (basis: CostBasis) =>
  `without a known ${BASIS_TITLES[basis].toLowerCase()} (their cost is what agents reported, or else the list value)`

export function printPreview(document: BillDocument): void {
  const { basis = 'cost', period, recipient, scope } = document
  print(`Bill for ${scopeText(scope)}, ${period.from} to ${period.to}, due ${document.due_on}`)
  if (recipient) print(`to ${[recipient.name, recipient.email].filter((text) => text !== null).join(', ')}`)
  print('')
  printLines(document)
  const left = Object.entries(document.left_out).filter(([, { entries }]) => entries > 0)
  const seats = document.unused_seats
  if (left.length === 0 && !seats) return
  print('')
  print('Left out:')
  if (seats) print(`  ${counted(seats.seats, 'unused seat')} of plans (${inDollars(seats.cost)})`)
  for (const [reason, { entries, unpriced_entries: unpriced = 0, cost, at_least }] of left) {
    const unknown = unpriced === 0 ? '' : `${countText(unpriced)} without a price`
    const known = unpriced < entries ? inDollars(cost) : ''
    const isUnknown = reason === 'unpriced' && basis !== 'cost'
    const isSumless = (reason === 'unpriced' && !isUnknown) || reason === 'corrections'
    const sum = isSumless ? '' : ` (${[known, unknown].filter((text) => text !== '').join('; ')})`
    print(
      `  ${at_least ? 'at least ' : ''}${counted(entries, 'entry', 'entries')}${sum} ${isUnknown ? unknownOn(basis) : LEFT_OUT[reason as keyof typeof LEFT_OUT]}`,
    )
  }
}

export const BILL_COLUMNS: Column<BillHead>[] = [
  { title: 'NUMBER', of: ({ number }) => number },
  { title: 'KIND', rank: 2, of: ({ kind }) => kind.replace('_', ' ') },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'ISSUED', rank: 1, of: ({ issued_on }) => issued_on },
  { title: 'DUE', of: ({ due_on, overdue }) => `${due_on}${overdue ? ' overdue' : ''}` },
  { title: 'FOR', of: (bill) => shortened(scopeText(bill)) },
  { title: 'PERIOD', rank: 2, of: ({ period }) => `${period.from} – ${period.to}` },
  { title: 'ENTRIES', rank: 3, of: ({ entries }) => countText(entries), align: 'right' },
  { title: 'TOTAL', of: ({ total, currency }) => sumText(total, currency), align: 'right' },
  { title: 'OPEN', of: ({ balance, currency }) => sumText(balance, currency), align: 'right' },
  { title: 'CURRENCY', of: ({ currency }) => currency },
  { title: 'E-MAIL', rank: 3, of: ({ delivery }) => (delivery === 'none' ? '–' : delivery) },
]

/** A sum as a service returns it, with all digits of its currency. */
const sumText = (sum: number, currency: string) =>
  amountText(exact<{ sum: number }>({ sum }), 'sum', minorDigitsOf(currency))

function stateText({ state, paid, void: voided, due_on, overdue }: BillHead): string {
  if (paid) return `paid on ${paid.on}${paid.reference === null ? '' : ` (${paid.reference})`}`
  if (voided) return `voided ${minute(voided.at)} UTC: ${voided.reason}`
  return `${state}, due ${due_on}${overdue ? ', overdue' : ''}`
}

/** A bill that was read by `parseExactJson`. */
export function printBill(bill: Bill): undefined {
  const { document, deliveries, kind, period } = bill
  printFields([
    [kind.replace('_', ' '), bill.number],
    ['id', bill.id],
    ['state', stateText(bill)],
    ['for', scopeText(bill)],
    ['to', document.recipient?.name],
    ['open', bill.state === 'sent' && bill.payments.length > 0 ? balanceText(bill) : undefined],
    ['period', `${period.from} to ${period.to}`],
    ['costs', billBasisText(bill)],
    ['issued', bill.issued_on],
    ['order', document.purchase_order],
    ['replaces', bill.replaces?.number],
    ['corrects', bill.corrects?.number],
    ['replaced by', numbersOf(bill.replaced_by)],
    ['corrected by', numbersOf(bill.corrected_by)],
    ['released by', bill.released_by?.number],
    ['remaining', remainingText(bill)],
    ['note', document.note?.replaceAll('\n', `\n${' '.repeat(13)}`)],
    ['sent by', bill.created_by?.name ?? 'the command line'],
  ])
  print('')
  printLines(document)
  if (bill.payments.length > 0) {
    print('')
    printPayments(bill)
  }
  if (deliveries.length > 0) {
    print('')
    printDeliveries(deliveries)
  }
}

function printPayments({ payments, currency, document: { minor_digits: digits } }: Bill): void {
  printTable(
    [
      { title: 'PAYMENT', of: ({ number }) => String(number), align: 'right' },
      { title: 'ON', of: ({ on }) => on },
      { title: `AMOUNT (${currency})`, of: (payment) => amountText(payment, 'amount', digits), align: 'right' },
      {
        title: 'REFERENCE',
        of: ({ reference, offset_against: other }) => (other ? `offset against ${other.number}` : (reference ?? '–')),
      },
      { title: 'RECORDED BY', of: ({ created_by }) => created_by?.name ?? 'the command line' },
      {
        title: 'REVERSED',
        flows: true,
        of: ({ reversed }) => (reversed ? `${minute(reversed.at)} UTC: ${reversed.reason}` : '–'),
      },
    ],
    payments,
  )
}

const BLOCKS: Record<BillRunRow['blocked_by'][number], string> = {
  earlier_entries: 'earlier entries not decided',
  unpriced_entries: 'entries without a known amount',
  period_not_closed: 'periods of plans not closed',
  exchange_rate: 'no exchange rate',
  bill_too_large: 'too large',
}

/** The bills of a month, with what is left to decide. */
export function printRun({ data }: BillRun): undefined {
  printTable<BillRunRow>(
    [
      { title: 'FOR', of: ({ client, project }) => shortened(client?.name ?? project!.name) },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'BASIS', of: ({ basis, provisional }) => `${basis}${provisional ? ' (provisional)' : ''}` },
      { title: 'ENTRIES', rank: 1, of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'COST (USD)', of: ({ cost }) => dollars(cost), align: 'right' },
      {
        title: 'TOTAL',
        of: ({ total, currency }) => (total === null ? '–' : sumText(total, currency)),
        align: 'right',
      },
      { title: 'CURRENCY', of: ({ currency }) => currency },
      {
        title: 'TO DECIDE',
        flows: true,
        of: ({ blocked_by }) => blocked_by.map((block) => BLOCKS[block]).join(', ') || '–',
      },
    ],
    data,
  )
}

/** The sums of the bills in a list. */
export const totalsText = ({ data }: BillTotals): string =>
  data
    .map(({ currency, bills, total, amount_paid, balance, overdue, credit }) => {
      const amount = (sum: number) => sumText(sum, currency)
      const open = JSON.stringify(credit) === '0' ? '' : `, open credit ${amount(credit)}`
      return `${currency}: ${counted(bills, 'bill')}, total ${amount(total)}, paid ${amount(amount_paid)}, open ${amount(balance)}, overdue ${amount(overdue)}${open}`
    })
    .join('\n')

/** What is left after credit notes; nothing before the first one. */
function remainingText({ remaining, corrected_by, document: { minor_digits: digits, currency } }: Bill) {
  if (remaining === null || corrected_by.length === 0) return undefined
  const amount = (key: keyof typeof remaining) => amountText(remaining, key, digits)
  return `${amount('total')} ${currency} (${amount('subtotal')} before tax)`
}

const numbersOf = (bills: Bill['replaced_by']) =>
  bills.length === 0 ? undefined : bills.map(({ number }) => number).join(', ')

function printDeliveries(deliveries: Bill['deliveries']): void {
  printTable(
    [
      { title: 'E-MAIL TO', of: ({ to }) => to },
      { title: 'CONTENT', of: ({ notice }) => ({ sent: 'bill', void: 'void notice', reminder: 'reminder' })[notice] },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'ATTEMPTS', of: ({ attempts }) => String(attempts), align: 'right' },
      { title: 'SENT (UTC)', of: ({ sent_at }) => minute(sent_at) },
      { title: 'NEXT (UTC)', of: ({ next_attempt_at }) => minute(next_attempt_at) },
      { title: 'MAIL SERVER RESPONSE', flows: true, of: ({ answer }) => answer ?? '–' },
    ],
    deliveries,
  )
}
