/** Nothing is forgotten: every column is in an export, or there is a reason why it is not. */
import { expect, test } from 'bun:test'
import { getTableColumns } from 'drizzle-orm'
import { sqliteTables } from '../../../src/database/schema/sqlite-tables.ts'
import type { TableName } from '../../../src/features/transfer/kind.ts'
import { KINDS, OMITTED_COLUMNS, OMITTED_TABLES } from '../../../src/features/transfer/kinds.ts'

/** The columns of a table that lines have, or that an import derives from them. */
function columnsInLines(name: TableName): Set<string> {
  const found = new Set<string>()
  for (const { table, fields, parts, filled } of KINDS) {
    if (table === name) for (const { column } of Object.values(fields)) found.add(column)
    if (table === name) for (const column of Object.keys(filled)) found.add(column)
    for (const part of Object.values(parts)) {
      if (part.table !== name) continue
      found.add(part.of)
      for (const { column } of Object.values(part.fields)) found.add(column)
    }
  }
  return found
}

const tables = Object.entries(sqliteTables) as [TableName, (typeof sqliteTables)[TableName]][]

test('every column of every table is in an export, or is left out for a reason', () => {
  const forgotten = tables.flatMap(([name, table]) => {
    if (name in OMITTED_TABLES) return []
    const inLines = columnsInLines(name)
    const omitted = OMITTED_COLUMNS[name] ?? {}
    return Object.keys(getTableColumns(table))
      .filter((column) => column !== 'id' && !inLines.has(column) && !(column in omitted))
      .map((column) => `${name}.${column}`)
  })
  expect(forgotten).toEqual([])
})

test('what is left out exists, and is in no line', () => {
  for (const name of Object.keys(OMITTED_TABLES)) {
    expect(Object.keys(sqliteTables)).toContain(name)
    expect([name, columnsInLines(name as TableName).size]).toEqual([name, 0])
  }
  for (const [name, columns] of Object.entries(OMITTED_COLUMNS)) {
    const existing = Object.keys(getTableColumns(sqliteTables[name as TableName]))
    for (const column of Object.keys(columns)) expect(existing).toContain(column)
  }
})

test('passwords, hashes of tokens, sign-ins, links and addresses of shared pages are never in a line', () => {
  const secrets = KINDS.flatMap(({ table, fields }) =>
    Object.values(fields)
      .filter(({ column }) => /hash$|secret|password/i.test(column))
      .map(({ column }) => `${table}.${column}`),
  )
  // Of the bodies of requests.
  expect(secrets.sort()).toEqual(['billKeys.bodyHash', 'idempotencyKeys.bodyHash'])
})

test('the type of each line is unique, and each line names its columns once', () => {
  expect(new Set(KINDS.map(({ type }) => type)).size).toBe(KINDS.length)
  for (const { fields } of KINDS) {
    const columns = Object.values(fields).map(({ column }) => column)
    expect(new Set(columns).size).toBe(columns.length)
  }
})
