/** Lists and reports as CSV (RFC 4180), streamed, with cells that a spreadsheet would run as a formula made harmless. */
import { stringify } from 'csv-stringify/sync'
import type { CsvColumn } from '../lib/csv-column.ts'

/** Whether the caller asked for CSV, by `format=csv` or by `Accept`. */
export function wantsCsv(request: Request, format: string | undefined): boolean {
  return format === 'csv' || (format === undefined && /\btext\/csv\b/.test(request.headers.get('accept') ?? ''))
}

/** Rows are turned into text by hundreds: one by one costs more than what they hold. */
const CHUNK_ROWS = 500

export function csvResponse<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: CsvColumn<Row>[],
  fileName: string,
): Response {
  const encoder = new TextEncoder()
  const write = (cells: unknown[][]) =>
    encoder.encode(stringify(cells, { escape_formulas: true, record_delimiter: 'windows' }))
  async function* chunks() {
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
  return new Response(streamOf(chunks()), {
    headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${fileName}"` },
  })
}

/** Reads on only as fast as the caller takes it, and stops when the caller goes. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
}
