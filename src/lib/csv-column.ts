/** A column: its heading and its cells. Null and undefined give an empty cell; 0 does not. */
export interface CsvColumn<Row> {
  heading: string
  cell: (row: Row) => unknown
}

/** Columns that are fields of the row, with their names and values. */
export const fieldColumns = <Row>(...names: (keyof Row & string)[]): CsvColumn<Row>[] =>
  names.map((name) => ({ heading: name, cell: (row) => row[name] }))
