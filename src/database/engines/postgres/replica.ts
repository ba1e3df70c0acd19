/**
 * A replica that answers reads as the primary would: it gets a query once it has replayed everything that was committed
 * when the query was made, whoever wrote it and through which server. If that takes too long, or if the replica does not
 * respond, the primary answers.
 *
 * The position in the write-ahead log is looked at on the connection that the query is sent on: several connections to
 * one address may lead to several replicas.
 */
import type { Sql } from 'postgres'
import type { ReadSource, ReplicaState } from '../../caller.ts'
import { failureOf } from '../../errors.ts'
import { type Lane, type Link, PATIENCE_MS } from './link.ts'
import type { PostgresReader } from './reader.ts'
import { oncePerTurn } from './shared-reads.ts'

/** How often a replica that cannot be used is tried again, while the primary answers. */
const RETRY_MS = 1_000

/** The longest pause between two looks at a replica's position. */
const LONGEST_PAUSE_MS = 20

/** The end of what is committed, and the cluster, which a replica has in common with its primary. */
const POSITION = `
  SELECT pg_current_wal_flush_lsn()::text AS position, system_identifier::text AS cluster FROM pg_control_system()`

const PROGRESS = `
  SELECT pg_is_in_recovery() AND system_identifier::text = $2 AS "isReplica",
    coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false) AS "hasReached"
  FROM pg_control_system()`

interface Position {
  position: string
  cluster: string
}

interface Progress {
  isReplica: boolean
  hasReached: boolean
}

/** Failures of the replica alone. */
const FAULTS: readonly unknown[] = ['unreachable', 'busy', 'io']

/** Of a query on a replica: it is in the way of a change that has to be replayed. */
const CONFLICT = 'serialization'

interface ReplicaOptions {
  /** A connection to the primary, for short queries. */
  primary: Lane<PostgresReader>
  /** A new connection to the replica, of which there are as many as reads at a time. */
  newLane(): Lane<PostgresReader>
  /** How long a read waits until the replica has what it has to see. */
  waitMs: number
  /** How long a query may take before its connection is given up. */
  patienceMs: number
  onChange?(state: ReplicaState): void
}

export class Replica {
  readonly #free: Lane<PostgresReader>[] = []
  readonly #position = oncePerTurn(() => shortQuery<Position>(this.options.primary.link, POSITION, []))
  #state: ReplicaState = 'used'
  #retry: Timer | undefined
  #isClosed = false

  constructor(readonly options: ReplicaOptions) {}

  /** Runs a read on the replica, or `instead`, also after it failed on the replica. `note` receives which of both. */
  async read<Result>(
    run: (link: Link<PostgresReader>) => Promise<Result>,
    instead: () => Promise<Result>,
    note: (from: ReadSource) => void,
  ): Promise<Result> {
    const attempt = this.#state === 'used' ? await this.#attempt(run) : undefined
    note(attempt ? 'replica' : 'primary')
    return attempt ? attempt.result : instead()
  }

  /** Whether it can be used now. */
  async check(): Promise<ReplicaState> {
    if (await this.#attempt(async () => undefined)) this.#enter('used')
    return this.#state
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    await Promise.all(this.#free.map((lane) => lane.close()))
  }

  /** The result of the replica, or undefined if it has to be asked later. */
  async #attempt<Result>(
    run: (link: Link<PostgresReader>) => Promise<Result>,
  ): Promise<{ result: Result } | undefined> {
    // If the primary does not respond, the read fails as it would without a replica.
    const position = await this.#position()
    const lane = this.#free.pop() ?? this.options.newLane()
    const { link } = lane
    try {
      const state = await this.#follow(link, position)
      if (state === 'used') return { result: await link.withPatience(this.options.patienceMs, () => run(link)) }
      this.#suspend(state)
    } catch (error) {
      const failure = failureOf(error)
      if (FAULTS.includes(failure)) this.#suspend('unreachable')
      else if (failure !== CONFLICT) throw error
    } finally {
      if (this.#isClosed) link.lose()
      else this.#free.push(lane)
    }
    return undefined
  }

  /** Waits until the replica has reached a position. */
  async #follow(link: Link<PostgresReader>, { position, cluster }: Position): Promise<ReplicaState> {
    const until = performance.now() + this.options.waitMs
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const progress = await shortQuery<Progress>(link, PROGRESS, [position, cluster])
      if (!progress.isReplica) return 'not_a_replica'
      if (progress.hasReached) return 'used'
      if (performance.now() + pauseMs > until) return 'lagging'
      await Bun.sleep(pauseMs)
    }
  }

  #suspend(state: ReplicaState): void {
    this.#enter(state)
    if (this.#isClosed) return
    // An error of the primary says nothing about the replica.
    this.#retry = setTimeout(() => this.check().catch(() => this.#suspend(state)), RETRY_MS)
    this.#retry.unref()
  }

  #enter(state: ReplicaState): void {
    clearTimeout(this.#retry)
    if (state === this.#state) return
    this.#state = state
    this.options.onChange?.(state)
  }
}

async function shortQuery<Row>(link: Link<PostgresReader>, sql: string, params: string[]): Promise<Row> {
  const rows = await link.withPatience(PATIENCE_MS, async () =>
    link.client.unsafe<Row[] & object[]>(sql, params, { prepare: true }),
  )
  return rows[0] as Row
}

/**
 * Makes a client of the primary send its queries to the replica where that is possible. Only for single queries, outside of
 * transactions.
 */
export function readFrom(replica: Replica, client: Sql, note: () => ((from: ReadSource) => void) | undefined): void {
  const unsafe = client.unsafe.bind(client)
  const routed = (...args: Parameters<Sql['unsafe']>) => {
    const noteSource = note()
    return noteSource ? new RoutedQuery(replica, args, unsafe, noteSource) : unsafe(...args)
  }
  client.unsafe = routed as unknown as Sql['unsafe']
}

type Unsafe = Sql['unsafe']

/** The parts of a postgres.js query that readers and drizzle use. */
class RoutedQuery implements PromiseLike<unknown> {
  constructor(
    readonly replica: Replica,
    readonly args: Parameters<Unsafe>,
    readonly unsafe: Unsafe,
    readonly note: (from: ReadSource) => void,
  ) {}

  values(): Promise<unknown> {
    return this.#send((query) => query.values())
  }

  describe(): Promise<unknown> {
    return this.#send((query) => query.describe())
  }

  // biome-ignore lint/suspicious/noThenProperty: a postgres.js query is sent when it is awaited.
  then<One, Other>(
    onResult?: ((result: unknown) => One | PromiseLike<One>) | null,
    onError?: ((error: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    return this.#send((query) => query).then(onResult, onError)
  }

  #send(receive: (query: ReturnType<Unsafe>) => PromiseLike<unknown>): Promise<unknown> {
    return this.replica.read(
      async (link) => receive(link.client.unsafe(...this.args)),
      async () => receive(this.unsafe(...this.args)),
      this.note,
    )
  }
}
