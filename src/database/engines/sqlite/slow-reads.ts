/**
 * Slow reads on SQLite: the same stores, but each query or task runs in a process of its own with a read-only connection,
 * so that a report over ten million entries does not block the server. A process is killed when its time is over or its
 * caller is gone: nothing else stops a query of bun:sqlite, and one that nobody waits for would take others' turns.
 */
import { drizzle } from 'drizzle-orm/sqlite-proxy'
import { currentCaller, type DatabaseCaller } from '../../caller.ts'
import type { Compiled, Reader, SlowTask } from '../../database.ts'
import { abandoned, databaseClosed, overloaded, tookTooLong } from '../../errors.ts'
import { sqliteTables } from '../../schema/tables.ts'
import { CallerQueue } from '../caller-queue.ts'
import { binderOf, parametersOf } from '../conversions.ts'
import { asProblems, Queries, runThrough } from '../queries.ts'
import { receivedError, resultOf, SlowLink } from './slow-link.ts'
import type { FromSlowProcess, ToSlowProcess } from './slow-process.ts'

/** Questions at a time. With a second lane a short one can pass a long one; a third would find no core. */
const LANES = 2

/** One more, for a caller who has nothing running while another has both lanes. */
const LANES_WITH_SPARE = 3

/**
 * How long a question waits for the first lane before the second one starts: most are done by then, and a process costs
 * memory.
 */
const SECOND_LANE_AFTER_MS = 50

/** Idle time after which a further process ends and releases its memory. */
const FURTHER_IDLE_MS = 10_000

/** The same of the last one: people who look at reports ask again within a minute, and need not wait for its start. */
const LAST_IDLE_MS = 60_000

/** How long a question may wait besides the deadline of the one before it: for the start of a process. */
const START_WAIT_MS = 2_000

/** A process starts in a tenth of a second, or in seconds on a machine with too much to do. */
const START_LIMIT_MS = 15_000

/**
 * What an abandoned question may still take. Browsers abandon many that are nearly done, and the start of a process costs
 * more than their end.
 */
const GRACE_MS = 50

/** Maximum number of waiting questions. One person's open dashboards send fewer. */
const QUEUE_LIMIT = 200

type Unnumbered<Message> = Message extends { id: number } ? Omit<Message, 'id'> : never

interface Question {
  asked: Unnumbered<Extract<ToSlowProcess, { sql: string } | { task: string }>>
  deadlineMs: number
  caller: DatabaseCaller | undefined
  /** Whether a process already ended with it. */
  isRepeated: boolean
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  /** Refuses it if it has waited too long. */
  timer: Timer | undefined
}

/** A process and its current question. */
interface Lane {
  link: SlowLink
  isReady: boolean
  question: Question | undefined
  /** Ends the process: at the deadline of its start or its question, or when it has been idle. */
  timer: Timer | undefined
}

export interface SlowReadsOptions {
  path: string
  deadlineMs: number
  /** Called with SQLite's error if a question fails. */
  onError(error: unknown): void
  /** The command that starts the processes; by default, this program. */
  program?: readonly string[] | undefined
}

class SlowLanes {
  readonly #queue = new CallerQueue<Question>()
  readonly #lanes = new Set<Lane>()
  #secondLane: Timer | undefined
  #isHeld = false
  #whenNoneRuns = () => {}
  #closed = false
  #lastId = 0

  constructor(readonly options: SlowReadsOptions) {}

  /** The deadline applies to the question itself, from when it begins; it may wait for its turn as long again. */
  ask(asked: Question['asked'], deadlineMs = this.options.deadlineMs): Promise<unknown> {
    const caller = currentCaller()
    if (this.#closed) return Promise.reject(databaseClosed())
    if (caller?.signal.aborted) return Promise.reject(abandoned())
    if (this.#queue.length >= QUEUE_LIMIT) {
      const displaced = this.#queue.displaceFor(caller)
      if (!displaced) return Promise.reject(overloaded())
      this.#refuse(displaced, overloaded())
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const question: Question = { asked, deadlineMs, caller, isRepeated: false, resolve, reject, timer: undefined }
    this.#wait(question)
    const abandon = () => this.#abandon(question)
    caller?.signal.addEventListener('abort', abandon)
    return promise.finally(() => caller?.signal.removeEventListener('abort', abandon))
  }

  /** Starts no question before `release`. Resolves when none is running, or with false when the time is over. */
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
    clearTimeout(this.#secondLane)
    for (const question of this.#queue.takeAll()) this.#refuse(question, databaseClosed())
    for (const lane of this.#lanes) {
      lane.question?.reject(databaseClosed())
      this.#end(lane)
    }
    this.#whenNoneRuns()
  }

  #wait(question: Question): void {
    if (question.isRepeated) this.#queue.addFirst(question)
    else this.#queue.add(question)
    question.timer = setTimeout(() => {
      if (this.#queue.remove(question)) question.reject(overloaded())
    }, this.options.deadlineMs + START_WAIT_MS)
    this.#next()
  }

  #running(): Question[] {
    return [...this.#lanes].flatMap(({ question }) => question ?? [])
  }

  #next(): void {
    if (this.#isHeld) {
      this.#whenNoneRuns()
      return
    }
    for (const lane of this.#lanes) if (lane.isReady && !lane.question) this.#run(lane)
    if (this.#queue.length === 0 || this.#closed) return
    if (this.#lanes.size === 0) this.#open()
    else if (this.#mayOpenFurther()) {
      this.#secondLane ??= setTimeout(() => this.#openFurther(), SECOND_LANE_AFTER_MS)
    }
  }

  #openFurther(): void {
    this.#secondLane = undefined
    if (!this.#isHeld && this.#queue.length > 0 && this.#mayOpenFurther()) this.#open()
  }

  /** Only one process starts at a time: the question that waits for it seldom needs another. */
  #mayOpenFurther(): boolean {
    if ([...this.#lanes].some(({ isReady }) => !isReady)) return false
    return this.#lanes.size < LANES || (this.#lanes.size < LANES_WITH_SPARE && this.#queue.hasOther(this.#running()))
  }

  #open(): void {
    const link = new SlowLink(
      this.options.path,
      {
        onReady: () => this.#start(lane),
        onMessage: (message) => this.#answer(lane, message),
        onLost: (reason) => this.#lose(lane, new Error(reason)),
      },
      this.options.program,
    )
    const lane: Lane = { link, isReady: false, question: undefined, timer: undefined }
    lane.timer = setTimeout(() => this.#giveUpStart(lane), START_LIMIT_MS)
    this.#lanes.add(lane)
  }

  #start(lane: Lane): void {
    clearTimeout(lane.timer)
    lane.isReady = true
    this.#next()
    if (!lane.question) this.#rest(lane)
  }

  /** Gives a free lane the next question. The last lane is for callers who have no other. */
  #run(lane: Lane): void {
    const running = this.#running()
    const question = this.#queue.take(running, running.length < LANES ? undefined : 0)
    if (!question) return
    clearTimeout(question.timer)
    clearTimeout(lane.timer)
    lane.question = question
    lane.timer = setTimeout(() => this.#stop(lane, tookTooLong()), question.deadlineMs)
    this.#lastId += 1
    lane.link.send({ id: this.#lastId, ...question.asked })
  }

  #answer(lane: Lane, message: Exclude<FromSlowProcess, 'ready'>): void {
    const { question } = lane
    if (!question) return
    clearTimeout(lane.timer)
    lane.question = undefined
    if ('result' in message) question.resolve(resultOf(message))
    else if ('error' in message) {
      const error = receivedError(message.error)
      this.options.onError(error)
      question.reject(error)
    }
    this.#next()
    if (!lane.question) this.#rest(lane)
  }

  #rest(lane: Lane): void {
    clearTimeout(lane.timer)
    const isLast = this.#lanes.size === 1
    lane.timer = setTimeout(() => this.#endIdle(lane, isLast), isLast ? LAST_IDLE_MS : FURTHER_IDLE_MS)
    // A timer must not keep a process alive that has nothing else to do.
    lane.timer.unref()
  }

  /** One process stays for longer, whichever it is. */
  #endIdle(lane: Lane, wasLast: boolean): void {
    if (this.#lanes.size === 1 && !wasLast) this.#rest(lane)
    else this.#end(lane)
  }

  #abandon(question: Question): void {
    if (this.#queue.remove(question)) {
      this.#refuse(question, abandoned())
      return
    }
    setTimeout(() => {
      const lane = [...this.#lanes].find((each) => each.question === question)
      if (lane) this.#stop(lane, abandoned())
    }, GRACE_MS)
  }

  /** Ends the process together with its question. */
  #stop(lane: Lane, reason: unknown): void {
    lane.question?.reject(reason)
    this.#end(lane)
    // The next question need not wait for the start of another one.
    if (this.#lanes.size === 0 && !this.#closed) this.#open()
    this.#next()
  }

  /** Somebody else killed the process, or memory ran out: its question is repeated once. */
  #lose(lane: Lane, reason: Error): void {
    const { question, isReady } = lane
    this.#end(lane)
    if (question?.isRepeated) question.reject(reason)
    else if (question) {
      question.isRepeated = true
      this.#wait(question)
    } else if (!isReady) this.#failStart(reason)
    this.#next()
  }

  #giveUpStart(lane: Lane): void {
    this.#end(lane)
    this.#failStart(new Error('The process for slow reads did not start in time.'))
  }

  /** Refuses what waits instead of starting one process after the other. */
  #failStart(reason: Error): void {
    if (this.#lanes.size > 0) return
    for (const question of this.#queue.takeAll()) this.#refuse(question, reason)
  }

  #end(lane: Lane): void {
    clearTimeout(lane.timer)
    this.#lanes.delete(lane)
    lane.link.end()
  }

  #refuse(question: Question, reason: unknown): void {
    clearTimeout(question.timer)
    question.reject(reason)
  }
}

export interface SlowReads extends Pick<SlowLanes, 'hold' | 'release' | 'close'> {
  reader: Reader
  run<Args, Result>(task: SlowTask<Args, Result>, args: Args): Promise<Result>
}

export function openSlowReads(options: SlowReadsOptions): SlowReads {
  const lanes = new SlowLanes(options)
  const rowsOf = (sql: string, params: unknown[]) => lanes.ask({ sql, params }) as Promise<unknown[][]>
  const orm = drizzle(async (sql, params, method) => {
    const rows = await rowsOf(sql, params)
    return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
  })
  runThrough(orm, asProblems)
  const reader = Object.assign(new Queries(orm, sqliteTables), {
    raw(query: Compiled) {
      const { sql, params } = query.toSQL()
      const bind = binderOf(parametersOf(params))
      const names = Object.keys((query as unknown as { _: { selectedFields: object } })._.selectedFields)
      const rowOf = (cells: unknown[]) => Object.fromEntries(names.map((name, at) => [name, cells[at]]))
      return {
        execute: async (values: Record<string, unknown> = {}) => (await rowsOf(sql, bind(values))).map(rowOf),
      }
    },
    revision: async () => Number((await rowsOf('SELECT value FROM revision', []))[0]![0]),
  })
  return {
    reader: reader as unknown as Reader,
    run: <Args, Result>({ name, deadlineMs }: SlowTask<Args, Result>, args: Args) =>
      asProblems(() => lanes.ask({ task: name, args }, deadlineMs) as Promise<Result>),
    hold: (forMs) => lanes.hold(forMs),
    release: () => lanes.release(),
    close: () => lanes.close(),
  }
}
