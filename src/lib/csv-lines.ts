/**
 * Reading CSV (RFC 4180), as spreadsheets and Tally's own exports write it.
 *
 * csv-parse goes over a text byte by byte: a body of 8 MB would stop all other requests for more than a second instead
 * of a few dozen milliseconds. It also counts a line break of a quoted cell twice if it is a CR LF, and rejects quotes
 * in unquoted cells. A test compares the cells with those that it reads.
 */

/** The prefix that exports add to a cell that a spreadsheet would run as a formula (`@cf/meta/llama`). */
const ESCAPED_FORMULA = /^'(?=[=+\-@\t\r])/

export interface CsvLine {
  /** The line number in the text where it starts, from 1, as in an editor: a quoted cell may contain line breaks. */
  number: number
  cells: string[]
}

export interface CsvLimits {
  /** Includes empty lines and line breaks within quoted cells. */
  lines: number
  /** The total over all lines. */
  cells: number
}

/** All non-empty lines. Throws RangeError for misplaced or unclosed quotes and above the limits. */
export function csvLines(text: string, limits: CsvLimits = UNLIMITED): CsvLine[] {
  const lines: CsvLine[] = []
  const scanner = new CellScanner(text)
  let cells: string[] = []
  let number = 1
  let count = 0
  while (!scanner.isAtEnd() || cells.length > 0) {
    cells.push(scanner.cell().replace(ESCAPED_FORMULA, ''))
    count += 1
    if (count > limits.cells) throw new RangeError(`it has more than ${limits.cells.toLocaleString('en')} cells`)
    if (scanner.endCell()) continue
    if (cells.length > 1 || cells[0] !== '') lines.push({ number, cells })
    cells = []
    number = scanner.line
    if (number > limits.lines + 1) throw new RangeError(`it has more than ${limits.lines.toLocaleString('en')} lines`)
  }
  return lines
}

const UNLIMITED: CsvLimits = { lines: Number.POSITIVE_INFINITY, cells: Number.POSITIVE_INFINITY }

/** Scans a text once: a regular expression with alternatives would keep a state for each character of a quoted cell. */
class CellScanner {
  /** The line number of the next cell, from 1. */
  line = 1
  #at: number

  constructor(readonly text: string) {
    this.#at = text.startsWith('\ufeff') ? 1 : 0
  }

  isAtEnd(): boolean {
    return this.#at >= this.text.length
  }

  /** The content of the next cell, quoted (with doubled quotes inside) or plain. */
  cell(): string {
    return this.text[this.#at] === '"' ? this.#quoted() : this.#plain()
  }

  /** Skips the separator after a cell. False if the cell was the last of its line. */
  endCell(): boolean {
    const { text } = this
    const end = text[this.#at]
    if (end === ',') {
      this.#at += 1
      return true
    }
    if (end === '\r' && text[this.#at + 1] === '\n') this.#at += 1
    else if (end !== undefined && end !== '\r' && end !== '\n') throw this.#misplacedQuote()
    if (end !== undefined) this.line += 1
    this.#at += 1
    return false
  }

  #plain(): string {
    const { text } = this
    const start = this.#at
    let at = start
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === COMMA || code === LINE_FEED || code === CARRIAGE_RETURN) break
    }
    this.#at = at
    return text.slice(start, at)
  }

  #quoted(): string {
    const { text } = this
    const start = this.#at + 1
    let end = text.indexOf('"', start)
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
    if (end < 0) throw this.#misplacedQuote()
    const inner = text.slice(start, end)
    const lineBefore = this.line
    this.#at = end + 1
    if (!/[,\r\n]/.test(text[this.#at] ?? ',')) throw this.#misplacedQuote()
    this.line = lineBefore + breaksIn(inner)
    return inner.replaceAll('""', '"')
  }

  #misplacedQuote(): RangeError {
    return new RangeError(`line ${this.line} has a misplaced quote`)
  }
}

const COMMA = 0x2c
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Counts line breaks of any kind. */
function breaksIn(text: string): number {
  let breaks = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === CARRIAGE_RETURN || (code === LINE_FEED && text.charCodeAt(at - 1) !== CARRIAGE_RETURN)) breaks += 1
  }
  return breaks
}
