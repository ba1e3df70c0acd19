/** Slow reads stop when nobody waits for them any more, and never block those of others. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onBehalfOf } from '../../src/database/caller.ts'
import type { Database } from '../../src/database/database.ts'
import { canOverlap, forEachEngine, locationOf, opener } from '../support/databases.ts'
import { postgresPrograms } from '../support/postgres-programs.ts'
import { clientFor } from '../support/postgres-server.ts'
import { childrenOf, commandOf, isRunning, until } from '../support/processes.ts'
import {
  COMPUTES_FOR,
  COUNT_TWICE,
  countTo,
  DISCONNECTS,
  FAILS,
  HANGS,
  NUMBERS,
  PROCESS_ID,
  PROCESS_IDS,
  SLOW_PROGRAM,
} from '../support/slow-program.ts'

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error) => error.code ?? `${error}`,
  )

const short = (db: Database) => db.slow.select().from(db.slow.tables.revision)
const endless = (db: Database) => db.slow.select({ count: countTo(1e12) }).from(db.slow.tables.revision)

/** A folder in which processes tell what has happened. */
const folders: string[] = []
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-test-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** Somebody who may leave. */
class Person {
  readonly #controller = new AbortController()

  constructor(readonly key: number) {}

  asks<Answer>(query: () => Answer): Answer {
    return onBehalfOf({ signal: this.#controller.signal, key: this.key }, query)
  }

  leaves(): void {
    this.#controller.abort()
  }
}

/** The processes for slow reads that this one has started, and no others of its tests. */
const processes = () => childrenOf(process.pid).filter((pid) => /slow-(reads|program)/.test(commandOf(pid)))

forEachEngine('slow reads', (open, engine) => {
  test.skipIf(!canOverlap(engine))('of somebody who has left do not delay those of others', async () => {
    const db = await open({ serving: true })
    const gone = new Person(1)
    const abandoned = gone.asks(() => [endless(db), endless(db), endless(db)].map(codeOf))
    await Bun.sleep(200)
    gone.leaves()
    expect(await Promise.all(abandoned)).toEqual(['database_deadline', 'database_deadline', 'database_deadline'])
    expect(await new Person(2).asks(() => codeOf(short(db)))).toBe('done')
  })

  test.skipIf(!canOverlap(engine))('of one person, however many, do not delay those of others', async () => {
    const db = await open({ serving: true })
    const [many, few] = [new Person(1), new Person(2)]
    const others = many.asks(() => Array.from({ length: 10 }, () => codeOf(endless(db))))
    await Bun.sleep(100)
    expect(await few.asks(() => codeOf(short(db)))).toBe('done')
    many.leaves()
    expect(await Promise.all(others)).toEqual(Array(10).fill('database_deadline'))
  })

  test('of somebody who has already left are not begun', async () => {
    const db = await open({ serving: true })
    const gone = new Person(1)
    gone.leaves()
    expect(await gone.asks(() => codeOf(short(db)))).toBe('database_deadline')
  })

  test.skipIf(!canOverlap(engine))('see one state of the database in a task', async () => {
    const db = await open({ serving: true, slowProgram: SLOW_PROGRAM })
    await db.write((tx) => tx.insert(tx.tables.names).values({ text: 'first' }).returning())
    const counts = db.slowly(COUNT_TWICE, { steps: 3_000_000 })
    let written = 1
    const writing = (async () => {
      for (; written < 50; written += 1) {
        await db.write((tx) =>
          tx
            .insert(tx.tables.names)
            .values({ text: `name ${written}` })
            .returning(),
        )
        await Bun.sleep(2)
      }
    })()
    const [before, after] = await counts
    expect(after).toBe(before!)
    await writing
  })

  test.skipIf(!canOverlap(engine))('make the pieces of a stream', async () => {
    const db = await open({ serving: true, slowProgram: SLOW_PROGRAM })
    const pieces: number[] = []
    for await (const piece of db.streamSlowly(NUMBERS, { pieces: 5 })) pieces.push(...piece)
    expect(pieces).toEqual([1, 2, 3, 4, 5])
  })

  test.skipIf(!canOverlap(engine))(
    'run tasks and streams in other processes of a server, and here otherwise',
    async () => {
      const db = await open({ serving: true, slowProgram: SLOW_PROGRAM })
      const here = await open({ sharing: db })
      expect(await db.slowly(PROCESS_ID, {})).not.toBe(process.pid)
      expect(await here.slowly(PROCESS_ID, {})).toBe(process.pid)
      const ofStreams = [db, here].map(async (each) =>
        Number(Buffer.concat(await Array.fromAsync(each.streamSlowly(PROCESS_IDS, {})))),
      )
      const [there, alsoHere] = await Promise.all(ofStreams)
      expect(there).not.toBe(process.pid)
      expect(alsoHere).toBe(process.pid)
    },
  )

  test.skipIf(!canOverlap(engine))('fail in their process as they do here', async () => {
    const program = { serving: true, slowProgram: SLOW_PROGRAM }
    const hasty = await open({ ...program, slowDeadlineMs: 50 })
    expect(await codeOf(hasty.slowly(COUNT_TWICE, { steps: 1e12 }))).toBe('database_deadline')
    const db = await open(program)
    await expect(db.slowly(FAILS, {})).rejects.toMatchObject({ code: 'validation_failed', detail: 'The task fails.' })
  })
})

describe.skipIf(process.platform !== 'linux')('processes for slow reads', () => {
  const open = opener('sqlite')
  const warm = async (options = {}) => {
    const others = new Set(processes())
    const db = await open({ serving: true, ...options })
    await short(db)
    return { db, running: () => processes().filter((pid) => !others.has(pid)) }
  }

  test('start with the first query, and end with the database', async () => {
    // Those of the tests before may still be ending.
    expect(await until(() => processes().length === 0)).toBe(true)
    const db = await open({ serving: true })
    expect(processes()).toHaveLength(0)
    await short(db)
    expect(processes()).toHaveLength(1)
    await db.close()
    expect(await until(() => processes().length === 0)).toBe(true)
  })

  test('are ended when their caller has left', async () => {
    const { db, running } = await warm()
    const [pid] = running()
    const gone = new Person(1)
    const abandoned = gone.asks(() => codeOf(endless(db)))
    await Bun.sleep(100)
    gone.leaves()
    expect(await until(() => !isRunning(pid!))).toBe(true)
    expect(await abandoned).toBe('database_deadline')
  })

  test('are kept if the query was nearly done when its caller left', async () => {
    const { db, running } = await warm({ slowGraceMs: 120_000 })
    const before = running()
    const gone = new Person(1)
    const query = gone.asks(() => codeOf(short(db)))
    gone.leaves()
    expect(await query).toBe('done')
    expect(running()).toEqual(before)
  })

  test.skipIf(!Bun.which('taskset'))('are not ended for the time in which others had the processor', async () => {
    // As polite as a process for slow reads, so each gets half of the processor.
    const other = Bun.spawn(['nice', '-n', '10', 'taskset', '-c', '0', 'sh', '-c', 'while :; do :; done'])
    try {
      const { db } = await warm({ slowProgram: ['taskset', '-c', '0', ...SLOW_PROGRAM] })
      const deadlineMs = 1_000
      const startedAt = performance.now()
      const outcome = await codeOf(db.slowly({ ...COMPUTES_FOR, deadlineMs }, { ms: deadlineMs * 0.7 }))
      const tookMs = performance.now() - startedAt
      // With even more to do on this machine, it may be ended after all, a moment before twice its deadline.
      if (tookMs < 1.9 * deadlineMs) expect(outcome).toBe('done')
      expect(tookMs).toBeGreaterThan(deadlineMs)
    } finally {
      other.kill('SIGKILL')
    }
  })

  test('are replaced if they get no query and answer none any more, and what was sent to them is repeated', async () => {
    const { db, running } = await warm({ slowProgram: SLOW_PROGRAM })
    const [pid] = running()
    await db.slowly(DISCONNECTS, {})
    expect(await codeOf(short(db))).toBe('done')
    expect(await until(() => !isRunning(pid!))).toBe(true)
    expect(await codeOf(short(db))).toBe('done')
    expect(running()).not.toContain(pid!)
  })

  test('repeat a query whose process was killed, once', async () => {
    const { db } = await warm({ slowProgram: SLOW_PROGRAM })
    const folder = newFolder()
    const twice = codeOf(db.slowly(HANGS, { folder }))
    for (let times = 0; times < 2; times += 1) {
      expect(await until(() => readdirSync(folder).length > times)).toBe(true)
      for (const pid of readdirSync(folder).map(Number)) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
    expect(await twice).toContain('SIGKILL')
    expect(readdirSync(folder)).toHaveLength(2)
    expect(await codeOf(short(db))).toBe('done')
  })

  test('are ended with a stream that is not read on, and leave other streams alone', async () => {
    const { db, running } = await warm({ slowProgram: SLOW_PROGRAM })
    const before = running()
    const stream = db.streamSlowly(NUMBERS, { pieces: 5, endlessAt: 2 })
    await stream.next()
    const whole = db.streamSlowly(NUMBERS, { pieces: 3 })
    await whole.next()
    expect(running()).toHaveLength(before.length + 2)
    await stream.return(undefined)
    expect(await until(() => running().length === before.length + 1)).toBe(true)
    expect((await Array.fromAsync(whole)).map(([number]) => number)).toEqual([2, 3])
  })

  test('get nothing of the environment', async () => {
    process.env.TALLY_TEST_SECRET = 'secret'
    const { running } = await warm()
    delete process.env.TALLY_TEST_SECRET
    expect(await Bun.file(`/proc/${running()[0]}/environ`).text()).not.toContain('secret')
  })
})

describe.skipIf(process.platform !== 'linux' || !postgresPrograms())('processes for slow reads of PostgreSQL', () => {
  const open = opener('postgres')

  test('end a query of the server within moments when they are killed', async () => {
    const db = await open({ serving: true, slowProgram: SLOW_PROGRAM })
    const client = clientFor(locationOf(db).databaseUrl!)
    try {
      const counting = async () => {
        const [row] = await client`
          SELECT count(*)::int AS running FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%WITH RECURSIVE%' AND state = 'active' AND pid <> pg_backend_pid()`
        return row!.running as number
      }
      const gone = new Person(1)
      const abandoned = gone.asks(() => codeOf(db.slowly(COUNT_TWICE, { steps: 1e12 })))
      expect(await until(async () => (await counting()) === 1)).toBe(true)
      gone.leaves()
      expect(await abandoned).toBe('database_deadline')
      expect(await until(async () => (await counting()) === 0)).toBe(true)
    } finally {
      await client.end()
    }
  })

  test('get what a connection needs of the environment, and nothing else', async () => {
    const others = new Set(processes())
    Object.assign(process.env, { TALLY_TEST_SECRET: 'secret', PGCONNECT_TIMEOUT: '7' })
    try {
      const db = await open({ serving: true, slowProgram: SLOW_PROGRAM })
      await db.slowly(PROCESS_ID, {})
      const [pid] = processes().filter((each) => !others.has(each))
      const environment = await Bun.file(`/proc/${pid}/environ`).text()
      expect(environment).not.toContain('secret')
      expect(environment).toContain('PGCONNECT_TIMEOUT=7')
    } finally {
      delete process.env.TALLY_TEST_SECRET
      delete process.env.PGCONNECT_TIMEOUT
    }
  })
})
