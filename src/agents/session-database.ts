/** Opens the SQLite database of an agent, also while the agent writes to it. */
import { constants, Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

export type { Database }

/**
 * Reads without writing anything. After the agent has closed the database, there is no log file: the database is then
 * opened as immutable, since SQLite would otherwise leave two files there, and read again if it changed after all.
 */
export function withDatabase<Answer>(path: string, read: (database: Database) => Answer): Answer {
  const before = statSync(path)
  if (!existsSync(`${path}-wal`)) {
    const answer = attempt(() => open(`${pathToFileURL(path).href}?immutable=1`, read))
    const after = statSync(path)
    const isSame = after.size === before.size && after.mtimeMs === before.mtimeMs && !existsSync(`${path}-wal`)
    if (isSame && 'value' in answer) return answer.value
    if (isSame && 'error' in answer) throw answer.error
  }
  return open(pathToFileURL(path).href, read)
}

function attempt<Answer>(run: () => Answer): { value: Answer } | { error: unknown } {
  try {
    return { value: run() }
  } catch (error) {
    return { error }
  }
}

function open<Answer>(address: string, read: (database: Database) => Answer): Answer {
  const database = new Database(address, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
  try {
    return read(database)
  } finally {
    database.close()
  }
}

/** Those of the names that are columns of the table; none if there is no such table. */
export function columnsOf(database: Database, table: string, names: readonly string[]): string[] {
  const columns = database.query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)').all(table)
  return names.filter((each) => columns.some(({ name }) => name === each))
}
