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
    refuseSigningKey(connection, String(statement))
    return { rows: statement.values() as unknown[][], columns: statement.columnNames }
  } finally {
    connection.close()
  }
}

/**
 * What a query prints is copied into chats and reports, and the key can sign for the database. The program of the query
 * opens tables by their root pages, whatever they are called in it.
 */
function refuseSigningKey(connection: Connection, statement: string): void {
  if (/^\s*EXPLAIN\b/i.test(statement)) return
  const secret = connection
    .query<{ page: bigint }, []>("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'database_identity'")
    .get()
  const program = connection.query<{ opcode: string; p2: bigint }, []>(`EXPLAIN ${statement}`).all()
  if (secret && program.some(({ opcode, p2 }) => opcode === 'OpenRead' && p2 === secret.page)) {
    throw new Error('database_identity contains the signing key of the database, which cannot be queried.')
  }
}
