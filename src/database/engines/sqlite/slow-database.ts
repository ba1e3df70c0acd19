import type { SQLQueryBindings } from 'bun:sqlite'
import type { SlowDatabase } from '../slow/source.ts'
import { inOneState, openReadOnly, type ReadOnlyConnection } from './connections.ts'

export function slowSqlite(path: string): SlowDatabase {
  let opened: ReadOnlyConnection | undefined
  const database = () => {
    opened ??= openReadOnly(path)
    return opened
  }
  return {
    values(sql, params) {
      const rows = database()
        .connection.query(sql)
        .values(...(params as SQLQueryBindings[])) as unknown[][]
      for (const row of rows) for (let at = 0; at < row.length; at += 1) row[at] = asPlain(row[at])
      return rows
    },
    inOneState: async (body) => inOneState(database(), body),
    openReader: () => openReadOnly(path),
  }
}

/** Converts bigints to numbers if that is exact: the main thread takes twice as long to deserialize bigints. */
function asPlain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
