/** A column: its heading and its cells. Null and undefined give an empty cell; 0 does not. */
export interface CsvColumn<Row> {
  heading: string
  cell: (row: Row) => unknown
}
