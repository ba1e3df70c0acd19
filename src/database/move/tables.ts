/** What a move copies: every row of every table, in the order of its key. */
import { Database as Connection } from 'bun:sqlite'
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { applyAllToSqlite } from '../schema/migrate.ts'
import { postgresTables } from '../schema/postgres-tables.ts'

export type ColumnKind = 'integer' | 'flag' | 'text' | 'bytes'

export interface MovedColumn {
  name: string
  kind: ColumnKind
}

export interface MovedTable {
  name: string
  columns: MovedColumn[]
  /** The columns of the primary key, by which rows are read; all columns if there is none. */
  key: string[]
  /** Whether the database numbers the rows in a column `id`. New rows then follow the last one. */
  isNumbered: boolean
}

/** The other database has its own. */
const NOT_MOVED = ['migrations', 'moves', 'backup_timeline']

const KINDS: Record<string, ColumnKind> = { bigint: 'integer', boolean: 'flag', text: 'text', bytea: 'bytes' }

/** The tables of the newest schema. */
export function movedTables(): MovedTable[] {
  const schema = new Connection(':memory:')
  try {
    applyAllToSqlite(schema, 0)
    return Object.values(postgresTables)
      .filter((table) => !NOT_MOVED.includes(getTableName(table)))
      .map((table) => {
        const name = getTableName(table)
        const columns = Object.values(getTableColumns(table) as Record<string, PgColumn>)
        return {
          name,
          columns: columns.map((column) => ({ name: column.name, kind: KINDS[column.getSQLType()]! })),
          key: keyOf(schema, name, columns),
          isNumbered: columns.some(({ name: column, hasDefault, primary }) => column === 'id' && hasDefault && primary),
        }
      })
  } finally {
    schema.close()
  }
}

function keyOf(schema: Connection, table: string, columns: PgColumn[]): string[] {
  const key = schema
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .all(table)
    .map(({ name }) => name)
  return key.length > 0 ? key : columns.map(({ name }) => name)
}

export const quoted = (name: string) => `"${name}"`

export const namesOf = (names: readonly string[]) => names.map(quoted).join(', ')
