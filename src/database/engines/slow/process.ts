/**
 * The process that runs slow reads for a server, on connections of its own: see pool.ts. It is a process and not a thread
 * because nothing but a signal can stop a query of bun:sqlite, or any other code that does not return.
 */
import { serialize } from 'bun:jsc'
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { Problem } from '../../../errors.ts'
import type { ReadSource } from '../../caller.ts'
import type { SlowStream, SlowTask } from '../../database.ts'
import type { FromSlowProcess, SentError, ToSlowProcess } from './messages.ts'
import type { SlowDatabase, SlowSource } from './source.ts'

/** Lower priority than the server if cores are few; no effect if one is free. */
const NICENESS = 10

/** If memory runs out, the system ends this process and not the server: a query is lost, and no report. */
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
  let reads: Promise<SlowReads> | undefined
  process.on('message', (message: ToSlowProcess) => {
    if ('open' in message) reads = databaseAt(message.open).then((database) => new SlowReads(database, work))
    else void reads!.then((reading) => reading.answer(message))
  })
  post('ready')
  return true
}

/** Loads the engine that is used, and no other. */
async function databaseAt(source: SlowSource): Promise<SlowDatabase> {
  if ('file' in source) return (await import('../sqlite/slow-database.ts')).slowSqlite(source.file)
  return (await import('../postgres/slow-database.ts')).slowPostgres(source)
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
  readonly #streams = new Map<number, RunningStream>()
  #uncollectedBytes = 0
  #collection: Timer | undefined

  constructor(
    readonly database: SlowDatabase,
    readonly work: SlowWork,
  ) {}

  async answer(query: Exclude<ToSlowProcess, { open: SlowSource }>): Promise<void> {
    const { id } = query
    try {
      if ('sql' in query) post({ id, result: serialized(this.database.values(query.sql, query.params)) })
      else if ('task' in query) await this.#run(query)
      else if ('stream' in query) this.#begin(query)
      else if ('stop' in query) this.#end(id)
      else await this.#next(id)
    } catch (error) {
      this.#end(id)
      post({ id, error: sentError(error) })
    }
  }

  async #run({ id, task, args, onReplica }: Extract<ToSlowProcess, { task: string }>): Promise<void> {
    const { run } = named(this.work.tasks, task)
    let from: ReadSource | undefined
    const note = (source: ReadSource) => {
      from = source
    }
    const result = await this.database.inOneState((reader) => run(reader, args), { onReplica, note })
    post({ id, result: serialized(result), from })
  }

  #begin({ id, stream, args, onReplica }: Extract<ToSlowProcess, { stream: string }>): void {
    const { run } = named(this.work.streams, stream)
    const { reader, close } = this.database.openReader({ onReplica, note: () => {} })
    this.#streams.set(id, { pieces: run(reader, args), close })
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
  const { message, code, syscall } = bareError(error) as { message: string; code?: string; syscall?: string }
  return { message, ...(typeof code === 'string' && { code }), ...(syscall && { syscall }) }
}

/** drizzle wraps the driver's error. */
function bareError(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}
