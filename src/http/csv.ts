/** Lists and reports as files, streamed: CSV, or a JSON object per line. */
import type { CsvColumn } from '../lib/csv-column.ts'
import { csvText } from '../lib/csv-text.ts'
import { streamedResponse } from './exports.ts'

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

export type FileFormat = keyof typeof MEDIA_TYPES

/** Whether the caller asked for CSV, by `format=csv` or by `Accept`. */
export function wantsCsv(request: Request, format: string | undefined): boolean {
  return fileFormat(request, format, ['csv']) === 'csv'
}

/** Which of the formats the caller asked for, by `format` or by `Accept`; undefined if none. */
export function fileFormat(
  { headers }: Request,
  format: string | undefined,
  offered: readonly FileFormat[] = ['csv', 'ndjson'],
): FileFormat | undefined {
  if (format !== undefined) return offered.find((name) => name === format)
  const accepted =
    headers
      .get('accept')
      ?.toLowerCase()
      .match(/[^\s,;]+/g) ?? []
  const formats = accepted.map((type) => offered.find((name) => MEDIA_TYPES[name] === type))
  return formats.find((name) => name !== undefined)
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
  return fileResponse(bytes(), fileName, 'csv')
}

/** A JSON object per line. */
export function ndjsonResponse(rows: AsyncIterable<object>, fileName: string): Response {
  const encoder = new TextEncoder()
  async function* bytes() {
    for await (const row of rows) yield encoder.encode(`${JSON.stringify(row)}\n`)
  }
  return fileResponse(bytes(), fileName, 'ndjson')
}

/** An already formatted file, in chunks. */
export function fileResponse(chunks: AsyncGenerator<Uint8Array>, fileName: string, format: FileFormat): Response {
  return streamedResponse(chunks, {
    'content-type': `${MEDIA_TYPES[format]}; charset=utf-8`,
    'content-disposition': `attachment; filename="${fileName}"`,
  })
}
