/** The columns of tables. The usual ones show one value of a row, by which the table can be sorted. */
import type { ReactNode } from 'react'
import { count } from '../format/counts.ts'
import type { Column } from './column.ts'
import { EmptyCell } from './empty-cell.tsx'
import { Ago, Count, Moment, Money } from './figures.tsx'
import type { SortValue } from './row-order.ts'
import { Status } from './status.tsx'

type Layout<Row> = Omit<Column<Row>, 'key' | 'title' | 'isNumber' | 'value' | 'cell'>

const columnOf =
  <Value extends SortValue>(show: (value: Value) => ReactNode, { isNumber = false } = {}) =>
  <Row,>(key: string, title: string, value: (row: Row) => Value, layout: Layout<Row> = {}): Column<Row> => ({
    ...layout,
    key,
    title,
    isNumber,
    value,
    cell: (row) => show(value(row)),
  })

/** A column that shows anything else of a row. */
export const cellColumn = <Row,>(
  key: string,
  title: string,
  layout: Omit<Column<Row>, 'key' | 'title' | 'cell'>,
  cell: Column<Row>['cell'],
): Column<Row> => ({ ...layout, key, title, cell })

/** Isolated, so that the direction of a name does not change that of the row. */
export const textColumn = columnOf((text: string | null | undefined) => (text ? <bdi>{text}</bdi> : <EmptyCell />))
export const statusColumn = columnOf((status: string) => <Status of={status} />)
export const countColumn = columnOf((value: number) => <Count value={value} />, { isNumber: true })
/** In full, where people compare it with a document. */
export const exactCountColumn = columnOf((value: number) => count(value), { isNumber: true })
export const moneyColumn = columnOf((amount: number | null) => <Money amount={amount} />, { isNumber: true })
/** With four decimals, for small amounts. */
export const fineMoneyColumn = columnOf((amount: number | null) => <Money amount={amount} isFine />, { isNumber: true })
export const momentColumn = columnOf((at: string | null) => <Moment at={at} />)
export const agoColumn = columnOf((at: string | null) => <Ago at={at} />)

/** Columns of rows whose order says something: it is that of a report, or of a list of which the rows are a part. */
export const unsorted = <Row,>(columns: readonly Column<Row>[]): Column<Row>[] =>
  columns.map(({ value: _, ...column }) => column)
