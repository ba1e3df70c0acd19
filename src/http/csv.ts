/** Lists and reports as CSV, streamed. */
import type { CsvColumn } from '../lib/csv-column.ts'
import { csvText } from '../lib/csv-text.ts'
import { streamedResponse } from './exports.ts'

/** Whether the caller asked for CSV, by `format=csv` or by `Accept`. */
export function wantsCsv(request: Request, format: string | undefined): boolean {
  return format === 'csv' || (format === undefined && /\btext\/csv\b/.test(request.headers.get('accept') ?? ''))
}

export function csvResponse<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: CsvColumn<Row>[],
  fileName: string,
): Response {
  const encoder = new TextEncoder()
  async function* bytes() {
    for await (const text of csvText(rows, columns)) yield encoder.encode(text)
  }
  return csvFile(bytes(), fileName)
}

/** An already formatted CSV, in chunks. */
export function csvFile(chunks: AsyncGenerator<Uint8Array>, fileName: string): Response {
  return streamedResponse(chunks, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${fileName}"`,
  })
}
