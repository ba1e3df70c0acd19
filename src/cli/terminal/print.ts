/** What commands write: text and tables for people, JSON and CSV for programs. */
import { once } from 'node:events'
import type { CsvColumn } from '../../lib/csv-column.ts'
import { csvText } from '../../lib/csv-text.ts'

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Prints a message to standard error, so that it does not end up in a variable or a file with the result. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** A whole list in the shape that lists of the API have. */
export function printJsonList(data: unknown[]): void {
  printJson({ data, has_more: false, next_page: null })
}

/** Rows as they are read, so that a long report needs no more memory than a short one. */
export async function printCsv<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly CsvColumn<Row>[],
): Promise<void> {
  for await (const text of csvText(rows, columns)) process.stdout.write(text)
}

/** Pieces of a file as they are made, and only as fast as they are read. */
export async function printPieces(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
  }
}

export interface Column<Row> {
  title: string
  of: (row: Row) => string
  /** Numbers read best when their digits stand below each other. */
  align?: 'right'
}

export function printTable<Row>(columns: Column<Row>[], rows: Row[]): void {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row)))]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => Bun.stringWidth(line[column]!))))
  for (const line of lines) {
    const cells = line.map((cell, column) => {
      const space = ' '.repeat(widths[column]! - Bun.stringWidth(cell))
      return columns[column]!.align === 'right' ? space + cell : cell + space
    })
    print(cells.join('  ').trimEnd())
  }
}

/** A line for each field that has a value. */
export function printFields(fields: [name: string, value: string | null | undefined][]): void {
  for (const [name, value] of fields) {
    if (value !== null && value !== undefined && value !== '–') print(`${name.padEnd(12)} ${value}`)
  }
}

/** To the minute in UTC: `2026-11-20 17:53`. Titles of such columns end in `(UTC)`. */
export function minute(timestamp: string | null): string {
  return timestamp === null ? '–' : timestamp.slice(0, 16).replace('T', ' ')
}

/** A moment on the clocks of a zone: `2026-11-20 17:53`. */
export function localMinute(timestamp: string, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(timestamp),
  )
}
