/**
 * Slow reads of a server: each query or task runs in a process of its own, so that a report over ten million entries does
 * not block the server. A process is killed when its time is over or its caller is gone: nothing else stops a query of
 * bun:sqlite, or code that does not return, and one that nobody waits for would take others' turns.
 */
import { currentCaller, type DatabaseCaller, noteSource } from '../../caller.ts'
import type { SlowTask } from '../../database.ts'
import { abandoned, databaseClosed, overloaded, tookTooLong } from '../../errors.ts'
import { CallerQueue } from '../caller-queue.ts'
import { asProblems } from '../queries.ts'
import { receivedError, resultOf, SlowLink, type SlowLinkOptions } from './link.ts'
import type { FromSlowProcess, ToSlowProcess } from './messages.ts'

/** With a second process a short query can pass a long one; a third would find no core. */
const PROCESSES = 2

/** One more, for a caller who has nothing running while another has both processes. */
const PROCESSES_WITH_SPARE = 3

/**
 * How long a query waits for the first process before the second one starts: most are done by then, and a process costs
 * memory.
 */
const SECOND_AFTER_MS = 50

/** Idle time after which a further process ends and releases its memory. */
const FURTHER_IDLE_MS = 10_000

/** The same of the last one: people who look at reports ask again within a minute, and need not wait for its start. */
const LAST_IDLE_MS = 60_000

/** How long a query may wait besides the deadline of the one before it: for the start of a process. */
const START_WAIT_MS = 2_000

/**
 * What an abandoned query may still take. Browsers abandon many that are nearly done, and the start of a process costs
 * more than their end.
 */
const GRACE_MS = 20

/**
 * How many times as long as its deadline a query may take while others keep the processor from it. With its waiting, it is
 * answered before the server gives up a connection on which nothing is sent (`IDLE_TIMEOUT_SECONDS`).
 */
const PATIENCE = 2

/** Less than this is not waited for. */
const ALMOST_MS = 20

/** Maximum number of waiting queries. One person's open dashboards send fewer. */
const QUEUE_LIMIT = 200

type Unnumbered<Message> = Message extends { id: number } ? Omit<Message, 'id'> : never

/** A single query, or a task. */
interface Query {
  request: Unnumbered<Extract<ToSlowProcess, { sql: string } | { task: string }>>
  deadlineMs: number
  caller: DatabaseCaller | undefined
  /** Whether a process already ended with it. */
  isRepeated: boolean
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  /** Refuses it if it has waited too long. */
  timer: Timer | undefined
}

/** A process and its current query. */
interface Host {
  link: SlowLink
  isReady: boolean
  query: Query | undefined
  /** Ends the process: at the deadline of its query, or when it has been idle. */
  timer: Timer | undefined
}

export interface SlowPoolOptions extends SlowLinkOptions {
  deadlineMs: number
  /** What an abandoned query may still take. */
  graceMs?: number | undefined
  /** Called with the driver's error if a query fails. */
  onError(error: unknown): void
}

export class SlowPool {
  readonly #queue = new CallerQueue<Query>()
  readonly #hosts = new Set<Host>()
  #second: Timer | undefined
  #isHeld = false
  #whenNoneRuns = () => {}
  #closed = false
  #lastId = 0

  constructor(readonly options: SlowPoolOptions) {}

  run<Args, Result>({ name, deadlineMs }: SlowTask<Args, Result>, args: Args): Promise<Result> {
    return asProblems(
      () => this.ask({ task: name, args, onReplica: currentCaller() !== undefined }, deadlineMs) as Promise<Result>,
    )
  }

  /**
   * The deadline applies to the query itself, from when it begins; it may wait for its turn as long again. On a busy machine,
   * the time in which others had the processor does not count, so that it may take twice as long.
   */
  ask(request: Query['request'], deadlineMs = this.options.deadlineMs): Promise<unknown> {
    const caller = currentCaller()
    if (this.#closed) return Promise.reject(databaseClosed())
    if (caller?.signal.aborted) return Promise.reject(abandoned())
    if (this.#queue.length >= QUEUE_LIMIT) {
      const displaced = this.#queue.displaceFor(caller)
      if (!displaced) return Promise.reject(overloaded())
      this.#refuse(displaced, overloaded())
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const query: Query = { request, deadlineMs, caller, isRepeated: false, resolve, reject, timer: undefined }
    this.#wait(query)
    const abandon = () => this.#abandon(query)
    caller?.signal.addEventListener('abort', abandon)
    return promise.finally(() => caller?.signal.removeEventListener('abort', abandon))
  }

  /** Starts no query before `release`. Resolves when none is running, or with false when the time is over. */
  hold(forMs: number): Promise<boolean> {
    this.#isHeld = true
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, forMs, false)
      this.#whenNoneRuns = () => {
        if (this.#running().length > 0) return
        clearTimeout(timer)
        resolve(true)
      }
      this.#whenNoneRuns()
    })
  }

  release(): void {
    this.#isHeld = false
    this.#next()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#second)
    for (const query of this.#queue.takeAll()) this.#refuse(query, databaseClosed())
    for (const host of this.#hosts) {
      host.query?.reject(databaseClosed())
      this.#end(host)
    }
    this.#whenNoneRuns()
  }

  #wait(query: Query): void {
    if (query.isRepeated) this.#queue.addFirst(query)
    else this.#queue.add(query)
    query.timer = setTimeout(
      () => {
        if (this.#queue.remove(query)) query.reject(overloaded())
      },
      this.options.deadlineMs + (this.options.startMs ?? START_WAIT_MS),
    )
    this.#next()
  }

  #running(): Query[] {
    return [...this.#hosts].flatMap(({ query }) => query ?? [])
  }

  #next(): void {
    if (this.#isHeld) {
      this.#whenNoneRuns()
      return
    }
    for (const host of this.#hosts) if (host.isReady && !host.query) this.#run(host)
    if (this.#queue.length === 0 || this.#closed) return
    if (this.#hosts.size === 0) this.#open()
    else if (this.#mayOpenFurther()) {
      this.#second ??= setTimeout(() => this.#openFurther(), SECOND_AFTER_MS)
    }
  }

  #openFurther(): void {
    this.#second = undefined
    if (!this.#isHeld && this.#queue.length > 0 && this.#mayOpenFurther()) this.#open()
  }

  /** Only one process starts at a time: the query that waits for it seldom needs another. */
  #mayOpenFurther(): boolean {
    if ([...this.#hosts].some(({ isReady }) => !isReady)) return false
    return (
      this.#hosts.size < PROCESSES || (this.#hosts.size < PROCESSES_WITH_SPARE && this.#queue.hasOther(this.#running()))
    )
  }

  #open(): void {
    const link = new SlowLink(this.options, {
      onReady: () => this.#start(host),
      onMessage: (message) => this.#answer(host, message),
      onLost: (reason) => this.#lose(host, new Error(reason)),
    })
    const host: Host = { link, isReady: false, query: undefined, timer: undefined }
    this.#hosts.add(host)
  }

  #start(host: Host): void {
    host.isReady = true
    this.#next()
    if (!host.query) this.#rest(host)
  }

  /** Gives a free process the next query. The last process is for callers who have no other. */
  #run(host: Host): void {
    const running = this.#running()
    const query = this.#queue.take(running, running.length < PROCESSES ? undefined : 0)
    if (!query) return
    clearTimeout(query.timer)
    clearTimeout(host.timer)
    host.query = query
    this.#limit(host, query.deadlineMs)
    this.#lastId += 1
    host.link.send({ id: this.#lastId, ...query.request })
  }

  #limit(host: Host, deadlineMs: number): void {
    const startedAt = performance.now()
    const heldUpBefore = host.link.heldUpMs()
    const look = () => {
      const took = performance.now() - startedAt
      const heldUp = host.link.heldUpMs() - heldUpBefore
      const left = Math.min(deadlineMs + heldUp, deadlineMs * PATIENCE) - took
      if (left < ALMOST_MS) this.#stop(host, tookTooLong())
      else host.timer = setTimeout(look, left)
    }
    host.timer = setTimeout(look, deadlineMs)
  }

  #answer(host: Host, message: Exclude<FromSlowProcess, 'ready'>): void {
    const { query } = host
    if (!query) return
    clearTimeout(host.timer)
    host.query = undefined
    if ('result' in message) {
      if (message.from && query.caller) noteSource(query.caller, message.from)
      query.resolve(resultOf(message))
    } else if ('error' in message) {
      const error = receivedError(message.error)
      this.options.onError(error)
      query.reject(error)
    }
    this.#next()
    if (!host.query) this.#rest(host)
  }

  #rest(host: Host): void {
    clearTimeout(host.timer)
    const isLast = this.#hosts.size === 1
    host.timer = setTimeout(() => this.#endIdle(host, isLast), isLast ? LAST_IDLE_MS : FURTHER_IDLE_MS)
    // A timer must not keep a process alive that has nothing else to do.
    host.timer.unref()
  }

  /** One process stays for longer, whichever it is. */
  #endIdle(host: Host, wasLast: boolean): void {
    if (this.#hosts.size === 1 && !wasLast) this.#rest(host)
    else this.#end(host)
  }

  #abandon(query: Query): void {
    if (this.#queue.remove(query)) {
      this.#refuse(query, abandoned())
      return
    }
    setTimeout(() => {
      const host = [...this.#hosts].find((each) => each.query === query)
      if (host) this.#stop(host, abandoned())
    }, this.options.graceMs ?? GRACE_MS)
  }

  /** Ends the process together with its query. */
  #stop(host: Host, reason: unknown): void {
    host.query?.reject(reason)
    this.#end(host)
    // The next query need not wait for the start of another one.
    if (this.#hosts.size === 0 && !this.#closed) this.#open()
    this.#next()
  }

  /** Somebody else killed the process, or memory ran out: its query is repeated once. */
  #lose(host: Host, reason: Error): void {
    const { query, isReady } = host
    this.#end(host)
    if (query?.isRepeated) query.reject(reason)
    else if (query) {
      query.isRepeated = true
      this.#wait(query)
    } else if (!isReady) this.#failStart(reason)
    this.#next()
  }

  /** Refuses what waits instead of starting one process after the other. */
  #failStart(reason: Error): void {
    if (this.#hosts.size > 0) return
    for (const query of this.#queue.takeAll()) this.#refuse(query, reason)
  }

  #end(host: Host): void {
    clearTimeout(host.timer)
    this.#hosts.delete(host)
    host.link.end()
  }

  #refuse(query: Query, reason: unknown): void {
    clearTimeout(query.timer)
    query.reject(reason)
  }
}
