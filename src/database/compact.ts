/** Overwrites the unused space of a database, in which removed texts stay readable until something else needs it. */
import { Database as Connection } from 'bun:sqlite'
import { numberCommit } from './engines/sqlite/file-header.ts'

/** A server commits in milliseconds; a longer wait means that something else holds the file. */
const BUSY_MS = 30_000

/** A checkpoint of a server takes some milliseconds at a time. */
const RETRY_MS = 20

/** Writes the embedded database anew, in the space of its size, and empties its log. Writers wait. */
export function compactFile(path: string): void {
  const connection = new Connection(path, { readwrite: true, create: false })
  try {
    connection.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
    numberCommit(connection)
    connection.run('VACUUM')
    emptyLog(connection)
  } finally {
    connection.close()
  }
}

/**
 * SQLite waits for those who write and read, but not for another checkpoint, and a server has one after so large a
 * transaction (https://sqlite.org/c3ref/wal_checkpoint_v2.html).
 */
function emptyLog(connection: Connection): void {
  const checkpoint = connection.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)')
  const endsAt = performance.now() + BUSY_MS
  while (checkpoint.get()!.busy !== 0) {
    // Others that read keep the log as it is; without frames that are still needed it is overwritten from its start.
    if (performance.now() >= endsAt) throw new LogInUse()
    Bun.sleepSync(RETRY_MS)
  }
}

/** A reader keeps the old content in the log. */
export class LogInUse extends Error {
  override readonly name = 'LogInUse'
}

/** Writes every table anew. Tables are locked one after the other. */
export async function compactPostgres(databaseUrl: string): Promise<void> {
  const { onOneConnection } = await import('./engines/postgres/postgres.ts')
  await onOneConnection(databaseUrl, async (client) => {
    await client.unsafe('VACUUM FULL')
  })
}
