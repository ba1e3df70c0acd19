/** Which columns of a table are shown: those that are asked for, or as many as a terminal has room for. */
import { CommandError, EXIT_USAGE } from '../failures.ts'

export interface Column<Row> {
  title: string
  of: (row: Row) => string
  /** Numbers read best when their digits stand below each other. */
  align?: 'right'
  /** Columns of a higher rank are hidden first where a terminal is too narrow; 0 by default. */
  rank?: number
  /** Text of any length, which is wrapped below its title where a terminal is too narrow. */
  flows?: boolean
}

/** The flags of `addColumnFlags`. */
export interface ColumnFlags {
  columns?: string[]
  wide?: boolean
}

/** Text is not wrapped to less than this. */
const WRAPPED_WIDTH = 24

/** The least width of a column. */
export const leastWidth = ({ flows, title }: Column<never>, width: number): number =>
  flows ? Math.min(width, Math.max(WRAPPED_WIDTH, title.length)) : width

/** Between two columns. */
export const GAP = '  '

/** `Last used (UTC)` is chosen as `last-used`. */
export function columnName({ title }: Pick<Column<never>, 'title'>): string {
  return title
    .replace(/\s*\(.*\)$/, '')
    .toLowerCase()
    .replaceAll(' ', '-')
}

/** In the order in which they are named. Throws {@link CommandError} for a name that the table does not have. */
function namedColumns<Shown extends Column<never>>(columns: Shown[], names: readonly string[]): Shown[] {
  return names.map((name) => {
    const found = columns.find((column) => columnName(column) === name.trim().toLowerCase())
    if (found) return found
    const known = columns.map(columnName).join(', ')
    throw new CommandError(`--columns: there is no column '${name}'. Use some of ${known}.`, EXIT_USAGE)
  })
}

/**
 * As many columns as fit: those of the highest `rank` are hidden first, and from the right. The first one and the id stay,
 * because they name the row, and are never shortened, because they are copied.
 */
function fittingColumns<Shown extends Column<never>>(columns: Shown[], widths: number[], room: number): Shown[] {
  const hiding = columns
    .filter((column, at) => at > 0 && column.title !== 'ID')
    .reverse()
    .sort((one, other) => (other.rank ?? 0) - (one.rank ?? 0))
  const widthOf = (shown: Shown[]) =>
    shown.reduce((sum, column) => sum + widths[columns.indexOf(column)]! + GAP.length, -GAP.length)
  let shown = columns
  for (const next of hiding) {
    if (widthOf(shown) <= room) break
    shown = shown.filter((column) => column !== next)
  }
  return shown
}

/** @param room the width of the terminal; undefined for a file or pipe, which has room for everything */
export function shownColumns<Shown extends Column<never>>(
  columns: Shown[],
  widths: number[],
  { columns: names, wide = false }: ColumnFlags,
  room: number | undefined,
): Shown[] {
  if (names) return namedColumns(columns, names)
  return wide || !room ? columns : fittingColumns(columns, widths, room)
}
