/**
 * Sets of values as one parameter: JSON text, which the server converts to the types of columns. Text costs less than an
 * array per column, and keeps 64-bit integers exactly.
 */
import { getTableName, type Table } from 'drizzle-orm'
import type { WrittenColumn } from '../columns.ts'
import type { Parameter } from '../conversions.ts'

/** A driver's value as JSON has it: 64-bit integers and bytes as text. */
export function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  // As when the driver sends text itself. The server rejects the escapes that JSON has for half a character.
  if (typeof value === 'string') return value.toWellFormed()
  if (value instanceof Uint8Array) return `\\x${value.toHex()}`
  // JSON has no such number, and would make it null.
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} cannot be written`)
  return value ?? null
}

/** The text of rows for `json_populate_recordset`, for which an absent value is NULL. */
export function jsonRows(rows: readonly Record<string, unknown>[], columns: readonly WrittenColumn[]): string {
  const names = columns.map(({ name }) => name.slice(1, -1))
  // One text of all rows takes a third of the time of a text per value.
  const objects = rows.map((row) => {
    const values: Record<string, unknown> = {}
    for (let at = 0; at < columns.length; at += 1) {
      const { property, encode } = columns[at]!
      const value = row[property] ?? null
      if (value !== null) values[names[at]!] = jsonValue(encode === null ? value : encode(value))
    }
    return values
  })
  return JSON.stringify(objects)
}

export function statementInserting(table: Table, columns: readonly WrittenColumn[]): string {
  const names = columns.map(({ name }) => name)
  const name = `"${getTableName(table)}"`
  return `INSERT INTO ${name} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${name}, $1::text::json)`
}

export function statementUpdating(table: Table, columns: readonly WrittenColumn[]): string {
  const settings = columns.flatMap(({ property, name }) => (property === 'id' ? [] : [`${name} = changed.${name}`]))
  const name = `"${getTableName(table)}"`
  const changed = `json_populate_recordset(NULL::${name}, $1::text::json) AS changed`
  return `UPDATE ${name} SET ${settings} FROM ${changed} WHERE ${name}.id = changed.id`
}

/**
 * Adds to columns of rows that it locks in the order of their ids. The columns of `changed` are read once, so that the
 * update finds the rows as they are when it gets the lock.
 */
export function statementAdding(table: Table, added: readonly WrittenColumn[], all: readonly WrittenColumn[]): string {
  const name = `"${getTableName(table)}"`
  const settings = added.flatMap(({ property, name: column }) =>
    property === 'id' ? [] : [`${column} = ${name}.${column} + changed.${column}`],
  )
  const changed = `changed AS MATERIALIZED (SELECT * FROM json_populate_recordset(NULL::${name}, $1::text::json))`
  const locked = `locked AS MATERIALIZED (SELECT id FROM ${name} WHERE id IN (SELECT id FROM changed) ORDER BY id FOR NO KEY UPDATE)`
  const returned = all.map(({ name: column }) => `${name}.${column}`)
  return `WITH ${changed}, ${locked} UPDATE ${name} SET ${settings} FROM changed JOIN locked ON locked.id = changed.id WHERE ${name}.id = locked.id RETURNING ${returned}`
}

/** The text of keys for {@link statementForEach}: the values of the placeholders of each. */
export function jsonKeys(keys: readonly unknown[][]): string {
  return JSON.stringify(keys.map((values, number) => ({ number, ...values.map(jsonValue) })))
}

const LOCKED = / for (?:share|no key update) of /

/**
 * A statement that runs `sql` for each of the keys in its first parameter. Each row ends with the number of its key.
 * Fixed values follow as parameters of their own.
 */
export function statementForEach(sql: string, parameters: readonly Parameter[], types: readonly string[]): string {
  const columns: string[] = ['number int']
  let fixed = 1
  const sources = parameters.map((parameter, position) => {
    if ('value' in parameter) {
      fixed += 1
      return `$${fixed}`
    }
    const name = `"${columns.length - 1}"`
    columns.push(`${name} ${types[position]}`)
    return `each_key.${name}`
  })
  const query = sql.replace(/\$(\d+)/g, (_, number) => sources[Number(number) - 1]!)
  const keys = `json_to_recordset($1::text::json) AS each_key(${columns})`
  // Beyond `join_collapse_limit` (8), PostgreSQL does not reorder tables: it would join all rows first, and then look for the
  // keys among them. The offset keeps it a query of each key, as a lock does anyway.
  const offset = / join /.test(sql) && !LOCKED.test(sql) ? ' OFFSET 0' : ''
  return `SELECT found.*, each_key.number FROM ${keys} CROSS JOIN LATERAL (${query}${offset}) AS found`
}
