import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import { type Convert, compiled, convertedSource, encodingOf } from './conversions.ts'

/** A column that a property of a row is written to. */
export interface WrittenColumn {
  property: string
  name: string
  encode: Convert
}

/** What becomes of existing rows: those with the same values in `key` get the new ones of `set`. By properties. */
export type Existing = Record<'key' | 'set', readonly string[]>

/** The end of an INSERT; empty if every row is new. */
export function conflictClause(table: Table, existing: Existing | undefined): string {
  if (!existing) return ''
  const [key, set] = [existing.key, existing.set].map((properties) =>
    columnsOf(table, properties).map(({ name }) => name),
  )
  return ` ON CONFLICT (${key}) DO UPDATE SET ${set!.map((name) => `${name} = excluded.${name}`)}`
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

/** Makes the function that puts the values of a row into the order of the columns, converted for the driver. */
export function columnValuesOf(columns: readonly WrittenColumn[]): (row: Record<string, unknown>) => unknown[] {
  const encoders = columns.map(({ encode }) => encode)
  const values = columns.map(({ property, encode }, position) => {
    const value = `row[${JSON.stringify(property)}] ?? null`
    return encode === null ? value : convertedSource(value, position)
  })
  return compiled(`(row) => [${values}]`, encoders)
}
