/** What a process for slow reads reads. */
import type { Reader } from '../../database.ts'

/** The database: SQLite's file, or PostgreSQL's address. */
export type SlowSource = { file: string } | { url: string }

/** The database as this process reads it. Opened with the first query, which fails if that is impossible. */
export interface SlowDatabase {
  /** The values of a statement's rows, as plain numbers where that is exact. */
  values(sql: string, params: unknown[]): unknown[][]
  /** Runs `body` in a transaction, in which it sees one state of the database. */
  inOneState<Result>(body: (reader: Reader) => Promise<Result>): Promise<Result>
  /** A separate connection, for a stream. */
  openReader(): { reader: Reader; close(): void }
}
