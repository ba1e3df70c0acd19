/** Reading CSV (RFC 4180), as spreadsheets and Tally's own exports write it. */

/** One cell and what ends it: quoted, with quotes doubled inside, or plain. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n][^,\r\n]*|))(,|\r\n|\n|\r|$)/y

const LINE_END = /\r\n|\n|\r/

/** What the export puts before a cell that a spreadsheet would run as a formula (`@cf/meta/llama`). */
const ESCAPED_FORMULA = /^'(?=[=+\-@\t\r])/

export interface CsvLine {
  /** Where it begins in the text, from 1, as an editor counts: a quoted cell may hold line breaks. */
  number: number
  cells: string[]
}

/** Every line that is not empty. Throws RangeError where a quote is not closed or stands within a cell. */
export function csvLines(text: string): CsvLine[] {
  const lines: CsvLine[] = []
  let cells: string[] = []
  let number = 1
  let next = 1
  CELL.lastIndex = text.startsWith('\ufeff') ? 1 : 0
  while (CELL.lastIndex < text.length || cells.length > 0) {
    const match = CELL.exec(text)
    if (!match) throw new RangeError(`line ${next} has a quote where none can be`)
    const [whole, quoted, plain = '', end] = match
    next += whole.split(LINE_END).length - 1
    cells.push((quoted?.replaceAll('""', '"') ?? plain).replace(ESCAPED_FORMULA, ''))
    if (end === ',') continue
    if (cells.length > 1 || cells[0] !== '') lines.push({ number, cells })
    cells = []
    number = next
  }
  return lines
}
