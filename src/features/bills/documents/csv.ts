/** The documents of a bill as CSV: its lines, and the entries on them. */

import { csvCell, csvLine } from '../../../lib/csv-text.ts'
import { timestamp } from '../../../lib/duration.ts'
import { numberText } from '../../../lib/exact-json.ts'
import { formatDecimal, NANO_DIGITS } from '../../../lib/money.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { textOf } from '../document.ts'
import type { BillDocument, BillLine } from '../schema.ts'
import type { BilledRow } from '../store/billed-entries.ts'
import { minorOf, plainAmount } from './content.ts'

/** A trusted number, written unescaped: a spreadsheet must not treat a negative amount as text. */
class RawNumber {
  constructor(readonly text: string) {}
}

type Cell = string | RawNumber | null | undefined

function row(cells: readonly Cell[]): string {
  return `${cells.map((cell) => (cell instanceof RawNumber ? cell.text : csvCell(cell ?? ''))).join(',')}\r\n`
}

const TOKENS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'total'] as const

/**
 * A row for each line, each extra line and the tax: together they are the total. Cost and markup are included if the
 * client may see them.
 */
export function linesCsv(document: BillDocument): string {
  const { group_by: dimensions, show_active_time: showsTime = false, show_cost: showsCost, currency } = document
  const amount = (holder: { amount: number }): Cell[] => [
    currency,
    numberCell(document, 'exchange_rate'),
    plain(minorOf(holder, 'amount', document), document),
    ...basisCells(document),
  ]
  const columns = [
    'kind',
    'line',
    'section',
    ...dimensions.flatMap((dimension) => (dimension === 'project' ? ['project', 'project_name'] : [dimension])),
    'text',
    'entries',
    'sessions',
    ...TOKENS,
    ...(showsTime ? ['active_seconds', 'untimed_entries'] : []),
    ...(showsCost ? ['cost', 'list_value', 'markup'] : []),
    'currency',
    'exchange_rate',
    'amount',
    ...basisCells(document).map(() => 'basis'),
  ]
  const numberColumns = 2 + TOKENS.length + (showsTime ? 2 : 0) + (showsCost ? 3 : 0)
  const keyColumns = columns.indexOf('text') - 3
  const withText = (kind: string, text: string, holder: { amount: number }) =>
    row([kind, ...blank(2 + keyColumns), text, ...blank(numberColumns), ...amount(holder)])
  let csv = csvLine(columns)
  for (const { title, lines } of document.sections) {
    for (const line of lines) {
      csv += row([
        'line',
        numberCell(line, 'line'),
        title,
        ...dimensions.flatMap((dimension) => keyCells(line, dimension)),
        null,
        numberCell(line, 'entries'),
        numberCell(line, 'sessions'),
        ...TOKENS.map((kind) => numberCell(line.tokens, kind)),
        ...(showsTime ? [activeSeconds(line), numberCell(line, 'untimed_entries')] : []),
        ...(showsCost ? [numberCell(line, 'cost'), numberCell(line, 'list_value'), markup(line)] : []),
        ...amount(line),
      ])
    }
  }
  for (const extra of document.extra_lines) csv += withText('extra_line', extra.text, extra)
  if (document.tax) csv += withText('tax', document.tax.name, document.tax)
  return csv
}

/** None if entries are billed by cost, so that the columns stay those of earlier versions. */
function basisCells({ basis = 'cost', provisional }: BillDocument): string[] {
  return basis === 'cost' ? [] : [provisional ? `${basis} (provisional)` : basis]
}

const blank = (columns: number): null[] => Array.from({ length: columns }, () => null)

const numberCell = <Key extends string>(holder: Partial<Record<Key, number>>, key: Key) =>
  new RawNumber(numberText(holder, key))

function plain(minor: bigint, { minor_digits }: BillDocument): RawNumber {
  return new RawNumber(plainAmount(minor, minor_digits))
}

function markup(line: BillLine): RawNumber | null {
  return line.markup === null ? null : numberCell(line as { markup: number }, 'markup')
}

function activeSeconds(line: BillLine): RawNumber | null {
  return line.active_seconds == null ? null : numberCell(line as { active_seconds: number }, 'active_seconds')
}

function keyCells({ keys }: BillLine, dimension: string): Cell[] {
  const key = keys[dimension] ?? null
  if (dimension !== 'project') return [textOf(key)]
  return key === null || typeof key === 'string' ? [key, null] : [key.key, key.name]
}

/** Columns that also exist in an export of entries have the same names. */
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
  'agent_manager_id',
  'agent_manager_email',
  'active_seconds',
]

const money = (nanos: bigint | null) => (nanos === null ? null : new RawNumber(formatDecimal(nanos, NANO_DIGITS)))
const count = (tokens: number | null) => (tokens === null ? null : new RawNumber(String(tokens)))

/** A row for each entry on the bill, page by page, with a column for each of the labels with these names. */
export async function* entriesCsv(
  { number, basis }: { number: string; basis: CostBasis },
  labelNames: readonly string[],
  pages: AsyncIterable<BilledRow[]>,
): AsyncGenerator<string> {
  // The columns of bills by cost stay those of earlier versions.
  const more = basis === 'cost' ? [] : [basis]
  yield csvLine([...ENTRY_COLUMNS, ...more.map(() => 'basis'), ...labelNames.map((name) => `label:${name}`)])
  for await (const page of pages) {
    let text = ''
    for (const entry of page) text += entryRow(number, basis, labelNames, entry)
    yield text
  }
}

function costOn(basis: CostBasis, { reportedCost, listValue, fee, charge }: BilledRow): bigint | null {
  if (basis === 'cost') return reportedCost ?? listValue
  if (basis === 'list') return listValue
  return charge === null ? null : charge + (fee ?? 0n)
}

function entryRow(number: string, basis: CostBasis, labelNames: readonly string[], entry: BilledRow): string {
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
    money(costOn(basis, entry)),
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
    entry.managerId,
    entry.managerEmail,
    entry.activeMs === null ? null : new RawNumber(String(entry.activeMs / 1_000)),
    ...(basis === 'cost' ? [] : [basis]),
    ...labelNames.map((name) => (labels && Object.hasOwn(labels, name) ? labels[name] : null)),
  ])
}
