/** A column: its heading and its cell. Null and undefined are empty cells, which a 0 is not. */
export interface CsvColumn<Row> {
  heading: string
  cell: (row: Row) => unknown
}
