import { Database as Connection } from 'bun:sqlite'
import type { Reader } from '../../database.ts'
import { SqliteReader } from './reader.ts'

/** Readers wait only for a process that recovers the log after a crash. */
const READER_BUSY_TIMEOUT_MS = 5_000

/** Size of SQLite's page cache, in KiB. Pages that a reader needs repeatedly fit, such as those of a list. */
const CACHE_KIB = 4_096

/** Pragmas that every connection needs; `journal_mode` belongs to the file and is set when it is created. */
export function configureConnection(connection: Connection, busyTimeoutMs: number): void {
  // First: the others find the file busy while another process opens or closes it.
  connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  connection.run('PRAGMA foreign_keys = ON')
  connection.run('PRAGMA synchronous = FULL')
  connection.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  // SQLite's automatic checkpoints do not report their errors.
  connection.run('PRAGMA wal_autocheckpoint = 0')
  connection.run('PRAGMA temp_store = MEMORY')
}

/** A connection for slow reads, of a process that may wait for other processes. */
export interface ReadOnlyConnection {
  connection: Connection
  reader: Reader
  close(): void
}

export function openReadOnly(path: string): ReadOnlyConnection {
  const connection = new Connection(path, { readonly: true, safeIntegers: true })
  configureConnection(connection, READER_BUSY_TIMEOUT_MS)
  const reader = new SqliteReader(connection) as unknown as Reader
  return { connection, reader, close: () => connection.close() }
}

/** Runs `body` in a transaction, in which the connection sees one state of the database. */
export async function inOneState<Result>(
  { connection, reader }: ReadOnlyConnection,
  body: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  connection.run('BEGIN')
  try {
    return await body(reader)
  } finally {
    if (connection.inTransaction) connection.run('ROLLBACK')
  }
}
