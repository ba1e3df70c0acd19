/** Rows as CSV (RFC 4180), with cells that a spreadsheet would run as a formula made harmless. */
import { stringify } from 'csv-stringify/sync'
import type { CsvColumn } from './csv-column.ts'

/** Rows are turned into text by hundreds: one by one costs more than what they hold. */
const CHUNK_ROWS = 500

/** A line of headings and a line a row, some hundreds at a time. */
export async function* csvText<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly CsvColumn<Row>[],
): AsyncGenerator<string> {
  const write = (cells: unknown[][]) => stringify(cells, { escape_formulas: true, record_delimiter: 'windows' })
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
