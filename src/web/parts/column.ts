/** A column of a table. */
import type { ReactNode } from 'react'
import type { SortValue } from './row-order.ts'

export interface Column<Row> {
  /** The name of the column in the URL or in storage. */
  key: string
  title: string
  /** Right-aligned, with tabular figures: money and counts. */
  isNumber?: boolean
  cell: (row: Row) => ReactNode
  /** The API's name of the order by this column, if the API sorts the list by it; those of moments end in `_at` or `_on`. */
  sort?: string
  /** Sorts lists whose rows are all loaded, unless the API sorts them. */
  value?: (row: Row) => SortValue
  /** Hidden unless the person chooses it. */
  isExtra?: boolean
  /** A CSS width; without one, the column takes the remaining space. */
  width?: string
  /** A minimum CSS width; if the columns do not fit, the table scrolls. */
  minWidth?: string
  /**
   * The position of the cell on a phone: `title` at the left of the card's first line, `value` at its right, `line` on
   * its own line with its title (the default), `bare` on its own line without a title, `hidden` not at all.
   */
  phone?: 'title' | 'value' | 'line' | 'bare' | 'hidden'
}
