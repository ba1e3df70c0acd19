/** Reads and writes the rows of any table, as the kinds of lines declare them. */
import { and, asc, type Column, eq, getTableColumns, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Field } from '../columns.ts'
import type { Part, TableName } from '../kind.ts'

export type Row = Record<string, unknown>

/** Rows that belong to a row, by the names of their parts. */
export type RowsOfParts = Record<string, Row[]>
type Fields = Record<string, Field>

function tableOf(reader: Reader, name: TableName): PgTable {
  return reader.tables[name] as PgTable
}

function columnOf(table: PgTable, property: string): Column {
  return getTableColumns(table)[property]!
}

/** The columns of the fields, and some more. JSON is read as its text, of which `JSON.parse` could lose digits. */
function selectionOf(table: PgTable, fields: Fields, more: readonly string[]): Record<string, Column | SQL> {
  const columns = getTableColumns(table)
  const selection: Record<string, Column | SQL> = {}
  for (const property of more) selection[property] = columns[property]!
  for (const { column, isJson } of Object.values(fields)) {
    // A field may have a value that is no column.
    if (column in columns) selection[column] = isJson ? sql`${columns[column]}` : columns[column]!
  }
  return selection
}

interface Query {
  name: TableName
  fields: Fields
  /** Further columns. */
  more?: readonly string[]
}

function select(reader: Reader, { name, fields, more = [] }: Query) {
  const table = tableOf(reader, name)
  return reader.select(selectionOf(table, fields, more) as never).from(table)
}

/** All rows in a unique order, in pages. */
export async function* eachPage(
  reader: Reader,
  query: Query & { order: readonly string[]; where?: SQL | undefined },
  limit: number,
): AsyncGenerator<Row[]> {
  const table = tableOf(reader, query.name)
  const columns = query.order.map((property) => columnOf(table, property))
  let after: SQL | undefined
  for (;;) {
    const rows = (await select(reader, { ...query, more: [...(query.more ?? []), ...query.order] })
      .where(and(query.where, after))
      .orderBy(...columns.map((column) => asc(column)))
      .limit(limit)) as Row[]
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    const last = rows.at(-1)!
    after = isBehind(
      columns,
      query.order.map((property) => last[property]),
    )
  }
}

function isBehind(columns: Column[], values: unknown[]): SQL {
  if (columns.length === 1) return gt(columns[0]!, values[0])
  const list = (items: unknown[]) =>
    sql.join(
      items.map((item) => sql`${item}`),
      sql`, `,
    )
  return sql`(${list(columns)}) > (${list(values)})`
}

/** The rows that belong to other rows, by the keys of these. */
export async function listParts(reader: Reader, part: Part, keys: readonly number[]): Promise<Map<number, Row[]>> {
  const table = tableOf(reader, part.table)
  const hasKey = 'id' in getTableColumns(table)
  const rows = (await select(reader, {
    name: part.table,
    fields: part.fields,
    more: [part.of, ...(hasKey ? ['id'] : [])],
  })
    .where(inArray(columnOf(table, part.of), [...keys]))
    .orderBy(asc(columnOf(table, hasKey ? 'id' : part.of)))) as Row[]
  return Map.groupBy(rows, (row) => row[part.of] as number)
}

/** The entries of some sessions, in the order of their keys. */
export async function listEntriesOf(reader: Reader, fields: Fields, sessions: readonly number[]): Promise<Row[]> {
  const { entries } = reader.tables
  return (await select(reader, { name: 'entries', fields, more: ['id', 'sessionId'] })
    .where(inArray(entries.sessionId, [...sessions]))
    .orderBy(asc(entries.id))) as Row[]
}

export interface Period {
  from: number | undefined
  to: number | undefined
}

/** Sessions of which an entry starts in the period. */
export function sessionsIn(reader: Reader, period: Period): SQL | undefined {
  const { sessions, entries } = reader.tables
  const starts = startsIn(entries.startedAt, period)
  return starts && sql`EXISTS (SELECT 1 FROM ${entries} WHERE ${entries.sessionId} = ${sessions.id} AND ${starts})`
}

/** Entries without a session that start in the period, or that were divided from an entry that is in the file. */
export function withoutSession(reader: Reader, period: Period): SQL {
  const { entries } = reader.tables
  const none = isNull(entries.sessionId)
  const starts = startsIn(entries.startedAt, period)
  if (!starts) return none
  const whole = sql`SELECT 1 FROM ${entries} AS whole LEFT JOIN ${entries} AS part ON part.session_id = whole.session_id
    WHERE whole.id = ${entries.dividedFromId} AND ${startsIn(sql`coalesce(part.started_at, whole.started_at)`, period)}`
  return and(none, sql`(${starts} AND ${isNull(entries.dividedFromId)} OR EXISTS (${whole}))`)!
}

function startsIn(startedAt: Column | SQL, { from, to }: Period): SQL | undefined {
  if (from === undefined && to === undefined) return undefined
  return and(
    from === undefined ? undefined : sql`${startedAt} >= ${from}`,
    to === undefined ? undefined : sql`${startedAt} < ${to}`,
  )
}

export async function isBillPreparing(reader: Reader): Promise<boolean> {
  const { bills } = reader.tables
  const rows = await reader.select({ id: bills.id }).from(bills).where(eq(bills.state, 'preparing')).limit(1)
  return rows.length > 0
}

export async function countRows(reader: Reader, name: TableName): Promise<number> {
  const rows = await reader.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(tableOf(reader, name))
  return rows[0]!.count
}

export async function insertRows(tx: Tx, name: TableName, rows: readonly Row[]): Promise<void> {
  await tx.insertAll(tableOf(tx, name), rows as never)
}

export async function updateRows(tx: Tx, name: TableName, rows: readonly (Row & { id: number })[]): Promise<void> {
  await tx.updateAll(tableOf(tx, name), rows as never)
}

export async function reserveKeys(tx: Tx, name: TableName, count: number): Promise<number[]> {
  return tx.reserveIds(tableOf(tx, name), count)
}
