/** Formats reports for the terminal. */
import type { CsvColumn } from '../../lib/csv-column.ts'
import { csvText } from '../../lib/csv-text.ts'
import { formatDecimal, parseDecimal } from '../../lib/money.ts'

/** Dollars to the cent, as a sum is read; every digit is in the JSON. */
const CENT_DIGITS = 2

/** Money is JSON's exact number, not one to calculate with: it is read from its text. */
export function dollars(amount: number | null): string {
  if (amount === null) return '–'
  const cents = parseDecimal(JSON.stringify(amount), CENT_DIGITS)!
  if (cents === 0n && JSON.stringify(amount) !== '0') return JSON.stringify(amount).startsWith('-') ? '>-0.01' : '<0.01'
  const [whole = '0', fraction = ''] = formatDecimal(cents, CENT_DIGITS).split('.')
  const sign = whole.startsWith('-') ? '-' : ''
  const digits = grouped(whole.replace('-', ''))
  return `${sign}${digits}.${fraction.padEnd(CENT_DIGITS, '0')}`
}

/** The same within a sentence, where no column says the currency. */
export function inDollars(amount: number | null): string {
  return amount === null ? 'unknown cost' : dollars(amount).replace(/^[<>]?-?/, '$&$$')
}

/** A count, which may be an exact number of JSON as well. */
export function countText(count: number): string {
  return grouped(JSON.stringify(count))
}

/** With commas between thousands. By hand, since a locale takes longer to load than a short command runs. */
function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',')
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A bar of so many cells for `value` as a part of `most`; what is there at all has at least the thinnest one. */
export function bar(value: number, most: number, cells: number): string {
  if (value <= 0 || most <= 0) return ''
  const eighths = Math.max(1, Math.round((value / most) * cells * EIGHTHS.length))
  return '█'.repeat(Math.floor(eighths / EIGHTHS.length)) + EIGHTHS[eighths % EIGHTHS.length]
}

/** Used for terminals of unknown width and for files. */
const USUAL_COLUMNS = 80

const BAR_CELLS = { least: 8, most: 40 }

/** How many cells a bar may use next to a table of this width. */
export function barCells(tableWidth: number): number {
  const free = (process.stdout.columns || USUAL_COLUMNS) - tableWidth
  return Math.min(BAR_CELLS.most, Math.max(BAR_CELLS.least, free))
}

/** A moment on the clocks of a zone: `2026-11-20 17:53`. */
export function localMinute(timestamp: string, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(timestamp),
  )
}

/** Rows as they are read, so that a long report needs no more memory than a short one. */
export async function printCsv<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly CsvColumn<Row>[],
): Promise<void> {
  for await (const text of csvText(rows, columns)) process.stdout.write(text)
}
