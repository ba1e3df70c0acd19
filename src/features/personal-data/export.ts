/** The bytes of an export: a JSON document, or a ZIP archive with a CSV file for each kind of object. */
import { csvText } from '../../lib/csv-text.ts'
import { zipped } from '../../lib/zip.ts'

export const PERSONAL_DATA_FORMATS = ['json', 'csv'] as const
export type PersonalDataFormat = (typeof PERSONAL_DATA_FORMATS)[number]

interface Table {
  name: string
  columns: string[]
  rows: AsyncIterable<Record<string, unknown>>
}

export interface Exported {
  at: number
  account: Record<string, unknown>
  additionalEmails: string[]
  tables: Iterable<Table>
  /** Lines of JSON, or a file of CSV. */
  entries: AsyncIterable<Uint8Array>
}

const encoder = new TextEncoder()

const NEWLINE = 0x0a
const COMMA = 0x2c

export async function* jsonExport({ at, account, additionalEmails, tables, entries }: Exported) {
  const head = { exported_at: new Date(at).toISOString(), account, additional_emails: additionalEmails }
  yield encoder.encode(JSON.stringify(head).slice(0, -1))
  for (const { name, rows } of tables) {
    yield encoder.encode(`,\n${JSON.stringify(name)}:[`)
    let separator = ''
    for await (const row of rows) {
      yield encoder.encode(`${separator}${JSON.stringify(row)}`)
      separator = ',\n'
    }
    yield encoder.encode(']')
  }
  yield encoder.encode(',\n"entries":[')
  yield* arrayItems(entries)
  yield encoder.encode(']}\n')
}

/** Lines of JSON as the items of an array. A piece ends with a line, and no line contains a line end. */
async function* arrayItems(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const piece of pieces) {
    if (piece.length === 0) continue
    if (!isFirst) yield Uint8Array.of(COMMA, NEWLINE)
    isFirst = false
    const items = piece.slice(0, -1)
    for (let at = items.indexOf(NEWLINE); at >= 0; at = items.indexOf(NEWLINE, at)) items[at] = COMMA
    yield items
  }
}

export function csvExport({ at, account, additionalEmails, tables, entries }: Exported): AsyncGenerator<Uint8Array> {
  const own = { ...account, additional_emails: additionalEmails.join(' ') }
  const accountTable = { name: 'account', columns: Object.keys(own), rows: only(own) }
  const files = function* () {
    for (const table of [accountTable, ...tables]) yield { name: `${table.name}.csv`, chunks: csvBytes(table) }
    yield { name: 'entries.csv', chunks: entries }
  }
  return zipped(files(), new Date(at))
}

async function* only(row: Record<string, unknown>) {
  yield row
}

/** Lists and objects are JSON in their cell. */
async function* csvBytes({ columns, rows }: Table): AsyncGenerator<Uint8Array> {
  const cell = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)
  const named = columns.map((heading) => ({
    heading,
    cell: (row: Record<string, unknown>) => cell(row[heading]),
  }))
  for await (const text of csvText(rows, named)) yield encoder.encode(text)
}
