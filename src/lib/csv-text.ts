/** Rows as CSV (RFC 4180). Cells that a spreadsheet would run as a formula are escaped. */
import { stringify } from 'csv-stringify/sync'
import type { CsvColumn } from './csv-column.ts'

/** Rows are converted in batches of hundreds: one at a time, the overhead exceeds the actual work. */
const CHUNK_ROWS = 500

/** The library quotes a cell that contains a whole line end; readers also accept half of one as a line end. */
const OPTIONS = {
  escape_formulas: true,
  record_delimiter: 'windows',
  quoted_match: /[\r\n]/,
  cast: { string: (cell: string) => (NEGATIVE.test(cell) ? { value: cell, escape_formulas: false } : cell) },
} as const

/** A number is not a formula. */
const NEGATIVE = /^-\d+(\.\d+)?$/

/** Starts no formula and needs no quotes. Most texts match, and this check is far cheaper than calling the library. */
const PLAIN = /^[A-Za-z0-9][^",\r\n]*$/

/** Needs quotes only because of a comma. */
const WITH_COMMA = /^[A-Za-z0-9][^"\r\n]*$/

/** A text as a cell, identical to the output of {@link csvText}. */
export function csvCell(text: string): string {
  if (text === '' || PLAIN.test(text)) return text
  if (WITH_COMMA.test(text)) return `"${text}"`
  return csvLine([text]).slice(0, -'\r\n'.length)
}

/** A single line, with its line end. */
export function csvLine(cells: readonly string[]): string {
  return stringify([[...cells]], OPTIONS)
}

/** A line of headings and a line per row, in chunks of some hundred rows. */
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
