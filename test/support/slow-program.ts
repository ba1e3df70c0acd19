/** The process for slow reads, with a task and streams of tests. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Reader, SlowStream, SlowTask } from '../../src/database/database.ts'
import { serveSlowReads } from '../../src/database/engines/slow/process.ts'
import { Problem } from '../../src/errors.ts'

export const SLOW_PROGRAM = [process.execPath, import.meta.path]

/** Counts the names, waits, and counts them again. */
export const COUNT_TWICE: SlowTask<{ steps: number }, bigint[]> = {
  name: 'test.count-twice',
  async run(reader, { steps }) {
    const count = async () => BigInt((await reader.select().from(reader.tables.names)).length)
    const before = await count()
    await reader.select({ count: countTo(steps) }).from(reader.tables.revision)
    return [before, await count()]
  },
}

/** The process in which a task runs. */
export const PROCESS_ID: SlowTask<object, number> = { name: 'test.process-id', run: async () => process.pid }

/** The same of a stream, as text. */
export const PROCESS_IDS: SlowStream<object> = {
  name: 'test.process-ids',
  async *run() {
    yield Buffer.from(`${process.pid}`)
  },
}

export const FAILS: SlowTask<object, never> = {
  name: 'test.fails',
  async run(reader) {
    await reader.select().from(reader.tables.revision)
    throw new Problem('validation_failed', 'The task fails.')
  },
}

/** Keeps one state of the database for a while, without using the processor. */
export const READS_FOR: SlowTask<{ ms: number }, void> = {
  name: 'test.reads-for',
  async run(reader, { ms }) {
    await reader.select().from(reader.tables.revision)
    await Bun.sleep(ms)
    await reader.select().from(reader.tables.revision)
  },
}

/** Uses the processor for a while, however long that takes. */
export const COMPUTES_FOR: SlowTask<{ ms: number }, void> = {
  name: 'test.computes-for',
  async run(_reader, { ms }) {
    const used = () => process.cpuUsage().user + process.cpuUsage().system
    const before = used()
    while (used() - before < ms * 1_000);
  },
}

/** Tells by a file with the id of its process in the folder that something has happened. */
const tell = (folder: string) => writeFileSync(join(folder, `${process.pid}`), '')

/** Never ends, and uses no processor time. Tells in `folder` that it has begun. */
export const HANGS: SlowTask<{ folder?: string }, never> = {
  name: 'test.hangs',
  async run(_reader, { folder }) {
    if (folder !== undefined) tell(folder)
    return new Promise<never>(() => {})
  },
}

/** Closes the channel to the server after its result, and goes on: it gets no query and answers none any more. */
export const DISCONNECTS: SlowTask<object, void> = {
  name: 'test.disconnects',
  async run() {
    process.removeAllListeners('disconnect')
    setInterval(() => process.connected && process.disconnect(), 1)
  },
}

/** Pieces with their numbers. One that is divisible by `endlessAt` never comes. */
export const NUMBERS: SlowStream<{ pieces: number; endlessAt?: number }> = {
  name: 'test.numbers',
  async *run(reader, { pieces, endlessAt }) {
    for (let number = 1; number <= pieces; number += 1) {
      if (number === endlessAt) await reader.select({ count: countTo(1e12) }).from(reader.tables.revision)
      yield new Uint8Array([number])
    }
  },
}

/** The server that answers, and the number of names that it has. */
export async function readWhere(reader: Reader): Promise<string> {
  const names = reader.tables.names
  const [row] = await reader
    .select({ isReplica: sql<boolean>`pg_is_in_recovery()`, count: sql<number>`count(*)`.mapWith(Number) })
    .from(names)
  return `${row!.isReplica ? 'replica' : 'primary'} ${row!.count}`
}

export const WHERE: SlowTask<object, string> = { name: 'test.where', run: readWhere }

/** The same of a stream, once per piece. */
export const WHERES: SlowStream<{ pieces: number }> = {
  name: 'test.wheres',
  async *run(reader, { pieces }) {
    for (let piece = 0; piece < pieces; piece += 1) yield Buffer.from(await readWhere(reader))
  },
}

/** Takes as long as a hundred million steps of SQLite do. */
export const countTo = (steps: number) =>
  sql<number>`(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${sql.raw(`${steps}`)}) SELECT count(*) FROM c)`

if (import.meta.main)
  serveSlowReads({
    tasks: [COUNT_TWICE, PROCESS_ID, FAILS, READS_FOR, HANGS, COMPUTES_FOR, DISCONNECTS, WHERE],
    streams: [NUMBERS, PROCESS_IDS, WHERES],
  })
