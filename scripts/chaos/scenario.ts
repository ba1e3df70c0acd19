/**
 * Shared by all chaos tests: a server under test, clients that repeat each report until it is acknowledged, and the
 * check of the result.
 */
import { Database as Connection } from 'bun:sqlite'
import { join } from 'node:path'
import { Installation, type InstallationOptions, type Server } from '../../test/support/binary.ts'

export interface Outcome {
  rounds: number
  /** Entries that were acknowledged to a client. */
  acknowledged: number
  /** How many of those are not in the database. */
  lost: number
  /** How many of all sent entries are in the database twice. */
  duplicated: number
  /** Time from each restart until the server is ready, in milliseconds. */
  readyMs: number[]
  /** The longest time in which no report was acknowledged, in milliseconds. */
  longestRefusalMs?: number
  /** Other results, in a few words. */
  remark?: string
}

/** The part of an outcome that the reporters and the database give. */
export type Verdict = Required<Pick<Outcome, 'acknowledged' | 'lost' | 'duplicated' | 'longestRefusalMs'>>

export interface Scenario {
  name: string
  /** Undefined if this machine can run the scenario, else what is missing. */
  missingRequirement(): string | undefined
  run(size: Size): Promise<Outcome>
}

/** `short` is for the long tier of `scripts/test`, `long` for a person with an hour. */
export type Size = 'short' | 'long'

type SetUp = Pick<InstallationOptions, 'before' | 'parent' | 'variables'>

/** The short form runs beside other tests, and its load takes what the processors have. */
export const installed = (size: Size, options: SetUp = {}): Promise<Installation> =>
  size === 'short' ? Installation.brief(options) : Installation.make(options)

/** For scenarios that inject failing system calls. */
export const straceMissing = () => (Bun.which('strace') ? undefined : 'strace is not installed')

/** EX_SOFTWARE: the server's exit code when it can't know what is durable. */
export const EXIT_FATAL = 70

/** Number of clients that report at the same time. */
const CLIENTS = 16

/** A call that takes longer is aborted and repeated: the server may have died before it responded. */
const CALL_TIMEOUT_MS = 15_000

const RETRY_MS = 25

/** Calls without an answer, in the refusals of reporters. */
const TIMED_OUT = `no answer in ${CALL_TIMEOUT_MS / 1_000} s`
const DISCONNECTED = 'disconnected'

const reportOf = (key: string) => ({
  agent_harness: 'chaos',
  agent_name: 'chaos',
  model: 'claude-sonnet-4-5',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T10:30:00Z',
  tokens: { input: 1200, output: 340 },
  summary: key,
})

/** The server under test, with a person and token to report with. */
export class Victim {
  server!: Server
  readonly readyMs: number[] = []

  private constructor(
    readonly installation: Installation,
    readonly token: string,
  ) {}

  static async make(size: Size, options: SetUp = {}): Promise<Victim> {
    const installation = await installed(size, options)
    await installation.addUser('ada@example.com', 'admin')
    const { token } = await installation.createToken('svc', 'ada@example.com')
    return new Victim(installation, token)
  }

  get databaseFile(): string {
    return join(this.installation.folder, 'tally-data/tally.db')
  }

  async start(args: string[] = []): Promise<void> {
    this.server = await this.installation.serve(args)
    this.readyMs.push(this.server.startedInMs)
  }

  /** Ends the load, stops the server gracefully, and compares what was acknowledged with what is in the database. */
  async verdict(reporters: Reporters): Promise<Verdict> {
    await reporters.stop()
    await this.server.stop()
    const { acknowledged, longestRefusalMs } = reporters
    return {
      acknowledged: acknowledged.size,
      ...checkDatabase(this.databaseFile, acknowledged),
      longestRefusalMs,
    }
  }

  /** Stops the server gracefully, if it is running, and removes everything. */
  async remove(): Promise<void> {
    if (this.server?.process.exitCode === null) await this.server.stop()
    await this.installation.remove()
  }
}

/** Clients that behave like agents: each entry has its own key and is sent again until it is acknowledged. */
export class Reporters {
  readonly acknowledged = new Set<string>()
  readonly latenciesMs: number[] = []
  /** Number of responses by status; `0` for no response. */
  readonly statuses = new Map<number, number>()
  /** Number of refusals by what they say, such as `503 database_busy`. */
  readonly refusals = new Map<string, number>()
  longestRefusalMs = 0
  #acknowledgedAt: number | undefined
  /** Whether to start no new calls. */
  isPaused = false
  /** Time between two calls of a client. At 0, the clients use all of the machine's processors. */
  pauseMs = 0
  #isReporting = true
  #isGivenUp = false
  readonly #running: Promise<unknown>

  constructor(
    readonly victim: Pick<Victim, 'server' | 'token'>,
    readonly name: string,
    clients = CLIENTS,
    readonly bodyOf: (key: string) => Record<string, unknown> = reportOf,
  ) {
    this.#running = Promise.all(Array.from({ length: clients }, (_, client) => this.#report(client)))
  }

  /** Waits until this many more are acknowledged, or a time has passed. */
  async untilMore(entries: number, patienceMs = 30_000): Promise<void> {
    const target = this.acknowledged.size + entries
    const deadline = performance.now() + patienceMs
    while (this.acknowledged.size < target && performance.now() < deadline) await Bun.sleep(5)
  }

  /**
   * Stops the clients. Calls in progress are completed, so that the outcome of every key is known, or aborted with
   * `giveUp` if no server will respond any more.
   */
  async stop({ giveUp = false } = {}): Promise<void> {
    this.#isReporting = false
    this.#isGivenUp = giveUp
    await this.#running
  }

  async #report(client: number): Promise<void> {
    for (let number = 0; this.#isReporting; number += 1) {
      const key = `${this.name}-${client}-${number}`
      while (this.isPaused && this.#isReporting) {
        this.#acknowledgedAt = undefined
        await Bun.sleep(RETRY_MS)
      }
      while (!(await this.#send(key))) {
        if (this.#isGivenUp) return
        await Bun.sleep(RETRY_MS)
      }
      this.acknowledged.add(key)
      this.#noteAcknowledged()
      if (this.pauseMs > 0) await Bun.sleep(this.pauseMs)
    }
  }

  #noteAcknowledged(): void {
    const now = performance.now()
    this.longestRefusalMs = Math.max(this.longestRefusalMs, now - (this.#acknowledgedAt ?? now))
    this.#acknowledgedAt = now
  }

  #noteRefusal(refusal: string): void {
    this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1)
  }

  async #send(key: string): Promise<boolean> {
    const startedAt = performance.now()
    let status = 0
    try {
      const response = await fetch(`${this.victim.server.url}/api/v1/token-entries`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.victim.token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(this.bodyOf(key)),
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      })
      const answer = await response.text()
      status = response.status
      if (!response.ok) this.#noteRefusal(`${status} ${JSON.parse(answer).code}`)
    } catch (error) {
      // The server died, or has not started yet.
      this.#noteRefusal((error as Error).name === 'TimeoutError' ? TIMED_OUT : DISCONNECTED)
    }
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    if (status !== 200 && status !== 201) return false
    this.latenciesMs.push(performance.now() - startedAt)
    return true
  }
}

/** The refusals in words. Throws if one of them is none that agents expect: 503, or a connection of a killed server. */
export function refusalsOf({ refusals }: Reporters, { mayLoseConnections = false } = {}): string {
  const isExpected = (refusal: string) => refusal.startsWith('503 ') || (refusal === DISCONNECTED && mayLoseConnections)
  const listed = [...refusals].map(([refusal, times]) => `${times.toLocaleString('en')} × ${refusal}`)
  if (![...refusals.keys()].every(isExpected)) throw new Error(`Reports were refused: ${listed.join(', ')}`)
  return listed.length === 0 ? 'none refused' : `refused: ${listed.join(', ')}`
}

/** Checks the database of a stopped or running server. Throws if the file itself is damaged. */
export function checkDatabase(file: string, acknowledged: ReadonlySet<string>): Pick<Outcome, 'lost' | 'duplicated'> {
  const connection = new Connection(file, { readonly: true })
  try {
    const [check] = connection.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
    if (check!.integrity_check !== 'ok') throw new Error(`The database is damaged: ${check!.integrity_check}`)
    const rows = connection
      .query<{ summary: string; times: number }, []>(
        'SELECT summary, count(*) AS times FROM entries WHERE summary IS NOT NULL GROUP BY summary',
      )
      .all()
    const there = new Set(rows.map(({ summary }) => summary))
    return { lost: acknowledged.difference(there).size, duplicated: rows.filter(({ times }) => times > 1).length }
  } finally {
    connection.close()
  }
}

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
