/** What only the embedded engine does: group commit, locks without blocking, a full disk, the write-ahead log. */
import { Database as Connection } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { onBehalfOf } from '../../src/database/caller.ts'
import type { Database, Reader, Tx } from '../../src/database/database.ts'
import { LogFile } from '../../src/database/engines/sqlite/log-file.ts'
import { slowSqlite } from '../../src/database/engines/sqlite/slow-database.ts'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { locationOf, opener } from '../support/databases.ts'
import { commandFor, inOtherProcess } from '../support/other-process.ts'
import { until } from '../support/processes.ts'
import { HANGS, PROCESS_ID, SLOW_PROGRAM } from '../support/slow-program.ts'
import { canMount, onSmallDisk } from '../support/small-disk.ts'

const pathOf = (db: Database) => join(locationOf(db).dataDir, DATABASE_FILE)
const addName = (text: string) => (tx: Tx) => tx.insert(tx.tables.names).values({ text }).returning()
const countNames = async (reader: Reader) => (await reader.select().from(reader.tables.names)).length
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error) => error.code ?? `${error}`,
  )

/**
 * Commits in the write-ahead log: the last frame of each names the size of the database after it.
 * https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
function commitsIn(db: Database): number {
  const log = readFileSync(`${pathOf(db)}-wal`)
  const frameLength = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let frame = 32; frame + frameLength <= log.length; frame += frameLength) {
    if (log.readUInt32BE(frame + 4) > 0) commits += 1
  }
  return commits
}

describe('the group commit', () => {
  const open = opener('sqlite')

  test('makes one commit of the bodies that wait together', async () => {
    const db = await open()
    await db.write(addName('first'))
    const before = commitsIn(db)
    await Promise.all(Array.from({ length: 100 }, (_, number) => db.write(addName(`name ${number}`))))
    expect(commitsIn(db) - before).toBe(1)
  })

  test('begins another commit after 256 bodies, so that the event loop is not kept', async () => {
    const db = await open()
    await db.write(addName('first'))
    const before = commitsIn(db)
    await Promise.all(Array.from({ length: 600 }, (_, number) => db.write(addName(`name ${number}`))))
    expect(commitsIn(db) - before).toBe(3)
    expect(await countNames(db.read)).toBe(601)
  })

  test('writes nothing if every body fails', async () => {
    const db = await open()
    await db.write(addName('first'))
    const before = commitsIn(db)
    const failing = Array.from({ length: 10 }, () => codeOf(db.write(addName('first'))))
    expect(new Set(await Promise.all(failing))).toEqual(new Set(['SQLITE_CONSTRAINT_UNIQUE']))
    expect(commitsIn(db)).toBe(before)
  })

  test('refuses what comes when ten thousand bodies wait', async () => {
    const db = await open()
    const outcomes = await Promise.all(Array.from({ length: 10_010 }, () => codeOf(db.write(async () => {}))))
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(10_000)
    expect(outcomes.slice(10_000)).toEqual(Array(10).fill('overloaded'))
  })
})

describe('the lock of another process', () => {
  const open = opener('sqlite')

  async function lockedByOther(db: Database): Promise<() => Promise<void>> {
    const child = inOtherProcess('lock', locationOf(db))
    for await (const _ of child.stdout) break
    return async () => {
      child.stdin.end()
      await child.exited
    }
  }

  test('is waited for while timers go on and reads are answered', async () => {
    const db = await open()
    const unlock = await lockedByOther(db)
    let ticks = 0
    const ticker = setInterval(() => {
      ticks += 1
    }, 5)
    const waiting = db.write(addName('waited'))
    // Where SQLite waits for the lock itself, there is none before the write has failed.
    expect(await until(() => ticks > 10)).toBe(true)
    clearInterval(ticker)
    expect(await countNames(db.read)).toBe(0)
    await unlock()
    await waiting
    expect(await countNames(db.read)).toBe(1)
  })

  test('fails for all waiting bodies after a while, and the next write succeeds', async () => {
    const db = await open({ busyDeadlineMs: 100 })
    const unlock = await lockedByOther(db)
    const waiting = [1, 2, 3].map((number) => codeOf(db.write(addName(`name ${number}`))))
    expect(await Promise.all(waiting)).toEqual(Array(3).fill('database_busy'))
    await unlock()
    await db.write(addName('next'))
    expect(await countNames(db.read)).toBe(1)
  })
})

describe('a full disk', () => {
  const open = opener('sqlite')

  test.skipIf(!canMount)(
    'refuses all who share the commit, still reads, and writes again when there is space',
    async () => {
      const location = locationOf(await open())
      const child = Bun.spawn(onSmallDisk(location.dataDir, commandFor('fillDisk', location)), { stderr: 'inherit' })
      expect(await child.stdout.json()).toEqual({
        together: ['database_full', 'database_full', 'database_full'],
        read: ['before'],
        again: 'written',
        stored: ['before', 'after'],
      })
      expect(await child.exited).toBe(0)
    },
  )
})

describe('a transaction that SQLite itself has rolled back', () => {
  const open = opener('sqlite')

  test('is not continued by the other statements of a set', async () => {
    const db = await open()
    const connection = new Connection(pathOf(db))
    connection.run('PRAGMA wal_autocheckpoint = 0')
    connection.run(`
      CREATE TRIGGER fails BEFORE INSERT ON names WHEN NEW.text = 'fails'
      BEGIN SELECT RAISE(ROLLBACK, 'rolled back'); END`)
    connection.close()
    const write = db.setWriter<string, true>(async (tx, texts) => {
      const insert = async (text: string) => tx.insertAll(tx.tables.names, [{ text }])
      await Promise.all(texts.map(insert))
      return texts.map(() => ({ value: true }))
    })
    const outcomes = await write(['before', 'fails', 'after'])
    expect(outcomes.map((outcome) => 'error' in outcome)).toEqual([true, true, true])
    expect(await countNames(db.read)).toBe(0)
    await db.write(addName('next'))
    expect(await countNames(db.read)).toBe(1)
  })
})

describe('the write-ahead log', () => {
  const open = opener('sqlite')

  test('is kept small by the checkpoints of a server', async () => {
    const db = await open({ serving: true })
    const log = `${pathOf(db)}-wal`
    // How often the log has begun anew, which it does at the first write after a whole checkpoint.
    const beginnings = () => readFileSync(log).readUInt32BE(12)
    const sizes: number[] = []
    for (let burst = 0; burst < 6; burst += 1) {
      const texts = Array.from({ length: 200 }, (_, number) => `${burst} ${number} ${'x'.repeat(5_000)}`)
      await Promise.all(texts.map((text) => db.write(addName(text))))
      sizes.push(statSync(log).size)
      for (const before = beginnings(); beginnings() === before; ) {
        await Bun.sleep(200)
        await db.probe()
      }
    }
    // A burst is 2.5 MB with its index; all six without checkpoints are six times that.
    expect(sizes.at(-1)!).toBeLessThan(2.5 * sizes[0]!)
  })

  test('is empty after the last close, so that a copy of the file alone is whole', async () => {
    const db = await open({ serving: true })
    await db.write(addName('kept'))
    await db.close()
    const copy = `${pathOf(db)}.copy`
    copyFileSync(pathOf(db), copy)
    const connection = new Connection(copy)
    expect(connection.query('SELECT text FROM names').values()).toEqual([['kept']])
    connection.close()
  })

  test('is left alone by a close beside a transaction of another process', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    const child = inOtherProcess('lock', locationOf(db))
    for await (const _ of child.stdout) break
    await db.close()
    child.kill()
    await child.exited
    await other.write(addName('after'))
    expect(await countNames(other.read)).toBe(1)
  })
})

describe('the sync of the log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-log-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('resolves when the file is synced, as often as it is asked', async () => {
    const path = join(folder, 'file')
    writeFileSync(`${path}-wal`, '')
    const log = new LogFile(path, () => {})
    for (let times = 0; times < 3; times += 1) await log.sync()
    log.close()
  })

  test.skipIf(process.platform === 'win32')('rejects with what the system answered', async () => {
    const path = join(folder, 'pipe')
    // Can be opened as a file, but not synced.
    Bun.spawnSync(['mkfifo', `${path}-wal`])
    const log = new LogFile(path, () => {})
    expect(await codeOf(log.sync())).toBe('EINVAL')
    log.close()
  })
})

/** Takes longer than any test. */
const counting = (db: Database) =>
  db.slow
    .select({
      count: sql`(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1e12) SELECT count(*) FROM c)`,
    })
    .from(db.slow.tables.revision)

const asking = (db: Database) => db.slow.select().from(db.slow.tables.revision)

describe('slow reads of SQLite', () => {
  const open = opener('sqlite')

  test('do not wait for a long one, and have their own time from when they begin', async () => {
    const db = await open({ serving: true, slowProgram: SLOW_PROGRAM })
    const caller = new AbortController()
    const endless = onBehalfOf({ signal: caller.signal, key: 1 }, () => codeOf(db.slowly(HANGS, {})))
    expect(await codeOf(asking(db))).toBe('done')
    caller.abort()
    expect(await endless).toBe('database_deadline')
    // Behind two that fill both lanes the third begins when the first of them is given up, after the time that it has.
    const deadlineMs = 5_000
    const long = { ...HANGS, deadlineMs }
    const asked = [db.slowly(long, {}), db.slowly(long, {}), db.slowly({ ...PROCESS_ID, deadlineMs }, {})]
    expect(await Promise.all(asked.map(codeOf))).toEqual(['database_deadline', 'database_deadline', 'done'])
  })

  test('see a file that was compacted and has grown again since they mapped it', async () => {
    const db = await open()
    const slow = slowSqlite(pathOf(db))
    const other = new Connection(pathOf(db))
    const add = (count: number) => {
      for (let at = 0; at < count; at += 1) other.run(`INSERT INTO many VALUES (randomblob(50000))`)
      other.run('PRAGMA wal_checkpoint(TRUNCATE)')
    }
    const seen = () => slow.values('SELECT count(*), sum(length(bytes)) FROM many', [])
    other.run('CREATE TABLE many (bytes BLOB)')
    add(100)
    expect(seen()).toEqual([[100, 5_000_000]])
    other.run('DELETE FROM many WHERE rowid > 3')
    other.run('VACUUM')
    other.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(statSync(pathOf(db)).size).toBeLessThan(5_000_000)
    expect(seen()).toEqual([[3, 150_000]])
    add(200)
    expect(seen()).toEqual([[203, 10_150_000]])
    other.close()
  })

  test('are refused with 503 when too many wait', async () => {
    const db = await open({ serving: true })
    const caller = new AbortController()
    const codes = onBehalfOf({ signal: caller.signal, key: 1 }, () =>
      Array.from({ length: 203 }, () => codeOf(counting(db))),
    )
    expect(await Promise.race(codes)).toBe('overloaded')
    caller.abort()
    await Promise.all(codes)
  })

  test('fail when the database is closed before they are durable', async () => {
    const db = await open({ serving: true })
    const waiting = codeOf(counting(db))
    await Bun.sleep(20)
    await db.close()
    expect(await waiting).toBe('database_unreachable')
  })
})
