/** Bars next to the rows of a table. */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A bar of so many cells for `value` as a part of `most`; what is there at all has at least the thinnest one. */
export function bar(value: number, most: number, cells: number): string {
  if (value <= 0 || most <= 0) return ''
  const eighths = Math.max(1, Math.round((value / most) * cells * EIGHTHS.length))
  return '█'.repeat(Math.floor(eighths / EIGHTHS.length)) + EIGHTHS[eighths % EIGHTHS.length]
}

/** Used for terminals of unknown width and for files. */
export const USUAL_COLUMNS = 80

export const BAR_CELLS = { least: 8, most: 40 }

/** How many cells a bar may use next to a table of this width. */
export function barCells(tableWidth: number): number {
  const free = (process.stdout.columns || USUAL_COLUMNS) - tableWidth
  return Math.min(BAR_CELLS.most, Math.max(BAR_CELLS.least, free))
}
