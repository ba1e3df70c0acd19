/** Rows as CSV (RFC 4180), with cells that a spreadsheet would run as a formula made harmless. */
import { stringify } from 'csv-stringify/sync'
import type { CsvColumn } from './csv-column.ts'

/** Rows are turned into text by hundreds: one by one costs more than what they hold. */
const CHUNK_ROWS = 500

/** The library quotes a cell that holds a whole line end; readers take half of one for a line end as well. */
const OPTIONS = { escape_formulas: true, record_delimiter: 'windows', quoted_match: /[\r\n]/ } as const

/** Begins no formula and needs no quotes. Most texts do so, and asking the library costs far more than looking. */
const PLAIN = /^[A-Za-z0-9][^",\r\n]*$/

/** Needs quotes for a comma and nothing else. */
const WITH_COMMA = /^[A-Za-z0-9][^"\r\n]*$/

/** A text as a cell, as {@link csvText} writes it. */
export function csvCell(text: string): string {
  if (text === '' || PLAIN.test(text)) return text
  if (WITH_COMMA.test(text)) return `"${text}"`
  return csvLine([text]).slice(0, -'\r\n'.length)
}

/** A line of its own, with its end. */
export function csvLine(cells: readonly string[]): string {
  return stringify([[...cells]], OPTIONS)
}

/** A line of headings and a line a row, some hundreds at a time. */
export async function* csvText<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly CsvColumn<Row>[],
): AsyncGenerator<string> {
  const write = (cells: unknown[][]) => stringify(cells, OPTIONS)
  yield write([columns.map(({ heading }) => heading)])
  let pending: unknown[][] = []
  for await (const row of rows) {
    pending.push(columns.map(({ cell }) => cell(row) ?? ''))
    if (pending.length < CHUNK_ROWS) continue
    yield write(pending)
    pending = []
  }
  if (pending.length > 0) yield write(pending)
}
