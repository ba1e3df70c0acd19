/** Runs one read-only SQL query on the embedded database. */
import { Database as Connection } from 'bun:sqlite'

/** Waits while the log is recovered after a crash. */
const BUSY_TIMEOUT_MS = 5_000

/** Throws SQLite's error for an invalid or writing query. Only the first of several statements is run. */
export function ask(path: string, query: string): { columns: string[]; rows: unknown[][] } {
  const connection = new Connection(path, { readonly: true, safeIntegers: true })
  try {
    connection.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // The file itself is opened read-only, but ATTACH could write another one.
    connection.run('PRAGMA query_only = ON')
    const statement = connection.query(query)
    return { rows: statement.values() as unknown[][], columns: statement.columnNames }
  } finally {
    connection.close()
  }
}
