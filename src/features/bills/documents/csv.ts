/** The documents of a bill as CSV: its lines, and the entries on them. */

import { csvCell, csvLine } from '../../../lib/csv-text.ts'
import { timestamp } from '../../../lib/duration.ts'
import { numberText } from '../../../lib/exact-json.ts'
import { formatDecimal, NANO_DIGITS } from '../../../lib/money.ts'
import { textOf } from '../document.ts'
import type { BillDocument, BillLine } from '../schema.ts'
import type { BilledRow } from '../store/billed-entries.ts'
import { amountText, minorOf } from './content.ts'

/** A number of ours. It is written as it is: a spreadsheet must not take a negative amount for a text. */
class Figure {
  constructor(readonly text: string) {}
}

type Cell = string | Figure | null | undefined

function row(cells: readonly Cell[]): string {
  return `${cells.map((cell) => (cell instanceof Figure ? cell.text : csvCell(cell ?? ''))).join(',')}\r\n`
}

const TOKENS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'total'] as const

/**
 * A row for each line, each extra line and the tax: together they are the total. Cost and markup are there where the
 * client may see them.
 */
export function linesCsv(document: BillDocument): string {
  const { group_by: dimensions, show_cost: showsCost, currency } = document
  const amount = (holder: { amount: number }) => plain(minorOf(holder, 'amount', document), document)
  const columns = [
    'kind',
    'line',
    'section',
    ...dimensions.flatMap((dimension) => (dimension === 'project' ? ['project', 'project_name'] : [dimension])),
    'text',
    'entries',
    'sessions',
    ...TOKENS,
    ...(showsCost ? ['cost', 'list_value', 'markup'] : []),
    'currency',
    'amount',
  ]
  const figuresAndCosts = 2 + TOKENS.length + (showsCost ? 3 : 0)
  const keyColumns = columns.indexOf('text') - 3
  const withText = (kind: string, text: string, holder: { amount: number }) =>
    row([kind, ...blank(2 + keyColumns), text, ...blank(figuresAndCosts), currency, amount(holder)])
  let csv = csvLine(columns)
  for (const { title, lines } of document.sections) {
    for (const line of lines) {
      csv += row([
        'line',
        figure(line, 'line'),
        title,
        ...dimensions.flatMap((dimension) => keyCells(line, dimension)),
        null,
        figure(line, 'entries'),
        figure(line, 'sessions'),
        ...TOKENS.map((kind) => figure(line.tokens, kind)),
        ...(showsCost ? [figure(line, 'cost'), figure(line, 'list_value'), markup(line)] : []),
        currency,
        amount(line),
      ])
    }
  }
  for (const extra of document.extra_lines) csv += withText('extra_line', extra.text, extra)
  if (document.tax) csv += withText('tax', document.tax.name, document.tax)
  return csv
}

const blank = (columns: number): null[] => Array.from({ length: columns }, () => null)

const figure = <Key extends string>(holder: Partial<Record<Key, number>>, key: Key) =>
  new Figure(numberText(holder, key))

/** Without grouping, which a program would trip over. */
function plain(minor: bigint, { minor_digits }: BillDocument): Figure {
  return new Figure(amountText(minor, minor_digits).replaceAll(',', ''))
}

function markup(line: BillLine): Figure | null {
  return line.markup === null ? null : figure(line as { markup: number }, 'markup')
}

function keyCells({ keys }: BillLine, dimension: string): Cell[] {
  const key = keys[dimension] ?? null
  if (dimension !== 'project') return [textOf(key)]
  return key === null || typeof key === 'string' ? [key, null] : [key.key, key.name]
}

/** Named as in an export of entries, where they are the same. */
const ENTRY_COLUMNS = [
  'bill',
  'line',
  'id',
  'agent_manager',
  'agent_harness',
  'agent_name',
  'model',
  'provider',
  'started_at',
  'ended_at',
  ...TOKENS,
  'cost',
  'reported_cost',
  'list_value',
  'price',
  'price_note',
  'project',
  'ticket',
  'placed_by',
  'rule',
  'summary',
  'labels',
  'session_id',
  'part',
]

const money = (nanos: bigint | null) => (nanos === null ? null : new Figure(formatDecimal(nanos, NANO_DIGITS)))
const count = (tokens: number | null) => (tokens === null ? null : new Figure(String(tokens)))

/** A row for each entry on the bill, page by page as they are read. */
export async function* entriesCsv(number: string, pages: AsyncIterable<BilledRow[]>): AsyncGenerator<string> {
  yield csvLine(ENTRY_COLUMNS)
  for await (const page of pages) {
    let text = ''
    for (const entry of page) text += entryRow(number, entry)
    yield text
  }
}

function entryRow(number: string, entry: BilledRow): string {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, labels } = entry
  return row([
    number,
    count(entry.line),
    entry.uid,
    entry.manager,
    entry.harness,
    entry.agent,
    entry.model,
    entry.provider,
    timestamp(entry.startedAt),
    timestamp(entry.endedAt),
    count(input),
    count(output),
    count(cacheRead),
    count(cacheWrite),
    count(cacheWrite1h),
    count(input + output + cacheRead + cacheWrite + cacheWrite1h),
    money(entry.reportedCost ?? entry.listValue),
    money(entry.reportedCost),
    money(entry.listValue),
    entry.price,
    entry.priceNote,
    entry.project,
    entry.ticket,
    entry.placedBy ?? 'unattributed',
    entry.rule,
    entry.summary,
    labels &&
      Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    entry.sessionKey,
    count(entry.part),
  ])
}
