/** Writes entries as CSV as fast as one thread can: the same as `ENTRY_COLUMNS` produce, which a test compares. */
import type { Reader } from '../../../database/database.ts'
import { csvCell, csvLine } from '../../../lib/csv-text.ts'
import { timestamp } from '../../../lib/duration.ts'
import { formatDecimal, NANO_DIGITS } from '../../../lib/money.ts'
import { MEDIA_KINDS } from '../../prices/usage.ts'
import { isCostMismatch } from '../cost-mismatch.ts'
import { costNanosOf, detailsOf } from '../rows.ts'
import { ENTRY_COLUMNS, labelsText } from './csv.ts'
import type { Position } from './filter.ts'
import {
  type ExportedRow,
  type ExportRequest,
  listExported,
  listLabelSets,
  listTexts,
  type Referred,
} from './store/export.ts'

/** Rows per page: the query takes a few milliseconds, and a few hundred kilobytes of text are in memory at a time. */
const PAGE_ROWS = 1_000

/** Texts in memory before the cache is cleared: more tickets and branches than people work on, in a few megabytes. */
const TEXTS_LIMIT = 50_000

/** Serialized cells that many rows share, by key. */
class Cells {
  readonly #cells = new Map<number, string>()

  constructor(readonly load: (ids: number[]) => Promise<{ id: number; cell: string }[]>) {}

  /** Loads the texts that these rows refer to and that are not in the cache. */
  async prepare(rows: ExportedRow[], ...keysOf: ((row: ExportedRow) => number | null)[]): Promise<void> {
    if (this.#cells.size > TEXTS_LIMIT) this.#cells.clear()
    const missing = new Set<number>()
    for (const row of rows) {
      for (const keyOf of keysOf) {
        const key = keyOf(row)
        if (key !== null && !this.#cells.has(key)) missing.add(key)
      }
    }
    if (missing.size === 0) return
    for (const { id, cell } of await this.load([...missing])) this.#cells.set(id, cell)
  }

  of(key: number | null): string {
    return key === null ? '' : this.#cells.get(key)!
  }
}

/** The text of an export, page by page. Memory use does not depend on the number of entries. */
export async function* entriesCsv(reader: Reader, request: ExportRequest): AsyncGenerator<string> {
  const texts = (of: Referred) =>
    new Cells(async (ids) => (await listTexts(reader, of, ids)).map(({ id, text }) => ({ id, cell: csvCell(text) })))
  const cells = {
    managers: texts('managers'),
    names: texts('names'),
    prices: texts('prices'),
    projects: texts('projects'),
    tickets: texts('tickets'),
    duplicates: texts('entries'),
    bills: texts('bills'),
    sheets: texts('sheets'),
    labels: new Cells(async (ids) =>
      (await listLabelSets(reader, ids)).map(({ id, labels }) => ({ id, cell: csvCell(labelsText(labels)) })),
    ),
  }
  yield csvLine(ENTRY_COLUMNS.map(({ heading }) => heading))
  let after: Position | undefined
  for (;;) {
    const rows = await listExported(reader, request, { after, limit: PAGE_ROWS })
    await cells.managers.prepare(rows, (row) => row.managerId)
    await cells.names.prepare(
      rows,
      (row) => row.harnessId,
      (row) => row.agentId,
      (row) => row.modelId,
      (row) => row.providerId,
    )
    await cells.prices.prepare(rows, (row) => row.priceId)
    await cells.projects.prepare(rows, (row) => row.projectId)
    await cells.tickets.prepare(rows, (row) => row.ticketId)
    await cells.duplicates.prepare(rows, (row) => row.duplicateId)
    await cells.bills.prepare(rows, (row) => row.billId)
    await cells.sheets.prepare(rows, (row) => row.sheetId)
    await cells.labels.prepare(rows, (row) => row.labelSetId)
    let text = ''
    for (const row of rows) text += lineOf(row, cells)
    if (text !== '') yield text
    if (rows.length < PAGE_ROWS) return
    after = rows.at(-1)
  }
}

type AllCells = Record<
  'managers' | 'names' | 'prices' | 'projects' | 'tickets' | 'duplicates' | 'bills' | 'sheets' | 'labels',
  Cells
>

/** Cells in the order of `ENTRY_COLUMNS`. Ids, timestamps, numbers and our own constants need no quotes. */
function lineOf(row: ExportedRow, cells: AllCells): string {
  const { names } = cells
  return `${row.uid},${row.state},${cells.managers.of(row.managerId)},${row.sheetId === null ? row.managerBy : ''},${names.of(row.harnessId)},${names.of(row.agentId)},${names.of(row.modelId)},${names.of(row.providerId)},${moment(row.startedAt)},${moment(row.endedAt)},${row.counts},${row.requests ?? ''},${money(costNanosOf(row))},${money(row.reportedCost)},${money(row.listValue)},${cells.prices.of(row.priceId)},${csvCell(row.priceNote ?? '')},${cells.projects.of(row.projectId)},${cells.tickets.of(row.ticketId)},${row.placedBy ?? 'unattributed'},${csvCell(row.summary ?? '')},${cells.labels.of(row.labelSetId)},${csvCell(row.sessionKey ?? '')},${row.part ?? ''},${cells.duplicates.of(row.duplicateId)},${cells.bills.of(row.billId)},${cells.sheets.of(row.sheetId)},${moment(row.createdAt)},${isCostMismatch(row)},${row.usageDetails === null ? NO_DETAILS : detailsCells(row)}\r\n`
}

const NO_DETAILS = ',,,,,,,'

function detailsCells(row: Pick<ExportedRow, 'usageDetails'>): string {
  const { serviceTier, speed, region, tools, media } = detailsOf(row)!
  const texts = [serviceTier, speed, region, tools && labelsText(tools)].map((text) => csvCell(text ?? ''))
  return [...texts, ...MEDIA_KINDS.map((kind) => media?.[kind] ?? '')].join(',')
}

const DAY_MS = 86_400_000
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/** The day of the last timestamp: rows are in order of time. */
let day = { number: Number.NaN, text: '' }

/** Formats like `timestamp`, at a quarter of the cost. */
function moment(milliseconds: number): string {
  const number = Math.floor(milliseconds / DAY_MS)
  if (number !== day.number) day = { number, text: timestamp(number * DAY_MS).slice(0, -'00:00:00.000Z'.length) }
  const rest = milliseconds - number * DAY_MS
  const seconds = Math.floor(rest / 1_000)
  const minutes = Math.floor(seconds / 60)
  const fraction = String(rest % 1_000).padStart(3, '0')
  return `${day.text}${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}.${fraction}Z`
}

function money(nanos: bigint | null): string {
  return nanos === null ? '' : formatDecimal(nanos, NANO_DIGITS)
}
