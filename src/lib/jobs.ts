/**
 * What a server does by itself: each job in turns, one after the other, from time to time and when it is woken. Several
 * servers run the same jobs at once, so what must happen once is claimed in the database, by the row that owes it.
 */
import type { Clock } from './clock.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Every pause is longer by up to this share, so that servers that were started together do not stay in step. */
const JITTER_SHARE = 0.1

/** A running turn may finish when the server stops; what a longer one has not done is done after the next start. */
const STOP_MS = 5_000

/** How long a job may be overdue, or a turn take, before somebody should look at it. */
const LATE_MS = 10 * MINUTE_MS

export interface Turn {
  /** Aborted when the server stops: a long turn ends where it can be continued. */
  signal: AbortSignal
  /** Logs what was done. */
  log(line: object, message: string): void
  /** Logs and counts the failure of a part that is retried on a schedule of its own; the turn goes on. */
  failed(error: unknown): void
  /** Sets the pause until the next turn, if it is not the usual one. */
  pause(ms: number): void
  /** Waits for this work before the job is stopped. Further turns do not wait for it, and its failure is that of a part. */
  background(work: Promise<unknown>): void
}

export interface JobOptions {
  /** As metrics name it: `bill-delivery`. */
  name: string
  /** What a failed turn could not do, as the log says it: `deliver a bill`. */
  task: string
  /** The pause between turns; without, it runs only when it is woken. */
  everyMs?: number
  run(turn: Turn): Promise<unknown>
  /** Whether the turns save what requests leave in memory: then there is one more after the last request. */
  savesRequests?: boolean
  /** Whether somebody should look at each failure. */
  isUrgent?: boolean
}

export interface JobStatus {
  name: string
  /** When the last successful turn ended; null if there was none since the start. */
  succeededAt: number | null
  /** The duration of the last turn; null before its end. */
  tookMs: number | null
  /** Of turns and of parts of them, since the start. */
  failures: number
  /** Turns that failed since the last successful one. */
  failedInRow: number
  isRunning: boolean
  /** Whether no turn has succeeded although one should have, or one takes too long. */
  isLate: boolean
}

/** What jobs report to, and by what they measure. */
export interface JobSurroundings {
  clock: Clock
  log: Turn['log']
  failed(job: JobOptions, error: unknown): void
}

/**
 * The pause after so many failed turns in a row. It doubles: from the usual one, but at most a minute, up to the usual
 * one, but at least a minute and at most an hour.
 */
export function pauseAfterFailures(failedInRow: number, everyMs = 0): number {
  const first = Math.min(Math.max(everyMs, 1_000), MINUTE_MS)
  const longest = Math.min(Math.max(everyMs, MINUTE_MS), HOUR_MS)
  return Math.min(first * 2 ** (failedInRow - 1), longest)
}

export class Job {
  readonly options: JobOptions
  #stopping = new AbortController()
  readonly #background = new Set<Promise<unknown>>()
  #surroundings: JobSurroundings | undefined
  #timer: { at: number; timeout: Timer } | undefined
  #turn: Promise<void> | undefined
  #isWoken = false
  #startedAt = Number.POSITIVE_INFINITY
  #turnStartedAt = 0
  #succeededAt: number | null = null
  #tookMs: number | null = null
  #failures = 0
  #failedInRow = 0

  constructor(options: JobOptions) {
    this.options = options
  }

  /** Lets it run from now on, also after it was stopped. */
  start(surroundings: JobSurroundings): void {
    this.#surroundings = surroundings
    this.#stopping = new AbortController()
    this.#startedAt = surroundings.clock.now()
    if (this.options.everyMs !== undefined) this.#begin()
  }

  /** Lets the next turn begin by then, whenever it would have begun. Does nothing where the job is not started. */
  wake(inMs = 0): void {
    if (!this.#surroundings || this.#stopping.signal.aborted) return
    const at = performance.now() + inMs
    if (this.#timer && this.#timer.at <= at) return
    clearTimeout(this.#timer?.timeout)
    this.#timer = { at, timeout: setTimeout(() => this.#begin(), inMs) }
  }

  /** Begins no further turn, and waits for what runs, but not for long. Returns whether all of it has ended. */
  async stop(): Promise<boolean> {
    this.#stopping.abort()
    clearTimeout(this.#timer?.timeout)
    const ended = Promise.all([this.#turn, ...this.#background]).then(() => true)
    return Promise.race([ended, Bun.sleep(STOP_MS).then(() => false)])
  }

  /** The last turn, of a job that is stopped. */
  async finish(): Promise<void> {
    if (this.options.savesRequests && !this.#turn) await this.#perform()
  }

  status(now: number): JobStatus {
    const { name, everyMs } = this.options
    const isRunning = this.#turn !== undefined
    const waitingSince = this.#succeededAt ?? this.#startedAt
    return {
      name,
      succeededAt: this.#succeededAt,
      tookMs: this.#tookMs,
      failures: this.#failures,
      failedInRow: this.#failedInRow,
      isRunning,
      isLate:
        everyMs === undefined
          ? isRunning && now - this.#turnStartedAt > LATE_MS
          : now - waitingSince > 2 * everyMs + LATE_MS,
    }
  }

  #begin(): void {
    this.#timer = undefined
    if (this.#turn) {
      // The turn may have looked already.
      this.#isWoken = true
      return
    }
    this.#turn = this.#perform().then((pauseMs) => {
      this.#turn = undefined
      if (this.#isWoken) this.wake()
      else if (pauseMs !== undefined) this.wake(pauseMs * (1 + Math.random() * JITTER_SHARE))
      this.#isWoken = false
    })
  }

  /** Returns the pause until the next turn; undefined if that is only when it is woken. */
  async #perform(): Promise<number | undefined> {
    const { clock, log } = this.#surroundings!
    const { everyMs } = this.options
    this.#turnStartedAt = clock.now()
    const startedAt = performance.now()
    let pauseMs = everyMs
    try {
      await this.options.run({
        signal: this.#stopping.signal,
        log,
        failed: this.#fail,
        pause: (ms) => {
          pauseMs = ms
        },
        background: (work) => this.#follow(work),
      })
      this.#failedInRow = 0
      this.#succeededAt = clock.now()
      return pauseMs
    } catch (error) {
      this.#failedInRow += 1
      this.#fail(error)
      return pauseAfterFailures(this.#failedInRow, everyMs)
    } finally {
      this.#tookMs = performance.now() - startedAt
    }
  }

  #fail = (error: unknown): void => {
    // A turn that is ended by the stop has not failed.
    if (this.#stopping.signal.aborted && !this.options.savesRequests) return
    this.#failures += 1
    this.#surroundings!.failed(this.options, error)
  }

  #follow(work: Promise<unknown>): void {
    const ended = work.catch(this.#fail).finally(() => this.#background.delete(ended))
    this.#background.add(ended)
  }
}

export function createJobs(jobs: readonly Job[], surroundings: JobSurroundings) {
  return {
    start(): void {
      for (const job of jobs) job.start(surroundings)
    },

    status: (): JobStatus[] => jobs.map((job) => job.status(surroundings.clock.now())),

    /**
     * Stops all of them, and lets those that save what requests leave run once more after the last of these. Returns the
     * names of those that did not end in time.
     */
    async stop(requests: Promise<unknown> = Promise.resolve()): Promise<string[]> {
      const [ended] = await Promise.all([Promise.all(jobs.map((job) => job.stop())), requests])
      await Promise.all(jobs.map((job) => job.finish()))
      return jobs.filter((_, index) => !ended[index]).map(({ options }) => options.name)
    },
  }
}
