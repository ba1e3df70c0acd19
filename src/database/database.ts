/**
 * The interface of a database for stores and services, whichever the engine.
 *
 * The query builders are typed as PostgreSQL's, which are asynchronous; SQLite's are cast to them. Only features of
 * both engines are exposed, so that a query for one engine alone does not compile. Use `.returning()` to get affected
 * rows.
 */
import type { PgDatabase, PgQueryResultHKT, PgTable } from 'drizzle-orm/pg-core'
import type { ReplicaState } from './caller.ts'
import type { Tables } from './schema/tables.ts'

type Builders = PgDatabase<PgQueryResultHKT, Record<string, never>>

/** A query prepared once; `execute` binds the named placeholders. */
export interface Prepared<Row> {
  execute(values?: Record<string, unknown>): Promise<Row[]>
}

/** A query whose rows are as the driver returns them. */
export interface RawQuery<Row> extends Prepared<Row> {
  /** The same rows as arrays, in the order of the selected expressions: of many, objects cost twice as much. */
  values(values?: Record<string, unknown>): Promise<unknown[][]>
}

/** A query whose text and parameters can be taken from it. */
export interface Compiled {
  toSQL(): { sql: string; params: unknown[] }
}

/** The result of work that needs no waiting on SQLite's own connections. */
export type MaybePromise<Value> = Value | Promise<Value>

/** A query that can be prepared: the end of a builder chain that returns rows. */
interface Preparable<Row> {
  prepare(name: string): unknown
  // Used only to infer the type of a row.
  then: Promise<Row[]>['then']
}

/** Reading: `select`, `with`, over the engine's own table objects. */
export interface Reader extends Pick<Builders, 'select' | 'selectDistinct' | 'with'> {
  readonly tables: Tables
  readonly engine: Database['engine']
  /**
   * A number that changes whenever cached data (tokens, people, prices, settings) changes, by this process or another.
   * Not a promise on the main thread's SQLite, where it costs about a microsecond.
   */
  revision(): number | Promise<number>
  /**
   * A query whose rows are as the driver returns them, each an object with the names of the selected expressions, which
   * need an alias: for very many rows, whose conversion would cost more than the query. Integers are numbers and must
   * be below 2^53, ids and other bytes are a Uint8Array. The query is compiled once, and may have placeholders.
   */
  raw<Row>(query: Compiled): RawQuery<Row>
  /**
   * The query that `build` makes, prepared once per connection under a key that is unique in the program. For hot
   * paths: building a query costs several times as much as running it. `build` must depend only on its arguments.
   *
   * A placeholder that is compared (`eq(column, placeholder)`) is not converted for the driver: ids, flags and JSON need
   * `sql.param(placeholder, column)`.
   */
  prepared<Row>(key: string, build: (reader: this) => Preparable<Row>): Prepared<Row>
  /**
   * For each of `keys`, the rows that a prepared query finds with the key's values for its placeholders. One statement
   * for all keys on PostgreSQL, one per key on SQLite; none for no keys.
   */
  findEach<Row>(
    key: string,
    build: (reader: this) => Preparable<Row>,
    keys: readonly Record<string, unknown>[],
  ): MaybePromise<Row[][]>
}

/** Reading and writing inside one transaction. Nothing else may be awaited in it. */
export interface Tx extends Reader, Pick<Builders, 'insert' | 'update' | 'delete'> {
  /**
   * Runs `body` as a part of the transaction: if it throws, its writes are rolled back and its effects are dropped, and
   * the transaction can continue. Parts must not overlap: await each before the next.
   */
  attempt<Result>(body: () => Promise<Result>): Promise<Result>
  /** Identifies this run of the body: if it runs again because it lost a race, that is another one. */
  readonly run: object
  /** Runs after the commit, and not at all if the transaction is rolled back. Use it to fill a cache. */
  afterCommit(effect: () => void): void
  /**
   * Inserts rows, in order. All of them have the properties of the first one, without SQL in their values; undefined is
   * written as null. Returns nothing: ids are reserved before. One statement for all rows on PostgreSQL, one prepared
   * statement for each on SQLite. With `existing`, a row whose `key` exists updates the columns `set` of the existing one.
   */
  insertAll<T extends PgTable>(
    table: T,
    rows: readonly T['$inferInsert'][],
    existing?: Record<'key' | 'set', readonly (keyof T['$inferInsert'] & string)[]>,
  ): MaybePromise<void>
  /** Updates rows by id. The same rules as for `insertAll` apply, and no id may occur twice. */
  updateAll<T extends PgTable>(
    table: T,
    rows: readonly (Partial<T['$inferInsert']> & { id: number })[],
  ): MaybePromise<void>
  /**
   * Adds numbers to columns of rows by id, and returns these columns of the rows as they are then, in any order; rows that
   * do not exist are left out. The same rules as for `updateAll` apply. On PostgreSQL, rows are locked in the order of their ids, so
   * that transactions that call it once, at their end, never wait for each other in a circle.
   */
  addAll<T extends PgTable, Column extends keyof T['$inferSelect'] & string>(
    table: T,
    rows: readonly ({ [Added in keyof T['$inferInsert']]?: number } & { id: number })[],
    returned: readonly Column[],
  ): MaybePromise<Pick<T['$inferSelect'], Column>[]>
  /**
   * New ids of a table, ascending. Insert all of them before anything else is inserted into the table, or reserved for
   * it, in this transaction: on SQLite they are the numbers above the highest id.
   */
  reserveIds(table: PgTable, count: number): MaybePromise<number[]>
  /**
   * Waits until no other transaction has locked any of the texts, and locks them until the end of this one, in an order
   * that cannot deadlock if a transaction calls it once. SQLite has one writer, and nothing to wait for.
   */
  lockAll(texts: () => readonly string[]): MaybePromise<void>
  /**
   * A query that also locks the rows of `table` that it finds, until the end of the transaction: it waits for others
   * that change them, and finds them changed. `share` leaves them to others that also only read them. SQLite has one
   * writer, and nothing to lock.
   */
  locking<Query>(query: Query, table: PgTable, strength?: 'share'): Query
}

/** The result of one item of a set. */
export type Outcome<Value> = { value: Value } | { error: unknown }

/** Writes items, and returns the outcome of each, in order, once all of them are durable. */
export type SetWriter<Item, Value> = (items: readonly Item[]) => Promise<Outcome<Value>[]>

export interface WriteOptions {
  /**
   * `read committed` lets a body that takes locks first see what their previous holders committed. Only PostgreSQL has
   * a choice: on SQLite, a body always sees the latest commit, which nobody else can add to.
   */
  isolation?: 'repeatable read' | 'read committed'
  /** How long the whole body may take, if it is longer than the time of a request. Only PostgreSQL has a limit. */
  patienceMs?: number
}

/** A read of several queries, or of one whose rows take long to process. Registered in `src/slow-tasks.ts`. */
export interface SlowTask<Args, Result> {
  /** Unique in the program. */
  readonly name: string
  /** Its time limit in milliseconds, if it may take longer than a query that somebody waits for. */
  readonly deadlineMs?: number
  /**
   * Reads one state of the database and writes nothing. It may run in another process: arguments and results are
   * structured clones, and it awaits nothing but the reader.
   */
  run(reader: Reader, args: Args): Promise<Result>
}

/** A result of many pieces, which is made as fast as it is read. Registered in `src/slow-tasks.ts`. */
export interface SlowStream<Args> {
  /** Unique in the program. */
  readonly name: string
  /** Sees the changes of others between two pieces. A piece of some 100 kB is worth its message. */
  run(reader: Reader, args: Args): AsyncGenerator<Uint8Array>
}

export interface Database {
  readonly engine: 'sqlite' | 'postgres'
  /** The file, for threads of a server that read it themselves; undefined on PostgreSQL and on a command line. */
  readonly file?: string | undefined
  /** A separate connection for reads that take well under 20 ms. Sees committed data. */
  readonly read: Reader
  /**
   * For reads that may take over 20 ms: off the main thread on a server's SQLite. Fails with `database_deadline` after
   * its time limit.
   */
  readonly slow: Reader
  /** Runs a task on one state of the database, in a transaction of its own. Limited as the queries of `slow`. */
  slowly<Args, Result>(task: SlowTask<Args, Result>, args: Args): Promise<Result>
  /**
   * Runs `body` on one state of the database and a connection of its own, however long it takes. For commands: meanwhile,
   * SQLite cannot empty its log, and PostgreSQL cannot remove dead rows.
   */
  inOneState<Result>(body: (reader: Reader) => Promise<Result>): Promise<Result>
  /** Makes the pieces of a stream as they are read, until its reader leaves. */
  streamSlowly<Args>(stream: SlowStream<Args>, args: Args): AsyncGenerator<Uint8Array>
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
  write<Result>(body: (tx: Tx) => Promise<Result>, options?: WriteOptions): Promise<Result>
  /**
   * A function that writes items in sets: `record` writes the items that wait when a transaction begins, of all calls
   * in turn, so that a call with a thousand items does not hold up one with a single item, and returns the outcome of
   * each, in order. If all of them would take long, it writes only the first ones, at least one, and returns their
   * outcomes. Items of one call keep their order. On PostgreSQL, its transactions are READ COMMITTED.
   *
   * If `record` throws, nothing that it wrote is kept. It then runs again with each half of the items, until only those
   * are refused that fail alone: put its other effects into `afterCommit`, whose errors are those of all items of the
   * set. Items that were not written for any other reason have the errors of `write`. The returned function rejects only if
   * nothing can be written at all.
   */
  setWriter<Item, Value>(record: (tx: Tx, items: readonly Item[]) => Promise<Outcome<Value>[]>): SetWriter<Item, Value>
  /** Writes a small value that is never read, and returns once it is durable. Throws as `write` does. */
  probe(): Promise<void>
  /** The state of the replica that answers slow reads of callers; undefined without one. Checks it. */
  readonly replica?: (() => Promise<ReplicaState>) | undefined
  /**
   * On PostgreSQL: where entries are partitioned by month, begins with the partition of the current one, and returns the
   * month (202612); undefined if it has begun before, or they are not partitioned.
   */
  readonly beginMonth?: ((now: number) => Promise<number | undefined>) | undefined
  /** Number of waiting calls. */
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
  /** Reads are answered by the primary from now on, or by the replica again. */
  onReplica(state: ReplicaState): void
  /** The number of bodies and items in a commit, and the time from the start of their transaction until they were durable. */
  onCommit(writes: number, seconds: number): void
}
