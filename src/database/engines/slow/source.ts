/** What a process for slow reads reads. */
import type { ReadSource } from '../../caller.ts'
import type { Reader } from '../../database.ts'

/** The database: SQLite's file, or PostgreSQL's address. */
export type SlowSource = { file: string } | { url: string; replica?: ReplicaAddress | undefined }

export interface ReplicaAddress {
  url: string
  /** How long a read waits until the replica has what it has to see. */
  waitMs: number
}

/** The database as this process reads it. Opened with the first query, which fails if that is impossible. */
export interface SlowDatabase {
  /** The values of a statement's rows, as plain numbers where that is exact. */
  values(sql: string, params: unknown[]): unknown[][]
  /** Runs `body` in a transaction, in which it sees one state of the database. */
  inOneState<Result>(body: (reader: Reader) => Promise<Result>, options: SourceOptions): Promise<Result>
  /** A separate connection, for a stream. */
  openReader(options: SourceOptions): { reader: Reader; close(): void }
}

/** Only PostgreSQL has a choice. */
export interface SourceOptions {
  /** Whether a replica may answer. */
  onReplica: boolean
  /** Receives which server answered, where there is a replica. */
  note(from: ReadSource): void
}
