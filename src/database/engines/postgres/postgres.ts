/**
 * PostgreSQL with drizzle, over postgres.js.
 *
 * Every body of `write` is a separate REPEATABLE READ transaction: it sees one state of the database, as on SQLite, and
 * if two change the same row or insert the same unique value, the later one fails and runs again after the earlier one.
 * So a store that reads first and then writes is correct on both engines, without locks of its own.
 *
 * postgres.js 3.4.9 does not survive a lost connection: data that was being written to it is sent again before the
 * greeting of the next one, and its own `begin` writes to the closed socket, which ends the process (its issues 1066,
 * 1133 and 1208). So `begin` is not used, and a client that lost a connection is replaced as a whole.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'drizzle-orm'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres, { type Sql } from 'postgres'
import type { Database, DatabaseEvents, Reader, Tx } from '../../database.ts'
import { asProblem, commitUnknown, databaseClosed, failureOf } from '../../errors.ts'
import { APPLICATION_NAME, migratePostgres, WrongDatabase } from '../../schema/migrate.ts'
import { postgresTables } from '../../schema/tables.ts'
import { convertErrors, Queries } from '../queries.ts'
import { Turns } from './lanes.ts'

/** Connections for writing. More than the cores of a small server would only wait for each other's fsync. */
const WRITERS = 8
/** Connections for quick reads and for slow ones. With the writers 14, of PostgreSQL's default of 100. */
const READERS = 4
const SLOW_READERS = 2

/** A server that does not respond within this time is down or far too busy. */
const CONNECT_TIMEOUT_SECONDS = 5

/** A transaction of a process on a lost machine must not hold its rows for hours. Bodies await nothing but queries. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000

/** After this the network is considered down, which TCP itself detects only after a quarter of an hour. */
const PATIENCE_MS = 10_000
const TRANSACTION_PATIENCE_MS = 60_000

/**
 * Attempts of a body that keeps losing to other processes. Within this process, the second attempt is exclusive if
 * possible.
 */
const ATTEMPTS = 10
/** Maximum of the random pause between those attempts, so that two processes do not collide each time. */
const PAUSE_MS = 50

/** The server's address, from a URL in libpq's format: `?host=/var/run/postgresql` names a folder of sockets. */
function parseAddress(url: string): { url: string; host?: string; where: string } {
  // libpq's `postgres://user@/database` means the default socket; other parsers reject it.
  const address = URL.parse(url.replace(/^([^/]+:\/\/[^/?@]*@)(?=[/?]|$)/, '$1localhost'))
  if (!address) {
    throw new WrongDatabase(
      '--database-url is not a valid URL. Percent-encode characters such as # / @ in the password (%23 %2F %40), or set the password in PGPASSWORD.',
    )
  }
  const folder = address.searchParams.get('host')
  address.searchParams.delete('host')
  const where = `The database ${folder ?? address.host}${address.pathname}`
  return { url: address.href, where, ...(folder ? { host: folder } : {}) }
}

interface LinkOptions {
  url: string
  connections: number
  /** Settings of the server for these connections. */
  settings?: Record<string, number>
}

function connect({ url, connections, settings }: LinkOptions, onclose: () => void): Sql {
  const { url: address, host } = parseAddress(url)
  return postgres(address, {
    ...(host ? { host } : {}),
    max: connections,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    // Connections are only closed when they are lost, so that a close event means exactly that.
    max_lifetime: null,
    idle_timeout: 0,
    // Only needed for arrays, and costs a query per connection.
    fetch_types: false,
    // By default, notices are printed.
    onnotice: () => undefined,
    onclose,
    connection: { application_name: APPLICATION_NAME, ...settings },
  })
}

/** A postgres.js client and its drizzle state, until it loses a connection. */
class Link {
  readonly client: Sql
  readonly orm: PostgresJsDatabase
  readonly queries: Queries & { revision(): Promise<number> }
  lost = false
  /** Whether it has responded before: an idle connection may have been lost silently, a new one has not. */
  answered = false

  constructor(options: LinkOptions) {
    this.client = connect(options, () => this.lose())
    this.orm = drizzle(this.client)
    this.queries = Object.assign(new Queries(this.orm, postgresTables), { revision: () => this.#revision() })
  }

  /** Pending queries fail, and nothing more is sent. */
  lose(): void {
    this.lost = true
    void this.client.end({ timeout: 0 })
  }

  async withPatience<Result>(patienceMs: number, run: () => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.lose(), patienceMs)
    try {
      return await run()
    } finally {
      clearTimeout(timer)
    }
  }

  async #revision(): Promise<number> {
    const query = this.queries.prepared<{ value: number }>('database.revision', () =>
      this.orm.select({ value: postgresTables.revision.value }).from(postgresTables.revision),
    )
    return (await query.execute())[0]!.value
  }
}

/** The current link, which is replaced after it is lost. */
class Lane {
  #link: Link | undefined

  constructor(
    readonly options: LinkOptions,
    readonly onNewLink: (link: Link) => void = () => undefined,
  ) {}

  get link(): Link {
    if (!this.#link || this.#link.lost) {
      this.#link = new Link(this.options)
      this.onNewLink(this.#link)
    }
    return this.#link
  }

  async close(): Promise<void> {
    // Otherwise it was never opened or is already lost.
    if (this.#link && !this.#link.lost) await this.#link.client.end({ timeout: CONNECT_TIMEOUT_SECONDS })
  }
}

/** A reader over the lane's current link. */
function readerOver(lane: Lane): Reader {
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
    revision: () => lane.link.queries.revision(),
    prepared: (key: string, build: (reader: never) => { prepare(name: string): unknown }) =>
      lane.link.queries.prepared(key, build),
  }
  return reader as unknown as Reader
}

function quickReads(url: string): Lane {
  return new Lane({ url, connections: READERS }, (link) =>
    convertErrors(link.orm, (run) => link.withPatience(PATIENCE_MS, run)),
  )
}

/**
 * The server itself cancels queries that take too long. There are as many as connections, so that none waits for
 * another.
 */
function slowReads(url: string, deadlineMs: number): Lane {
  const seats = new Turns(Array.from({ length: SLOW_READERS }, (_, seat) => seat))
  const options = { url, connections: SLOW_READERS, settings: { statement_timeout: deadlineMs } }
  return new Lane(options, (link) =>
    convertErrors(link.orm, async (run) => {
      const seat = await seats.take(false)
      try {
        return await link.withPatience(deadlineMs + PATIENCE_MS, run)
      } finally {
        seats.give(seat)
      }
    }),
  )
}

class PostgresWriter {
  readonly #turns: Turns<Lane>
  readonly #inside = new AsyncLocalStorage<true>()
  readonly #unanswered = new Set<Promise<unknown>>()
  #closed = false

  constructor(
    url: string,
    busyDeadlineMs: number,
    readonly onCommit: DatabaseEvents['onCommit'],
  ) {
    const settings = {
      lock_timeout: busyDeadlineMs,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    }
    this.#turns = new Turns(
      Array.from({ length: WRITERS }, () => new Lane({ url, connections: 1, settings })),
      busyDeadlineMs,
    )
  }

  write<Result>(body: (tx: Tx) => Promise<Result>): Promise<Result> {
    if (this.#inside.getStore()) throw new Error('write() was called inside write(): pass the tx on instead')
    if (this.#closed) return Promise.reject(databaseClosed())
    const answer = this.#writeAndTell(body)
    this.#unanswered.add(answer)
    const forget = () => this.#unanswered.delete(answer)
    answer.then(forget, forget)
    return answer
  }

  /** Includes those that are being written. */
  waiting(): number {
    return this.#unanswered.size
  }

  /** Refuses new bodies and resolves once the waiting ones are done. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#unanswered)
    await Promise.all(this.#turns.lanes.map((lane) => lane.close()))
  }

  async #writeAndTell<Result>(body: (tx: Tx) => Promise<Result>): Promise<Result> {
    const effects: (() => void)[] = []
    const begunAt = performance.now()
    const value = await this.#writeWhole(body, effects)
    this.onCommit(1, (performance.now() - begunAt) / 1000)
    // If an effect fails, its caller gets the error; the writes stay.
    for (const effect of effects) effect()
    return value
  }

  async #writeWhole<Result>(body: (tx: Tx) => Promise<Result>, effects: (() => void)[]): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      const lane = await this.#turns.take(attempt > 1)
      try {
        const link = await this.#begin(lane)
        return await link.withPatience(TRANSACTION_PATIENCE_MS, () => this.#attempt(link, body, effects))
      } catch (error) {
        if (!mayRetry(error, attempt)) throw asProblem(error)
        effects.length = 0
      } finally {
        this.#turns.give(lane)
      }
      if (attempt > 1) await Bun.sleep(Math.random() * PAUSE_MS)
    }
  }

  async #begin(lane: Lane): Promise<Link> {
    const { link } = lane
    try {
      await link.withPatience(PATIENCE_MS, () => link.client.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ'))
      link.answered = true
      return link
    } catch (error) {
      if (!link.answered || failureOf(error) !== 'unreachable') throw error
      link.lose()
      return this.#begin(lane)
    }
  }

  async #attempt<Result>(link: Link, body: (tx: Tx) => Promise<Result>, effects: (() => void)[]): Promise<Result> {
    const tx = Object.assign(link.queries, {
      afterCommit: (effect: () => void) => effects.push(effect),
      attempt: <Part>(part: () => Promise<Part>) => attemptPart(link, part, effects),
    })
    let value: Result
    try {
      value = await this.#inside.run(true, () => body(tx as unknown as Tx))
    } catch (error) {
      // On a connection that is about to close, ROLLBACK would never return.
      if (link.lost || failureOf(error) === 'unreachable') link.lose()
      else await link.client.unsafe('ROLLBACK').catch(() => link.lose())
      throw error
    }
    let ended: string
    try {
      ended = (await link.client.unsafe('COMMIT')).command
    } catch (error) {
      if (failureOf(error) !== 'unreachable') throw error
      // Only a repeat of the request shows whether it was written.
      throw commitUnknown(error)
    }
    if (ended !== 'COMMIT')
      throw new Error(
        'A query failed inside the transaction, but the transaction function continued: nothing was written',
      )
    return value
  }
}

async function attemptPart<Part>(link: Link, part: () => Promise<Part>, effects: (() => void)[]): Promise<Part> {
  const before = effects.length
  await link.client.unsafe('SAVEPOINT attempt')
  try {
    const value = await part()
    await link.client.unsafe('RELEASE SAVEPOINT attempt')
    return value
  } catch (error) {
    effects.length = before
    // If the connection or the transaction is lost, the original error is the one to report.
    await link.client.unsafe('ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt').catch(() => undefined)
    throw error
  }
}

/** Errors that a concurrent commit may cause in a transaction with an older snapshot. */
const OVERTAKEN: readonly unknown[] = ['unique', 'foreign_key']

/**
 * Whether another attempt may succeed. A violation that a concurrent commit explains is retried once: the body may have
 * read before that commit, or used a key from a cache.
 */
function mayRetry(error: unknown, attempt: number): boolean {
  const failure = failureOf(error)
  return (failure === 'serialization' && attempt < ATTEMPTS) || (OVERTAKEN.includes(failure) && attempt === 1)
}

export interface PostgresOptions extends Pick<DatabaseEvents, 'onCommit'> {
  /** `postgres://user:password@host/database`, with libpq's parameters. */
  url: string
  now: number
  slowDeadlineMs: number
  busyDeadlineMs: number
}

/**
 * Opens the database and applies missing migrations. Throws `WrongDatabase` if it belongs to another program or a newer
 * Tally, or if access is denied, and a Problem if the server does not respond.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, now, slowDeadlineMs, busyDeadlineMs, onCommit } = options
  await onOneConnection(url, (client, where) => migratePostgres(client, where, now))
  const writer = new PostgresWriter(url, busyDeadlineMs, onCommit)
  const quick = quickReads(url)
  const slow = slowReads(url, slowDeadlineMs)
  async function close(): Promise<void> {
    await writer.close()
    await Promise.all([quick.close(), slow.close()])
  }
  let closing: Promise<void> | undefined

  return {
    engine: 'postgres',
    read: readerOver(quick),
    slow: readerOver(slow),
    write: (body) => writer.write(body),
    setWriter: () => {
      throw new Error('Not implemented yet')
    },
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
