/**
 * The interface of a database for stores and services, whichever the engine.
 *
 * The query builders are typed as PostgreSQL's, which are asynchronous; SQLite's are cast to them. Only features of
 * both engines are exposed, so that a query for one engine alone does not compile. Use `.returning()` to get affected
 * rows.
 */
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type { Tables } from './schema/tables.ts'

type Builders = PgDatabase<PgQueryResultHKT, Record<string, never>>

/** A query prepared once; `execute` binds the named placeholders. */
export interface Prepared<Row> {
  execute(values?: Record<string, unknown>): Promise<Row[]>
}

/** A query that can be prepared: the end of a builder chain that returns rows. */
interface Preparable<Row> {
  prepare(name: string): unknown
  // Used only to infer the type of a row.
  then: Promise<Row[]>['then']
}

/** Reading: `select`, `with`, over the engine's own table objects. */
export interface Reader extends Pick<Builders, 'select' | 'selectDistinct' | 'with'> {
  readonly tables: Tables
  /**
   * A number that changes whenever cached data (tokens, people, prices, settings) changes, by this process or another.
   * Not a promise on the main thread's SQLite, where it costs about a microsecond.
   */
  revision(): number | Promise<number>
  /**
   * The query that `build` makes, prepared once per connection under a key that is unique in the program. For hot
   * paths: building a query costs several times as much as running it. `build` must depend only on its arguments.
   */
  prepared<Row>(key: string, build: (reader: this) => Preparable<Row>): Prepared<Row>
}

/** Reading and writing inside one transaction. Nothing else may be awaited in it. */
export interface Tx extends Reader, Pick<Builders, 'insert' | 'update' | 'delete'> {
  /**
   * Runs `body` as a part of the transaction: if it throws, its writes are rolled back and its effects are dropped, and
   * the transaction can continue. Parts must not overlap: await each before the next.
   */
  attempt<Result>(body: () => Promise<Result>): Promise<Result>
  /** Runs after the commit, and not at all if the transaction is rolled back. Use it to fill a cache. */
  afterCommit(effect: () => void): void
}

export interface Database {
  readonly engine: 'sqlite' | 'postgres'
  /** The file, for workers of a server that read it themselves; undefined on PostgreSQL and on a command line. */
  readonly file?: string | undefined
  /** A separate connection for reads that take well under 20 ms. Sees committed data. */
  readonly read: Reader
  /**
   * For reads that may take over 20 ms: off the main thread on a server's SQLite. Fails with `database_deadline` after
   * its time limit.
   */
  readonly slow: Reader
  /**
   * Runs `body` in a transaction and returns its result once it is durable. On SQLite, waiting bodies share one commit;
   * a body that throws is rolled back alone. A body must await nothing but `tx`; a `write` within a `write` throws.
   *
   * On PostgreSQL, a body that lost a race is run again, so put its other effects into `afterCommit`. There, a failed
   * query also ends the transaction: a body may inspect the error but must not continue.
   *
   * Throws `database_busy`, `database_full`, `database_unreachable` or `overloaded` (503) if nothing was written and a
   * retry may succeed. After any other database error it is unknown what became durable.
   */
  write<Result>(body: (tx: Tx) => Promise<Result>): Promise<Result>
  /** Writes a small value that is never read, and returns once it is durable. Throws as `write` does. */
  probe(): Promise<void>
  /** Number of waiting bodies. */
  waitingWrites(): number
  /** Completes waiting writes, and refuses new ones. */
  close(): Promise<void>
}

/** Database events that the process must handle. */
export interface DatabaseEvents {
  /**
   * The disk failed, or the files were removed: it is unknown what is durable. The process must end without closing the
   * database, and start again. Nothing more is written.
   */
  onFatal(error: unknown): void
  /** Part of the disk could not be read: only the callers who requested that part were refused. */
  onReadError(error: unknown): void
  /** A reader has been running for so long that the log, now of this size, cannot be emptied. */
  onBlockedLog(reader: { seconds: number; logBytes: number }): void
  /** The number of writes in a commit, and the time from the start of their transaction until they were durable. */
  onCommit(writes: number, seconds: number): void
}
