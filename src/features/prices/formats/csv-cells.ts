/** Reading CSV (RFC 4180), as spreadsheets and `tally prices export` write it. */

/** One cell and what ends it: quoted, with quotes doubled inside, or plain. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n][^,\r\n]*|))(,|\r\n|\n|\r|$)/y

/** What the export puts before a cell that a spreadsheet would run as a formula (`@cf/meta/llama`). */
const ESCAPED_FORMULA = /^'(?=[=+\-@\t\r])/

/** The cells of every line that is not empty. Throws RangeError where a quote is not closed or stands within a cell. */
export function csvCells(text: string): string[][] {
  const lines: string[][] = []
  let cells: string[] = []
  CELL.lastIndex = text.startsWith('\ufeff') ? 1 : 0
  while (CELL.lastIndex < text.length || cells.length > 0) {
    const position = CELL.lastIndex
    const match = CELL.exec(text)
    if (!match) throw new RangeError(`line ${text.slice(0, position).split('\n').length} has a quote where none can be`)
    const [, quoted, plain = '', end] = match
    cells.push((quoted?.replaceAll('""', '"') ?? plain).replace(ESCAPED_FORMULA, ''))
    if (end === ',') continue
    if (cells.length > 1 || cells[0] !== '') lines.push(cells)
    cells = []
  }
  return lines
}
