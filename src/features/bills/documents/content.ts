/**
 * The content of a bill's documents as texts: the same for PDF and HTML. The only calculations here are sums of groups,
 * in minor units; entries that the bill excludes do not appear.
 */
import { numberText, parseExactJson } from '../../../lib/exact-json.ts'
import { parseDecimal } from '../../../lib/money.ts'
import { type TimedLine, workHeading, workText } from '../../../shared/active-time.ts'
import { billBasisText } from '../../../shared/cost-basis.ts'
import { formatsOf } from '../../../shared/locales.ts'
import { textOf } from '../document.ts'
import type { BillDocument, BillLine } from '../schema.ts'

/** A stored document, with numbers that are exact with `numberText`. */
export function readDocument(text: string): BillDocument {
  return parseExactJson(text) as BillDocument
}

/** An amount of the document in minor units. */
export function minorOf<Key extends string>(
  holder: Partial<Record<Key, number>>,
  key: Key,
  { minor_digits }: BillDocument,
): bigint {
  return parseDecimal(numberText(holder, key), minor_digits)!
}

/** Minor units with all digits, for programs: `1234.50`, `-0.05`. */
export function plainAmount(minor: bigint, digits: number): string {
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  return `${minor < 0n ? '-' : ''}${whole}${digits === 0 ? '' : `.${text.slice(-digits)}`}`
}

/** The same for people, in the locale of the document: `1,234.50`. */
export const amountText = (minor: bigint, { minor_digits, locale }: Written): string =>
  formatsOf(locale).decimal(plainAmount(minor, minor_digits), minor_digits)

type Written = Pick<BillDocument, 'minor_digits' | 'locale'>

export interface PartyText {
  name: string
  /** Address, tax ID and e-mail address. */
  lines: string[]
}

export interface Row {
  label: string
  /** One cell per column, without the label. */
  cells: string[]
}

/**
 * Lines with the same value of the first dimension, such as a project; without a title if there is no other dimension.
 */
export interface Group {
  title: string | null
  /** Its amount, if it has more than one row. */
  amount: string | null
  rows: Row[]
}

export interface Content {
  title: string
  number: string
  issuer: PartyText
  recipient: PartyText | null
  /** Facts in the header: dates, period, references. */
  facts: [label: string, text: string][]
  note: string | null
  footer: string | null
  /** Headings; the first column contains labels, the others numbers. */
  columns: string[]
  sections: { title: string | null; groups: Group[] }[]
  sums: [label: string, amount: string][]
  total: [label: string, amount: string]
}

export function contentOf(document: BillDocument): Content {
  const { currency, locale } = document
  const amount = (minor: bigint) => amountText(minor, document)
  const sums: Content['sums'] = []
  if (document.tax) {
    sums.push(['Subtotal', amount(minorOf(document, 'subtotal', document))])
    const tax = `${document.tax.name} ${formatsOf(locale).decimal(numberText(document.tax, 'percent'))} %`
    sums.push([tax, amount(minorOf(document.tax, 'amount', document))])
  }
  return {
    title: document.kind === 'bill' ? 'Bill' : 'Credit note',
    number: document.number!,
    issuer: partyText(document.issuer),
    recipient: document.recipient && partyText(document.recipient),
    facts: factsOf(document),
    note: document.note,
    footer: document.footer,
    columns: columnsOf(document),
    sections: sectionsOf(document),
    sums,
    total: [`Total ${currency}`, amount(minorOf(document, 'total', document))],
  }
}

function partyText({ name, address, tax_id, email }: BillDocument['issuer']): PartyText {
  const lines = address?.split('\n').map((line) => line.trim()) ?? []
  return {
    name,
    lines: [...lines, ...(tax_id === null ? [] : [`Tax ID ${tax_id}`]), ...(email === null ? [] : [email])],
  }
}

function factsOf(document: BillDocument): Content['facts'] {
  const { issued_on, due_on, period, purchase_order, replaces, corrects, currency, locale } = document
  const { day, days, decimal } = formatsOf(locale)
  const isBill = document.kind === 'bill'
  const facts: Content['facts'] = [['Date', day(issued_on)]]
  if (isBill) facts.push(['Due', day(due_on)])
  facts.push(['Period', days(period.from, period.to)])
  if (purchase_order !== null) facts.push(['Purchase order', purchase_order])
  if (document.scope.project) facts.push(['Project', textOf(document.scope.project)!])
  if (corrects) facts.push(['Corrects bill', corrects.number])
  if (replaces) facts.push(['Replaces bill', replaces.number])
  const costs = billBasisText(document)
  if (isBill && costs !== undefined) facts.push(['Costs on this bill', costs])
  if (isBill && currency !== 'USD') {
    facts.push(['Exchange rate', `1 USD = ${decimal(numberText(document, 'exchange_rate'))} ${currency}`])
  }
  return facts
}

function columnsOf({ kind, sections, show_active_time, show_cost, currency }: BillDocument): string[] {
  if (kind === 'credit_note') return ['Description', `Amount ${currency}`]
  const costs = show_cost ? ['Cost USD', 'Markup'] : []
  const lines = sections.flatMap((section) => section.lines)
  const work = show_active_time ? [workHeading(lines.map(timedLine))] : []
  return ['Description', 'Sessions', 'Tokens', ...work, ...costs, `Amount ${currency}`]
}

function sectionsOf(document: BillDocument): Content['sections'] {
  const sections = document.sections.map(({ title, lines }) => ({ title, groups: groupsOf(lines, document) }))
  if (document.extra_lines.length === 0) return sections
  const blanks = columnsOf(document)
    .slice(2)
    .map(() => '')
  const rows = document.extra_lines.map((extra) => ({
    label: extra.text,
    cells: [...blanks, amountText(minorOf(extra, 'amount', document), document)],
  }))
  const title = sections.length === 0 ? null : 'Other items'
  return [...sections, { title, groups: [{ title: null, amount: null, rows }] }]
}

/** Lines are sorted by their names, so those of one group are consecutive. */
function groupsOf(lines: readonly BillLine[], document: BillDocument): Group[] {
  const [first, ...others] = document.group_by
  const groups: { key: string; title: string | null; lines: BillLine[] }[] = []
  for (const line of lines) {
    const key = others.length === 0 ? '' : JSON.stringify(line.keys[first!])
    if (groups.at(-1)?.key !== key) {
      groups.push({ key, title: others.length === 0 ? null : nameOf(line, first!), lines: [] })
    }
    groups.at(-1)!.lines.push(line)
  }
  const dimensions = others.length === 0 ? document.group_by : others
  return groups.map((group) => {
    const sum = group.lines.reduce((total, line) => total + minorOf(line, 'amount', document), 0n)
    return {
      title: group.title,
      amount: group.title !== null && group.lines.length > 1 ? amountText(sum, document) : null,
      rows: group.lines.map((line) => rowOf(line, dimensions, document)),
    }
  })
}

function rowOf(line: BillLine, dimensions: readonly string[], document: BillDocument): Row {
  const formats = formatsOf(document.locale)
  const { decimal } = formats
  const costs = [
    decimal(numberText(line, 'cost'), 2),
    line.markup === null ? 'various' : `${decimal(numberText(line as { markup: number }, 'markup'))} %`,
  ]
  return {
    label: dimensions.map((dimension) => nameOf(line, dimension)).join(' · ') || 'Agent usage',
    cells: [
      decimal(numberText(line, 'sessions')),
      decimal(numberText(line.tokens, 'total')),
      ...(document.show_active_time ? [workText(timedLine(line), formats)] : []),
      ...(document.show_cost ? costs : []),
      amountText(minorOf(line, 'amount', document), document),
    ],
  }
}

/** Numbers of a document are exact texts. */
const timedLine = ({ entries, untimed_entries = 0, active_seconds = null }: BillLine): TimedLine => ({
  activeSeconds: active_seconds === null ? null : Number(active_seconds),
  entries: Number(entries),
  untimed: Number(untimed_entries),
})

const NOTHING: Record<string, string> = {
  project: 'No project',
  ticket: 'No ticket',
  model: 'No model',
  agent_manager: 'No agent manager',
  agent_name: 'No agent',
}

function nameOf({ keys }: BillLine, dimension: string): string {
  const label = `No label ${dimension.slice('label:'.length)}`
  return textOf(keys[dimension] ?? null) ?? NOTHING[dimension] ?? label
}
