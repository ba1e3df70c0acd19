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
import { currentCaller, noteSource, type ReadSource } from '../../caller.ts'
import type { Database, DatabaseEvents, Reader } from '../../database.ts'
import { asProblem, failureOf, POOLED } from '../../errors.ts'
import { MARK_QUERY, type OpeningMark, refuseMoved } from '../../move/state.ts'
import { LOCK_TIMEOUT_MS, migratePostgres } from '../../schema/migrate.ts'
import type { StatementCounts } from '../../statement-counts.ts'
import { WrongDatabase } from '../../wrong-database.ts'
import { type Around, asProblems } from '../queries.ts'
import { SlowPool } from '../slow/pool.ts'
import type { ReplicaAddress } from '../slow/source.ts'
import { SlowStreams } from '../slow/streams.ts'
import { cancelWithCallers } from './cancelled-queries.ts'
import {
  CONNECT_TIMEOUT_SECONDS,
  connect,
  Lane,
  Link,
  type LinkOptions,
  PATIENCE_MS,
  parseAddress,
  refusePooler,
} from './link.ts'
import { beginMonth } from './partitions.ts'
import { PostgresReader } from './reader.ts'
import { inOneState, readerOver } from './reading.ts'
import { Replica, readFrom } from './replica.ts'
import { SEATS, Seats } from './seats.ts'
import { PostgresWriter } from './writer.ts'

/**
 * Connections for quick reads. With those for slow ones and for writing 15, and a few more of processes for slow reads, of
 * PostgreSQL's default of 100.
 */
const READERS = 4

type Server = Pick<LinkOptions, 'url' | 'counts'>

function quickReads(server: Server): Lane<PostgresReader> {
  return new Lane({ ...server, connections: READERS }, PostgresReader, (link) =>
    link.queries.runThrough((run) => asProblems(() => link.withPatience(PATIENCE_MS, run))),
  )
}

/**
 * The server itself cancels queries that take too long, or is asked to through a pooler. There are as many as
 * connections, so that none waits for another.
 */
function slowReads(
  server: Server,
  deadlineMs: number,
  { seats, replica }: { seats: Seats; replica: Replica | undefined },
): Lane<PostgresReader> {
  const options = { ...server, connections: SEATS, settings: { statement_timeout: deadlineMs } }
  const { isPooled } = parseAddress(server.url)
  return new Lane(options, PostgresReader, (link) => {
    cancelWithCallers(link.client, isPooled ? deadlineMs : undefined)
    if (replica) readFrom(replica, link.client, sourceNote)
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

/** Jobs read from the primary: what they find is written there. */
function sourceNote(): ((from: ReadSource) => void) | undefined {
  const caller = currentCaller()
  return caller && ((from) => noteSource(caller, from))
}

/** A replica for slow reads of callers. Throws {@link WrongDatabase} if its address leads to something else. */
async function openReplica(
  { url, waitMs }: ReplicaAddress,
  primary: Lane<PostgresReader>,
  { slowDeadlineMs, onReplica }: Pick<PostgresOptions, 'slowDeadlineMs' | 'onReplica'>,
): Promise<Replica> {
  // Each look at its position has to be on the connection of the query.
  refusePooler(url, 'to read from a replica')
  const settings = { statement_timeout: slowDeadlineMs }
  const newLane = () =>
    new Lane({ url, connections: 1, target: 'standby', settings }, PostgresReader, (link) =>
      cancelWithCallers(link.client),
    )
  const replica = new Replica({
    primary,
    newLane,
    waitMs,
    patienceMs: slowDeadlineMs + PATIENCE_MS,
    onChange: onReplica,
  })
  const check = async () => {
    try {
      return await replica.check()
    } catch (error) {
      throw failureOf(error) === 'pooled'
        ? new WrongDatabase(`${parseAddress(url).where} is behind a pooler. Connect directly to read from a replica.`)
        : error
    }
  }
  if ((await asProblems(check)) === 'not_a_replica') {
    await replica.close()
    throw new WrongDatabase(
      `${parseAddress(url).where} is not a replica of the primary. Check --database-read-url (TALLY_DATABASE_READ_URL).`,
    )
  }
  return replica
}

/** Runs a task on a connection of its own, as a command line does. */
async function runHere<Result>(
  server: Server,
  deadlineMs: number,
  body: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  const settings = { statement_timeout: deadlineMs, idle_in_transaction_session_timeout: PATIENCE_MS }
  const link = new Link({ ...server, connections: 1, settings }, PostgresReader)
  try {
    return await asProblems(() => link.withPatience(deadlineMs + PATIENCE_MS, () => inOneState(link, body)))
  } finally {
    link.lose()
  }
}

/** Runs `body` on a connection of its own, without limits of time. */
async function runUnlimited<Result>(server: Server, body: (reader: Reader) => Promise<Result>): Promise<Result> {
  const link = new Link({ ...server, connections: 1 }, PostgresReader)
  try {
    return await asProblems(() => inOneState(link, body))
  } finally {
    link.lose()
  }
}

export interface PostgresOptions extends Pick<DatabaseEvents, 'onCommit' | 'onReplica'> {
  /** `postgres://user:password@host/database`, with libpq's parameters. */
  url: string
  replica?: ReplicaAddress | undefined
  now: number
  /** Whether slow tasks have processes of their own. A short command does not need them. */
  serving: boolean
  slowDeadlineMs: number
  slowGraceMs?: number | undefined
  slowStartMs?: number | undefined
  busyDeadlineMs: number
  counts?: StatementCounts | undefined
  slowProgram?: readonly string[] | undefined
}

/**
 * Opens the database and applies missing migrations. Throws `WrongDatabase` if it belongs to another program or a newer
 * Tally, or if access is denied, and a Problem if the server does not respond.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, now, serving, slowDeadlineMs, slowGraceMs, slowStartMs, busyDeadlineMs, counts, slowProgram, onCommit } =
    options
  const server = { url, counts }
  await onOneConnection(url, async (client, where, isPooled) => {
    await migratePostgres(client, where, now, { isPooled })
    const [mark] = await client.unsafe<OpeningMark[]>(MARK_QUERY)
    refuseMoved(mark, where)
  })
  const writer = new PostgresWriter(server, busyDeadlineMs, onCommit)
  const quick = quickReads(server)
  const seats = new Seats(slowDeadlineMs)
  const replica = options.replica && (await openReplica(options.replica, quick, options))
  const slow = slowReads(server, slowDeadlineMs, { seats, replica })
  const slowOptions = {
    source: { url, replica: options.replica },
    onError: () => undefined,
    program: slowProgram,
    startMs: slowStartMs,
  }
  const pool = serving ? new SlowPool({ ...slowOptions, deadlineMs: slowDeadlineMs, graceMs: slowGraceMs }) : undefined
  const streams = serving ? new SlowStreams(slowOptions) : undefined
  async function close(): Promise<void> {
    await writer.close()
    pool?.close()
    streams?.close()
    await Promise.all([quick.close(), slow.close(), replica?.close()])
  }
  let closing: Promise<void> | undefined

  return {
    engine: 'postgres',
    read: readerOver(quick),
    slow: readerOver(slow),
    slowly: (task, args) =>
      pool?.run(task, args) ?? runHere(server, slowDeadlineMs, (reader) => task.run(reader, args)),
    inOneState: (body) => runUnlimited(server, body),
    streamSlowly: (stream, args) => streams?.run(stream, args) ?? stream.run(readerOver(slow), args),
    write: (body, options) => writer.write(body, options),
    setWriter: (record) => writer.setWriter(record),
    // A transaction with its own id ends with a record in the server's log.
    probe: () =>
      writer.write(async (tx) => {
        await tx.select({ id: sql`pg_current_xact_id()::text` }).from(tx.tables.revision)
      }),
    replica: replica && (() => asProblems(() => replica.check())),
    async beginMonth(moment) {
      let begun: number | undefined
      await onOneConnection(url, async (client) => {
        begun = await beginMonth(client, moment)
      })
      return begun
    },
    waitingWrites: () => writer.waiting(),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** Older ones do not notice that a client is gone while they run its query. */
const OLDEST_VERSION = 14

/** Invalid password, unknown user, unknown database, no permission to connect or to create tables. */
const REFUSED = ['28000', '28P01', '3D000', '42501']

/** `where` names the database in messages. Throws as {@link openPostgres}. */
export async function onOneConnection(
  url: string,
  work: (client: Sql, where: string, isPooled: boolean) => Promise<void>,
): Promise<void> {
  const { where, isPooled } = parseAddress(url)
  // A pooler refuses or ignores it, which shows that it keeps nothing of a session.
  const settings = { lock_timeout: LOCK_TIMEOUT_MS }
  const client = connect({ url, connections: 1, settings }, () => undefined)
  // A proxy for a server that is down accepts the connection and drops it, and postgres.js would retry forever.
  const timer = setTimeout(() => client.end({ timeout: 0 }), PATIENCE_MS)
  try {
    const [server] = await client`
      SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('lock_timeout') AS timeout`
    clearTimeout(timer)
    if (server!.version < OLDEST_VERSION) {
      throw new WrongDatabase(`${where} is PostgreSQL ${server!.version}. Upgrade it to ${OLDEST_VERSION} or newer.`)
    }
    if (!isPooled && server!.timeout === '0') throw new WrongDatabase(`${where} ignores settings. ${POOLED}`)
    await work(client, where, isPooled)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code && REFUSED.includes(code)) {
      throw new WrongDatabase(
        `${where} rejected the connection: ${message}. Check --database-url, and that its user owns the database.`,
      )
    }
    if (failureOf(error) === 'pooled') {
      throw new WrongDatabase(
        isPooled
          ? `${where} rejected the connection: ${message}. Remove the parameter from --database-url, or set it for the user, with ALTER ROLE.`
          : `${where} rejected the connection: ${message}. ${POOLED}`,
      )
    }
    throw asProblem(error)
  } finally {
    clearTimeout(timer)
    await client.end({ timeout: CONNECT_TIMEOUT_SECONDS })
  }
}
