/** What commands write: text and tables for people, JSON and CSV for programs. */
import { once } from 'node:events'
import type { CsvColumn } from '../../lib/csv-column.ts'
import { csvText } from '../../lib/csv-text.ts'
import { type Column, type ColumnFlags, GAP, shownColumns } from './columns.ts'

export type { Column }

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
export async function printPieces(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
  }
}

/**
 * With the flags of a list, a table that is wider than the terminal hides some columns, and says so on standard error.
 * Files and pipes get all of them.
 */
export function printTable<Row>(columns: Column<Row>[], rows: Row[], flags?: ColumnFlags): void {
  const cells = new Map(columns.map((column) => [column, [column.title, ...rows.map(column.of)]]))
  const widthOf = (column: Column<Row>) => Math.max(...cells.get(column)!.map((cell) => Bun.stringWidth(cell)))
  const shown = flags
    ? shownColumns(
        columns,
        columns.map((column) => (column.flows ? column.title.length : widthOf(column))),
        flags,
        process.stdout.columns,
      )
    : columns
  const widths = shown.map(widthOf)
  for (let line = 0; line <= rows.length; line++) {
    const texts = shown.map((column, at) => {
      const cell = cells.get(column)![line]!
      const space = ' '.repeat(widths[at]! - Bun.stringWidth(cell))
      return column.align === 'right' ? space + cell : cell + space
    })
    print(texts.join(GAP).trimEnd())
  }
  const hidden = columns.filter((column) => !shown.includes(column))
  if (hidden.length > 0 && !flags?.columns) {
    note(`Hidden to fit the terminal: ${hidden.map(({ title }) => title).join(', ')}. Use --wide or --columns.`)
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
