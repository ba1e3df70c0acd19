/**
 * PostgreSQL with drizzle, over postgres.js.
 *
 * Every body of `write` is a separate REPEATABLE READ transaction: it sees one state of the database, as on SQLite, and
 * if two change the same row or insert the same unique value, the later one fails and runs again after the earlier one.
 * So a store that reads first and then writes is correct on both engines, without locks of its own. Sets are written in
 * READ COMMITTED transactions instead, and lock what they read: a conflict would fail all of their items.
 */
import { sql } from 'drizzle-orm'
import type { Sql } from 'postgres'
import type { Compiled, Database, DatabaseEvents, Reader } from '../../database.ts'
import { asProblem } from '../../errors.ts'
import { migratePostgres, WrongDatabase } from '../../schema/migrate.ts'
import { postgresTables } from '../../schema/tables.ts'
import type { StatementCounts } from '../../statement-counts.ts'
import { type Around, asProblems, type Build } from '../queries.ts'
import { cancelWithCallers, ROLLBACK } from './cancelled-queries.ts'
import {
  CONNECT_TIMEOUT_SECONDS,
  connect,
  Lane,
  type Link,
  type LinkOptions,
  PATIENCE_MS,
  parseAddress,
} from './link.ts'
import { PostgresReader } from './reader.ts'
import { SEATS, Seats } from './seats.ts'
import { PostgresWriter } from './writer.ts'

/**
 * Connections for quick reads. With those for slow queries and tasks, one per seat each, and for writing 18, of
 * PostgreSQL's default of 100.
 */
const READERS = 4

/** A reader over the lane's current link. */
function readerOver(lane: Lane<PostgresReader>): Reader {
  const reader = {
    tables: postgresTables,
    get select() {
      return lane.link.queries.select
    },
    get selectDistinct() {
      return lane.link.queries.selectDistinct
    },
    get with() {
      return lane.link.queries.with
    },
    raw: (query: Compiled) => ({
      execute: (values?: Record<string, unknown>) => lane.link.queries.raw(query).execute(values),
    }),
    revision: () => lane.link.queries.revision(),
    prepared: (key: string, build: Build) => lane.link.queries.prepared(key, build),
    findEach: (key: string, build: Build, keys: readonly Record<string, unknown>[]) =>
      lane.link.queries.findEach(key, build, keys),
  }
  return reader as unknown as Reader
}

type Server = Pick<LinkOptions, 'url' | 'counts'>

function quickReads(server: Server): Lane<PostgresReader> {
  return new Lane({ ...server, connections: READERS }, PostgresReader, (link) =>
    link.queries.runThrough((run) => asProblems(() => link.withPatience(PATIENCE_MS, run))),
  )
}

/**
 * The server itself cancels queries that take too long. There are as many as connections, so that none waits for
 * another.
 */
function slowReads(server: Server, deadlineMs: number, seats: Seats): Lane<PostgresReader> {
  const options = { ...server, connections: SEATS, settings: { statement_timeout: deadlineMs } }
  return new Lane(options, PostgresReader, (link) => {
    cancelWithCallers(link.client)
    const seated: Around = async (run) => {
      const seat = await seats.take()
      try {
        return await link.withPatience(deadlineMs + PATIENCE_MS, run)
      } finally {
        seats.give(seat)
      }
    }
    link.queries.runThrough((run) => asProblems(() => seated(run)))
  })
}

/** Runs tasks in read-only transactions, each on the connection of its seat. */
class SlowTasks {
  readonly #lanes: Lane<PostgresReader>[]

  constructor(
    server: Server,
    readonly deadlineMs: number,
    readonly seats: Seats,
  ) {
    const settings = { statement_timeout: deadlineMs, idle_in_transaction_session_timeout: PATIENCE_MS }
    const options = { ...server, connections: 1, settings }
    this.#lanes = Array.from(
      { length: SEATS },
      () => new Lane(options, PostgresReader, ({ client }) => cancelWithCallers(client)),
    )
  }

  async run<Result>(body: (reader: Reader) => Promise<Result>): Promise<Result> {
    const seat = await this.seats.take()
    try {
      const { link } = this.#lanes[seat]!
      return await asProblems(() => link.withPatience(this.deadlineMs + PATIENCE_MS, () => transact(link, body)))
    } finally {
      this.seats.give(seat)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }
}

async function transact<Result>(
  link: Link<PostgresReader>,
  body: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  await link.client.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    return await body(link.queries as unknown as Reader)
  } finally {
    // On a connection that is about to close, it would never return.
    if (!link.lost) await link.client.unsafe(ROLLBACK).catch(() => link.lose())
  }
}

export interface PostgresOptions extends Pick<DatabaseEvents, 'onCommit'> {
  /** `postgres://user:password@host/database`, with libpq's parameters. */
  url: string
  now: number
  slowDeadlineMs: number
  busyDeadlineMs: number
  counts?: StatementCounts | undefined
}

/**
 * Opens the database and applies missing migrations. Throws `WrongDatabase` if it belongs to another program or a newer
 * Tally, or if access is denied, and a Problem if the server does not respond.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, now, slowDeadlineMs, busyDeadlineMs, counts, onCommit } = options
  const server = { url, counts }
  await onOneConnection(url, (client, where) => migratePostgres(client, where, now))
  const writer = new PostgresWriter(server, busyDeadlineMs, onCommit)
  const quick = quickReads(server)
  const seats = new Seats(slowDeadlineMs)
  const slow = slowReads(server, slowDeadlineMs, seats)
  const tasks = new SlowTasks(server, slowDeadlineMs, seats)
  async function close(): Promise<void> {
    await writer.close()
    await Promise.all([quick.close(), slow.close(), tasks.close()])
  }
  let closing: Promise<void> | undefined

  return {
    engine: 'postgres',
    read: readerOver(quick),
    slow: readerOver(slow),
    slowly: (task, args) => tasks.run((reader) => task.run(reader, args)),
    streamSlowly: (stream, args) => stream.run(readerOver(slow), args),
    write: (body, options) => writer.write(body, options),
    setWriter: (record) => writer.setWriter(record),
    // A transaction with its own id ends with a record in the server's log.
    probe: () =>
      writer.write(async (tx) => {
        await tx.select({ id: sql`pg_current_xact_id()::text` }).from(tx.tables.revision)
      }),
    waitingWrites: () => writer.waiting(),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** Invalid password, unknown user, unknown database, no permission to connect or to create tables. */
const REFUSED = ['28000', '28P01', '3D000', '42501']

/** `where` names the database in messages. Throws as {@link openPostgres}. */
export async function onOneConnection(url: string, work: (client: Sql, where: string) => Promise<void>): Promise<void> {
  const { where } = parseAddress(url)
  const client = connect({ url, connections: 1 }, () => undefined)
  // A proxy for a server that is down accepts the connection and drops it, and postgres.js would retry forever.
  const timer = setTimeout(() => client.end({ timeout: 0 }), PATIENCE_MS)
  try {
    await client`SELECT 1`
    clearTimeout(timer)
    await work(client, where)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code && REFUSED.includes(code)) {
      throw new WrongDatabase(
        `${where} rejected the connection: ${message}. Check --database-url, and that its user owns the database.`,
      )
    }
    throw asProblem(error)
  } finally {
    clearTimeout(timer)
    await client.end({ timeout: CONNECT_TIMEOUT_SECONDS })
  }
}
