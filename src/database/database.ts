/**
 * What stores and services see of a database, whichever engine is below.
 *
 * The query builders are typed as PostgreSQL's, which are asynchronous; SQLite's are cast to them. Only what both
 * engines have in common is exposed, so that a query for one engine alone does not compile. Affected rows are asked
 * for with `.returning()`.
 */
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type { Tables } from './schema/tables.ts'

type Builders = PgDatabase<PgQueryResultHKT, Record<string, never>>

/** A query prepared once; `execute` binds the named placeholders. */
export interface Prepared<Row> {
  execute(values?: Record<string, unknown>): Promise<Row[]>
}

/** A query that can be prepared: the end of a builder chain that answers rows. */
interface Preparable<Row> {
  prepare(name: string): unknown
  // Only here to infer the type of a row.
  then: Promise<Row[]>['then']
}

/** Reading: `select`, `with`, over the engine's own table objects. */
export interface Reader extends Pick<Builders, 'select' | 'selectDistinct' | 'with'> {
  readonly tables: Tables
  /**
   * A number that moves whenever something that caches hold (tokens, people, prices, settings) is changed, by this
   * process or another. Not a promise on the main thread's SQLite, where it costs about a microsecond.
   */
  revision(): number | Promise<number>
  /**
   * The query that `build` makes, prepared once per connection under a key that is unique in the program. For hot
   * paths: building costs several times what running does. `build` must not depend on anything but its arguments.
   */
  prepared<Row>(key: string, build: (reader: this) => Preparable<Row>): Prepared<Row>
}

/** Reading and writing inside one transaction. Nothing else may be awaited in it. */
export interface Tx extends Reader, Pick<Builders, 'insert' | 'update' | 'delete'> {
  /**
   * Runs `body` as a part of the transaction: where it throws, what it wrote is taken back and its effects are dropped,
   * and the transaction may go on. Parts do not overlap: each is awaited before the next begins.
   */
  attempt<Result>(body: () => Promise<Result>): Promise<Result>
  /** Runs after the commit, and not at all where the transaction is rolled back: the place to fill a cache. */
  afterCommit(effect: () => void): void
}

export interface Database {
  readonly engine: 'sqlite' | 'postgres'
  /** The file that workers of a server may open to read it themselves; undefined on PostgreSQL and on a command line. */
  readonly file?: string | undefined
  /** A connection of its own for reads that take well under 20 ms. Sees what is committed. */
  readonly read: Reader
  /** For reads that may take over 20 ms: off the main thread on a server's SQLite. Fails with `database_deadline` after its time. */
  readonly slow: Reader
  /**
   * Runs `body` in a transaction and answers its result once that is durable. Bodies that wait together share one
   * commit on SQLite; one that throws is rolled back alone. A body awaits nothing but `tx`; a `write` within a `write`
   * throws.
   *
   * On PostgreSQL a body that lost a race is run again, so what it does outside of `tx` belongs into `afterCommit`. There
   * a query that fails also ends the transaction: a body may look at its error but must not go on.
   *
   * Throws `database_busy`, `database_full`, `database_unreachable` or `overloaded` (503) where nothing was written and
   * a repeat may succeed. Any other error of the database leaves open what became durable.
   */
  write<Result>(body: (tx: Tx) => Promise<Result>): Promise<Result>
  /** Writes something small that nobody reads, and answers when it is durable. Throws as `write` does. */
  probe(): Promise<void>
  /** How many bodies wait for their turn. */
  waitingWrites(): number
  /** Answers what waits, refuses what comes. */
  close(): Promise<void>
}

/** Database events that the process must handle. */
export interface DatabaseEvents {
  /**
   * The disk failed, or somebody took the files away: it is unknown what is durable, and the process must end without
   * closing the database, and start again. Nothing is written after it.
   */
  onFatal(error: unknown): void
  /** The disk could not be read, but not everywhere: only those who asked for what is there were refused. */
  onReadError(error: unknown): void
  /** Somebody has been reading for so long that the log, now of so many bytes, cannot be emptied. */
  onBlockedLog(reader: { seconds: number; logBytes: number }): void
  /** So many writes became durable together, so long after their transaction began. */
  onCommit(writes: number, seconds: number): void
}
