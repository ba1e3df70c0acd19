import type { SQLQueryBindings } from 'bun:sqlite'
import type { SlowDatabase } from '../slow/source.ts'
import { inOneState, openReadOnly, type ReadOnlyConnection } from './connections.ts'

/**
 * The most that SQLite maps. A slow read visits each page of megabytes once or twice, and mapped ones are neither asked
 * of the system nor copied. A disk that fails under a mapped page ends the process, which only this one may: its query
 * is then repeated, and refused if it ends another.
 */
const MAPPED_BYTES = 2 ** 31 - 2 ** 16

export function slowSqlite(path: string): SlowDatabase {
  let opened: ReadOnlyConnection | undefined
  const database = () => {
    if (!opened) {
      opened = openReadOnly(path)
      opened.connection.run(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
    }
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
