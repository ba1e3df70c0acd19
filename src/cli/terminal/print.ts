/** What commands write: text and tables for people, JSON and CSV for programs. */
import { once } from 'node:events'
import type { CsvColumn } from '../../lib/csv-column.ts'
import { csvText } from '../../lib/csv-text.ts'
import { type Column, type ColumnFlags, GAP, leastWidth, shownColumns } from './columns.ts'
import { escaped } from './escaped.ts'

export type { Column }

export function print(text: string): void {
  process.stdout.write(`${escaped(text)}\n`)
}

/** Prints a message to standard error, so that it does not end up in a variable or a file with the result. */
export function note(text: string): void {
  process.stderr.write(`${escaped(text)}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** A whole list in the shape that lists of the API have. */
export function printJsonList(data: unknown[]): void {
  printJson({ data, has_more: false, next_page: null })
}

/** An object with a long list as `data`, item by item, so that it needs no more memory than a short one. */
export async function printLongJson<Item>(
  items: readonly Item[],
  wireOf: (item: Item) => object,
  rest: object,
): Promise<void> {
  await printPieces(
    (function* () {
      let text = '{\n  "data": ['
      for (const [index, item] of items.entries()) {
        text += `${index === 0 ? '' : ','}\n    ${indented(wireOf(item), '    ')}`
        if (text.length < PIECE_LENGTH) continue
        yield Buffer.from(text)
        text = ''
      }
      yield Buffer.from(`${text}${items.length === 0 ? '' : '\n  '}],\n  ${indented(rest, '').slice(1).trimStart()}\n`)
    })(),
  )
}

const PIECE_LENGTH = 65_536

function indented(value: object, indentation: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indentation}`)
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
 * A table that is wider than the terminal wraps the columns whose text flows, and then hides some columns, which it says on
 * standard error. Files and pipes get all of them, each row on one line.
 *
 * @param flags of a list, with which people choose the columns
 */
export function printTable<Row>(columns: Column<Row>[], rows: Row[], flags?: ColumnFlags): void {
  const room = flags?.wide ? undefined : process.stdout.columns || undefined
  const { lines, hidden } = tableOf(columns, rows, { ...flags, room })
  for (const line of lines) print(line)
  if (hidden.length > 0 && !flags?.columns) {
    const instead = flags ? 'Use --wide or --columns.' : 'Pipe the output to `less -S` to see them.'
    note(`Hidden to fit the terminal: ${hidden.map(({ title }) => title).join(', ')}. ${instead}`)
  }
}

/** The lines of a table, and its columns that do not fit. */
export function tableOf<Row>(
  columns: Column<Row>[],
  rows: readonly Row[],
  { room, ...flags }: ColumnFlags & { room?: number | undefined } = {},
): { lines: string[]; hidden: Column<Row>[] } {
  const cells = new Map(columns.map((column) => [column, [column.title, ...rows.map(column.of)]]))
  const fullWidths = new Map(
    columns.map((column) => [column, Math.max(...cells.get(column)!.map((cell) => Bun.stringWidth(cell)))]),
  )
  const leastWidths = columns.map((column) => leastWidth(column, fullWidths.get(column)!))
  const shown = shownColumns(columns, leastWidths, flags, room)
  const widths = fittingWidths(shown, fullWidths, room)
  const lines: string[] = []
  for (let row = 0; row <= rows.length; row++) {
    const texts = shown.map((column, at) => wrapped(cells.get(column)![row]!, widths[at]!))
    for (let line = 0; line < Math.max(...texts.map(({ length }) => length)); line++) {
      const padded = shown.map(({ align }, at) => {
        const text = texts[at]![line] ?? ''
        const space = ' '.repeat(widths[at]! - Bun.stringWidth(text))
        return align === 'right' ? space + text : text + space
      })
      lines.push(padded.join(GAP).trimEnd())
    }
  }
  return { lines, hidden: columns.filter((column) => !shown.includes(column)) }
}

/** The widths of the columns: as wide as their cells, except that text that flows shares what is left of the room. */
function fittingWidths<Row>(
  columns: Column<Row>[],
  fullWidths: ReadonlyMap<Column<Row>, number>,
  room = Number.POSITIVE_INFINITY,
): number[] {
  let excess = columns.reduce((sum, column) => sum + fullWidths.get(column)! + GAP.length, -GAP.length) - room
  return columns.map((column) => {
    const full = fullWidths.get(column)!
    const width = Math.max(leastWidth(column, full), full - Math.max(0, excess))
    excess -= full - width
    return width
  })
}

/** The lines of a cell, which breaks between words, or within one that is too long. */
const wrapped = (text: string, width: number): string[] =>
  Bun.stringWidth(text) <= width ? [text] : Bun.wrapAnsi(text, width, { hard: true }).split('\n')

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
