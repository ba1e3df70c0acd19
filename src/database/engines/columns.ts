import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import { type Convert, encodingOf } from './conversions.ts'

/** A column that a property of a row is written to. */
export interface WrittenColumn {
  property: string
  name: string
  encode: Convert
}

/** The columns that the properties of a row belong to. */
export function columnsOf(table: Table, properties: readonly string[]): WrittenColumn[] {
  const columns = getTableColumns(table)
  return properties.map((property) => {
    const column = columns[property]
    if (!column) throw new Error(`The table ${getTableName(table)} has no column for "${property}"`)
    return { property, name: `"${column.name}"`, encode: encodingOf(column) }
  })
}
