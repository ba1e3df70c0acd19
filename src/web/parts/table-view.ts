/** The columns that a person has chosen for a table, their widths, and the density of rows. */
import { useCallback } from 'react'
import { type TableView, useChangePreferences, usePreferences } from '../server/preferences.ts'
import type { Column } from './column.ts'

const NONE: TableView = {}

/** Columns that cannot be hidden: the first opens the row, and those without a title have its actions. */
export const isAlwaysShown = <Row>(column: Column<Row>, columns: readonly Column<Row>[]) =>
  column === columns[0] || column.title === ''

const isShown = <Row>(column: Column<Row>, columns: readonly Column<Row>[], view: TableView) =>
  isAlwaysShown(column, columns) || (view.columns ? view.columns.includes(column.key) : !column.isExtra)

/** Null if nothing of the table is chosen any more. */
const viewWith = ({ columns }: TableView, widths: Record<string, number>): TableView | null =>
  columns === undefined && Object.keys(widths).length === 0 ? null : { ...(columns && { columns }), widths }

/** `name` is that of the table in the preferences; without one, it has its usual columns. */
export function useTableView<Row>(name: string | undefined, columns: readonly Column<Row>[], sortedBy?: string) {
  const { tables, density } = usePreferences()
  const { mutate } = useChangePreferences()
  const view: TableView = (name !== undefined && (tables as Record<string, TableView>)[name]) || NONE
  const change = useCallback(
    (next: TableView | null) => {
      if (name !== undefined) mutate({ tables: { [name]: next } })
    },
    [name, mutate],
  )
  return {
    density,
    setDensity: (density: 'comfortable' | 'compact') => mutate({ density }),
    visible: columns.filter(
      (column) =>
        isShown(column, columns, view) ||
        // The column that sorts the list shows why its rows are in this order.
        (!view.columns && sortedBy !== undefined && column.sort === sortedBy),
    ),
    chosen: columns.filter((column) => isShown(column, columns, view)).map(({ key }) => key),
    widths: view.widths ?? {},
    isUsual: view === NONE,
    choose: (keys: string[]) => change({ ...view, columns: keys }),
    /** Null resets the width of the column. */
    resize: (key: string, width: number | null) => {
      const { [key]: _, ...others } = view.widths ?? {}
      change(viewWith(view, width === null ? others : { ...others, [key]: width }))
    },
    reset: () => change(null),
  }
}
