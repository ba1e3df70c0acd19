/**
 * A table of a few rows that are not a list of things: a calculation, names with their values, the data of a chart. What
 * people sort, search or open is a `DataTable`.
 */
import { VisuallyHidden } from '@mantine/core'
import { type CSSProperties, type ReactNode, useId } from 'react'
import type { Column } from './column.ts'
import { InColumn } from './figures.tsx'
import classes from './plain-table.module.css'

export type PlainColumn<Row> = Pick<Column<Row>, 'key' | 'isNumber' | 'cell' | 'width'> & { title: ReactNode }

interface PlainTableProps<Row> {
  /** The accessible name of the table. */
  label: string
  /** The first one has the name of the row. */
  columns: readonly PlainColumn<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** Dims a row. */
  isMuted?: (row: Row) => boolean
  /** The footer row, such as totals: one cell per column key. */
  foot?: Partial<Record<string, ReactNode>>
  /** The titles of columns that explain themselves are only read aloud. */
  isHeadHidden?: boolean
  /** On a phone, the other cells of a row are below its name: each has a sentence rather than a number. */
  isStacked?: boolean
  /** Of a table that may be long, which then scrolls with its header in sight. */
  maxHeight?: number
}

export function PlainTable<Row>(props: PlainTableProps<Row>) {
  const { label, columns, rows, rowKey, isMuted, foot, isHeadHidden = false, isStacked, maxHeight } = props
  const id = useId()
  const isLimited = maxHeight !== undefined
  return (
    <div
      className={classes.box}
      data-limited={isLimited || undefined}
      style={isLimited ? ({ '--max-height': `${maxHeight}px` } as CSSProperties) : undefined}
      // What scrolls can be scrolled with the keyboard.
      {...(isLimited && { tabIndex: 0, role: 'region', 'aria-labelledby': id })}
    >
      <table id={id} className={classes.table} aria-label={label} data-stacked={isStacked}>
        <thead data-hidden={isHeadHidden || undefined}>
          <tr>
            {columns.map(({ key, title, isNumber, width }) => (
              <th
                key={key}
                scope="col"
                data-number={isNumber || undefined}
                style={{ '--column-width': width } as CSSProperties}
              >
                {isHeadHidden ? <VisuallyHidden>{title}</VisuallyHidden> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} data-muted={isMuted?.(row) || undefined}>
              <Cells columns={columns} contentOf={({ cell }) => cell(row)} />
            </tr>
          ))}
        </tbody>
        {foot && (
          <tfoot>
            <tr>
              <Cells columns={columns} contentOf={({ key }) => foot[key]} />
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  )
}

interface CellsProps<Row> {
  columns: readonly PlainColumn<Row>[]
  contentOf: (column: PlainColumn<Row>) => ReactNode
}

/** Of a row, whose first cell is its name. */
function Cells<Row>({ columns, contentOf }: CellsProps<Row>) {
  return columns.map((column, position) => {
    const { key, isNumber = false } = column
    const Cell = position === 0 ? 'th' : 'td'
    return (
      <Cell key={key} scope={position === 0 ? 'row' : undefined} data-number={isNumber || undefined}>
        <InColumn value={isNumber}>{contentOf(column)}</InColumn>
      </Cell>
    )
  })
}
