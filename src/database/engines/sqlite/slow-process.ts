/**
 * The process that runs slow reads for a server, on read-only connections: see slow-reads.ts. It is a process and not a
 * thread because nothing but a signal can stop a query of bun:sqlite, or any other code that does not return.
 */
import { serialize } from 'bun:jsc'
import type { SQLQueryBindings } from 'bun:sqlite'
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { Problem, type ProblemCode } from '../../../errors.ts'
import type { SlowStream, SlowTask } from '../../database.ts'
import { inOneState, openReadOnly, type ReadOnlyConnection } from './connections.ts'

export type ToSlowProcess =
  /** The database file, in the first message. */
  | { open: string }
  | { id: number; sql: string; params: unknown[] }
  | { id: number; task: string; args: unknown }
  | { id: number; stream: string; args: unknown }
  /** Requests the next piece of a stream. */
  | { id: number; next: true }
  | { id: number; stop: true }

export type SentError = { message: string; code?: string; problem?: { code: ProblemCode; detail: string } }

export type FromSlowProcess =
  | 'ready'
  /** A result, serialized here: Bun's own messages take six times as long for an array of fifty thousand rows. */
  | { id: number; result: Uint8Array }
  /** A piece of a stream. */
  | { id: number; piece: Uint8Array }
  | { id: number; end: true }
  | { id: number; error: SentError }

/** Lower priority than the server if cores are few; no effect if one is free. */
const NICENESS = 10

/** If memory runs out, the system ends this process and not the server: a question is lost, and no report. */
const OOM_SCORE = '500'

/** Bytes of pieces between two collections of garbage: seldom enough to take a few percent of the time. */
const COLLECTED_BYTES = 67_108_864

/** After the end of a stream, garbage is collected with that of others that end meanwhile. */
const COLLECT_AFTER_MS = 1_000

/** What a process can run besides single queries. */
export interface SlowWork {
  // biome-ignore lint/suspicious/noExplicitAny: each has arguments of its own.
  tasks: readonly SlowTask<any, unknown>[]
  // biome-ignore lint/suspicious/noExplicitAny: each has arguments of its own.
  streams: readonly SlowStream<any>[]
}

/** Serves the process that started this one, until that ends. Returns false if it was started by hand. */
export function serveSlowReads(work: SlowWork): boolean {
  if (!process.send) return false
  // A terminal and systemd signal all processes of a service at once; the server still has requests to finish.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
  if (process.platform === 'linux') setPriority(0, NICENESS)
  preferAsVictim()
  let reads: SlowReads | undefined
  process.on('message', (message: ToSlowProcess) => {
    if ('open' in message) reads = new SlowReads(message.open, work)
    else void reads!.answer(message)
  })
  post('ready')
  return true
}

function post(message: FromSlowProcess): void {
  process.send!(message)
}

const serialized = (result: unknown): Uint8Array => serialize(result, { binaryType: 'nodebuffer' })

function preferAsVictim(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', OOM_SCORE)
  } catch {
    // Not on Linux.
  }
}

class SlowReads {
  #opened: ReadOnlyConnection | undefined
  readonly #streams = new Map<number, RunningStream>()
  #uncollectedBytes = 0
  #collection: Timer | undefined

  constructor(
    readonly path: string,
    readonly work: SlowWork,
  ) {}

  /** Opened with the first question, which fails if the file cannot be read. */
  get #database(): ReadOnlyConnection {
    this.#opened ??= openReadOnly(this.path)
    return this.#opened
  }

  async answer(question: Exclude<ToSlowProcess, { open: string }>): Promise<void> {
    const { id } = question
    try {
      if ('sql' in question) post({ id, result: serialized(this.#rowsOf(question)) })
      else if ('task' in question) post({ id, result: serialized(await this.#run(question)) })
      else if ('stream' in question) this.#begin(id, named(this.work.streams, question.stream), question.args)
      else if ('stop' in question) this.#end(id)
      else await this.#next(id)
    } catch (error) {
      this.#end(id)
      post({ id, error: sentError(error) })
    }
  }

  #rowsOf({ sql, params }: { sql: string; params: unknown[] }): unknown[][] {
    const rows = this.#database.connection.query(sql).values(...(params as SQLQueryBindings[])) as unknown[][]
    for (const row of rows) for (let at = 0; at < row.length; at += 1) row[at] = asPlain(row[at])
    return rows
  }

  #run(question: { task: string; args: unknown }): Promise<unknown> {
    const task = named(this.work.tasks, question.task)
    return inOneState(this.#database, (reader) => task.run(reader, question.args))
  }

  #begin(id: number, stream: SlowStream<unknown>, args: unknown): void {
    const { reader, close } = openReadOnly(this.path)
    this.#streams.set(id, { pieces: stream.run(reader, args), close })
  }

  async #next(id: number): Promise<void> {
    const running = this.#streams.get(id)
    // It may have been stopped while its next piece was requested.
    if (!running) return
    const { done, value } = await running.pieces.next()
    if (!done) {
      post({ id, piece: value })
      this.#collect(value.byteLength)
      return
    }
    this.#end(id)
    post({ id, end: true })
  }

  /** Releases the memory of pieces and of the rows that they were made from, which would otherwise take hundreds of MB. */
  #collect(bytes: number): void {
    this.#uncollectedBytes += bytes
    if (this.#uncollectedBytes < COLLECTED_BYTES) return
    this.#uncollectedBytes = 0
    Bun.gc(true)
  }

  #end(id: number): void {
    const running = this.#streams.get(id)
    if (!running) return
    this.#streams.delete(id)
    running.close()
    this.#collection ??= setTimeout(() => {
      this.#collection = undefined
      // The connection keeps its memory until its statements are garbage-collected.
      Bun.gc(true)
    }, COLLECT_AFTER_MS)
  }
}

interface RunningStream {
  pieces: AsyncGenerator<Uint8Array>
  close(): void
}

function named<Work extends { name: string }>(all: readonly Work[], name: string): Work {
  const found = all.find((each) => each.name === name)
  if (!found) throw new Error(`${name} is not registered in slow-tasks.ts`)
  return found
}

/** A serialized error would lose its code, which errors.ts needs. */
function sentError(error: unknown): SentError {
  if (error instanceof Problem) return { message: error.message, problem: { code: error.code, detail: error.detail } }
  const { message, code } = bareError(error) as { message: string; code?: string }
  return { message, ...(typeof code === 'string' && { code }) }
}

/** drizzle wraps the driver's error. */
function bareError(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}

/** Converts bigints to numbers if that is exact: the main thread takes twice as long to deserialize bigints. */
function asPlain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
