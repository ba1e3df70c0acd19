/** Lists and reports as CSV, streamed. */
import type { CsvColumn } from '../lib/csv-column.ts'
import { csvText } from '../lib/csv-text.ts'

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

/** A CSV that is written already, piece by piece. */
export function csvFile(chunks: AsyncGenerator<Uint8Array>, fileName: string): Response {
  return new Response(streamOf(chunks), {
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
