/**
 * Connections to a server, with postgres.js.
 *
 * postgres.js 3.4.9 does not survive a lost connection: data that was being written to it is sent again before the
 * greeting of the next one, and its own `begin` writes to the closed socket, which ends the process (its issues 1066,
 * 1133 and 1208). So `begin` is not used, and a client that lost a connection is replaced as a whole.
 */
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres, { type Sql } from 'postgres'
import { APPLICATION_NAME } from '../../schema/migrate.ts'
import type { StatementCounts } from '../../statement-counts.ts'
import { WrongDatabase } from '../../wrong-database.ts'
import { countStatements } from './counted-client.ts'
import type { PostgresReader } from './reader.ts'

/** A server that does not respond within this time is down or far too busy. */
export const CONNECT_TIMEOUT_SECONDS = 5

/** Nothing is pending any more when a connection is closed: the server only confirms it. */
const CLOSE_TIMEOUT_SECONDS = 2

/** After this the network is considered down, which TCP itself detects only after a quarter of an hour. */
export const PATIENCE_MS = 10_000

/**
 * How often the server checks during a query whether this process is still there: a process that is killed cancels
 * nothing.
 */
export const CLIENT_CHECK_MS = 100

/** Scheme, user and password of a URL in libpq's format, and its hosts. */
const HOSTS = /^([^/]+:\/\/(?:[^/?@]*@)?)([^/?]*)/

interface Address {
  url: string
  /** A folder of sockets. */
  host?: string
  /** Hosts and database, without user and password. */
  place: string
  /** The same as the subject of a message. */
  where: string
  /** Whether it names several servers. */
  isSeveral: boolean
  /**
   * Whether it leads to a pooler, which may run each transaction on another connection to the server: nothing of a session
   * may be used, such as its settings, prepared statements and locks.
   */
  isPooled: boolean
}

/**
 * The server's address, from a URL in libpq's format: `?host=/var/run/postgresql` names a folder of sockets, and
 * `postgres://one,two:5433/tally` the servers of a cluster. `?pgbouncer=true` is Prisma's.
 */
export function parseAddress(url: string): Address {
  const [, start = '', hosts = ''] = HOSTS.exec(url) ?? []
  const isSeveral = hosts.includes(',')
  // URLs have one host, and libpq's `postgres://user@/database` means the default socket.
  const [host = ''] = hosts.split(',')
  const address = URL.parse(
    start + (host === '' && start.endsWith('@') ? 'localhost' : host) + url.slice(start.length + hosts.length),
  )
  if (!address) {
    throw new WrongDatabase(
      '--database-url is not a valid URL. Percent-encode characters such as # / @ in the password (%23 %2F %40), or set the password in PGPASSWORD.',
    )
  }
  const folder = address.searchParams.get('host')
  address.searchParams.delete('host')
  const pgbouncer = address.searchParams.get('pgbouncer') ?? 'false'
  if (pgbouncer !== 'true' && pgbouncer !== 'false') {
    throw new WrongDatabase(`--database-url has pgbouncer=${pgbouncer}. Set it to true or false.`)
  }
  address.searchParams.delete('pgbouncer')
  const place = `${folder ?? (isSeveral ? hosts : address.host)}${address.pathname}`
  return {
    url: isSeveral ? start + hosts + address.pathname + address.search : address.href,
    place,
    where: `The database ${place}`,
    isSeveral,
    isPooled: pgbouncer === 'true',
    ...(folder ? { host: folder } : {}),
  }
}

/** @param purpose of what cannot work without its own session, as `to …` */
export function refusePooler(url: string, purpose: string): void {
  const { isPooled, where } = parseAddress(url)
  if (isPooled) {
    throw new WrongDatabase(`${where} is behind a pooler. Connect directly, without pgbouncer=true, ${purpose}.`)
  }
}

export interface LinkOptions {
  url: string
  connections: number
  /** Which one is used of several servers in the URL. */
  target?: 'primary' | 'standby'
  /** Settings of the server for these connections, or for the transactions on them if they lead to a pooler. */
  settings?: Record<string, number>
  /** Whether nothing is sent outside of transactions. */
  isTransactional?: boolean
  counts?: StatementCounts | undefined
}

export function connect(options: LinkOptions, onclose: () => void): Sql {
  const { url, connections, target = 'primary', settings, isTransactional = false } = options
  const { url: address, host, isSeveral, isPooled } = parseAddress(url)
  return postgres(address, {
    ...(host ? { host } : {}),
    ...(isSeveral ? { target_session_attrs: target } : {}),
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
    prepare: !isPooled,
    // PgBouncer takes the connection to the server away when a query is answered, although the description of the next
    // one has been asked for, and that is never answered.
    ...(isPooled && !isTransactional ? { max_pipeline: 0 } : {}),
    connection: { application_name: APPLICATION_NAME, ...(isPooled ? {} : settings) },
  })
}

/** What a link is for: reading, or transactions. */
type QueriesOver<Queries> = new (...parts: ConstructorParameters<typeof PostgresReader>) => Queries

/** A postgres.js client and the queries that it prepared, until it loses a connection. */
export class Link<Queries extends PostgresReader> {
  readonly client: Sql
  readonly queries: Queries
  readonly isPooled: boolean
  /** Follows BEGIN in the same message. */
  readonly #localSettings: string[]
  lost = false
  /** Whether it has responded before: an idle connection may have been lost silently, a new one has not. */
  answered = false

  constructor(options: LinkOptions, queriesOver: QueriesOver<Queries>) {
    this.client = connect(options, () => this.lose())
    this.isPooled = parseAddress(options.url).isPooled
    const settings = this.isPooled ? Object.entries(options.settings ?? {}) : []
    this.#localSettings = settings.map(([name, value]) => `SET LOCAL ${name} = ${value}`)
    if (options.counts) countStatements(this.client, options.counts)
    this.queries = new queriesOver(drizzle(this.client), this.client, options.counts)
  }

  /**
   * @param mode such as `ISOLATION LEVEL READ COMMITTED`
   * @param more statements that are sent together with BEGIN
   */
  begin(mode: string, ...more: string[]) {
    return this.client.unsafe([`BEGIN ${mode}`, ...this.#localSettings, ...more].join('; '))
  }

  /** Pending queries fail, and nothing more is sent. */
  lose(): void {
    this.lost = true
    void this.client.end({ timeout: 0 })
  }

  /** @param run may refresh the timer, with which the time begins anew */
  async withPatience<Result>(patienceMs: number, run: (timer: NodeJS.Timeout) => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.lose(), patienceMs)
    try {
      return await run(timer)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** The current link, which is replaced after it is lost. */
export class Lane<Queries extends PostgresReader> {
  #link: Link<Queries> | undefined

  constructor(
    readonly options: LinkOptions,
    readonly queriesOver: QueriesOver<Queries>,
    readonly onNewLink: (link: Link<Queries>) => void = () => undefined,
  ) {}

  get link(): Link<Queries> {
    if (!this.#link || this.#link.lost) {
      this.#link = new Link(this.options, this.queriesOver)
      this.onNewLink(this.#link)
    }
    return this.#link
  }

  async close(): Promise<void> {
    // Otherwise it was never opened or is already lost.
    if (this.#link && !this.#link.lost) await this.#link.client.end({ timeout: CLOSE_TIMEOUT_SECONDS })
  }
}
