/** What happens to an embedded database when its disk or somebody else fails it. */
import { Database as Connection } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, Tx } from '../../src/database/database.ts'
import { logBytesToEmptyAt, spaceLevelOf } from '../../src/database/disk-space.ts'
import type { LostDatabase } from '../../src/database/engines/sqlite/database-files.ts'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { locationOf, opener } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { READS_FOR, SLOW_PROGRAM } from '../support/slow-program.ts'

const pathOf = (db: Database) => join(locationOf(db).dataDir, DATABASE_FILE)
const addName = (text: string) => (tx: Tx) => tx.insert(tx.tables.names).values({ text }).returning()
const MIB = 1_048_576

describe('files that are lost while they are in use', () => {
  const open = opener('sqlite')

  async function openWatched() {
    const { promise: lost, resolve } = Promise.withResolvers<LostDatabase>()
    const db = await open({ serving: true, onFatal: (error) => resolve(error as LostDatabase) })
    await db.write(addName('acknowledged'))
    return { db, path: pathOf(db), lost }
  }

  const namesIn = (path: string) => {
    const connection = new Connection(path, { readonly: true })
    try {
      return connection.query('SELECT text FROM names').values().flat()
    } finally {
      connection.close()
    }
  }

  test('a moved database holds all that was acknowledged, and nothing more is written', async () => {
    const { db, path, lost } = await openWatched()
    renameSync(path, `${path}.moved`)
    expect(await lost).toMatchObject({ lost: 'moved', message: expect.stringContaining('Move it back') })
    expect(db.write(addName('late'))).rejects.toMatchObject({ code: 'database_unreachable' })
    copyFileSync(`${path}.moved`, `${path}.copy`)
    expect(namesIn(`${path}.copy`)).toEqual(['acknowledged'])
    renameSync(`${path}.moved`, path)
  })

  test('a removed log is in the database file', async () => {
    const { db, path, lost } = await openWatched()
    const namesInFile = () => {
      copyFileSync(path, `${path}.copy`)
      return namesIn(`${path}.copy`)
    }
    // A thread that opens the database after its log was removed would start a new one.
    while (namesInFile().length === 0) await Bun.sleep(20)
    await db.write(addName('acknowledged later'))
    rmSync(`${path}-wal`)
    expect(await lost).toMatchObject({ lost: 'log' })
    expect(namesInFile()).toEqual(['acknowledged', 'acknowledged later'])
  })

  test('a database that is replaced keeps its log to itself', async () => {
    const { path, lost } = await openWatched()
    copyFileSync(path, `${path}.other`)
    renameSync(`${path}.other`, path)
    expect(await lost).toMatchObject({ lost: 'replaced' })
    expect(statSync(`${path}-wal`).size).toBe(0)
  })

  test('a missing database beside its log is not replaced by an empty one', async () => {
    const db = await open()
    const { dataDir } = locationOf(db)
    await db.close()
    const path = join(dataDir, DATABASE_FILE)
    renameSync(path, `${path}.moved`)
    await Bun.write(`${path}-wal`, 'log')
    expect(open({ at: { dataDir } })).rejects.toThrow('Move the database file back')
  })
})

describe('the space of the log', () => {
  const open = opener('sqlite')

  test('is at most the larger of 64 MiB and a tenth of the free space', () => {
    for (const free of [0, 1, 100, 1_000, 1_500, 100_000]) {
      for (const log of [0, 10, 64, 500]) {
        const from = logBytesToEmptyAt(free * MIB, log * MIB)
        expect(from).toBeLessThan(Math.max(64 * MIB, (free * MIB) / 10))
        // What is in the log must find space in the database file.
        expect(from).toBeLessThanOrEqual(((free + log) * MIB) / 4)
      }
    }
  })

  test('is given back after two seconds without a commit', async () => {
    const db = await open({ serving: true })
    const log = `${pathOf(db)}-wal`
    const texts = Array.from({ length: 400 }, (_, number) => `${number} ${'x'.repeat(5_000)}`)
    await Promise.all(texts.map((text) => db.write(addName(text))))
    expect(statSync(log).size).toBeGreaterThan(MIB)
    expect(await until(() => statSync(log).size === 0)).toBe(true)
  })

  test('is used again although slow reads follow one another without a gap', async () => {
    const db = await open({ serving: true, slowProgram: SLOW_PROGRAM })
    const log = `${pathOf(db)}-wal`
    let isWanted = true
    /** Who had to wait too long for the log to be emptied, or for a processor, asks again. */
    const isDone = (asked: Promise<unknown>) =>
      asked.then(
        () => true,
        (error) => {
          expect(['overloaded', 'database_deadline']).toContain(error.code)
          return false
        },
      )
    const read = async () => {
      while (isWanted) await isDone(db.slowly(READS_FOR, { ms: 50 }))
    }
    const write = async () => {
      for (; isWanted; await Bun.sleep(5)) await isDone(db.probe())
    }
    const working = [read(), read(), read(), write()]
    const large = 'x'.repeat(MIB)
    for (let count = 0; count < 130; ) if (await isDone(db.write(addName(`${count}${large}`)))) count += 1
    // https://www.sqlite.org/fileformat2.html#the_write_ahead_log: how often the log has begun anew
    const beginnings = async () => Buffer.from(await Bun.file(log).slice(0, 32).arrayBuffer()).readUInt32BE(12)
    const before = await beginnings()
    const isUsedAgain = await until(async () => (await beginnings()) > before, 120_000)
    isWanted = false
    await Promise.all(working)
    expect(isUsedAgain).toBe(true)
  }, 180_000)
})

test('a disk is low below 15 % and critical below 5 %', () => {
  const levelOf = (freeBytes: number) => spaceLevelOf({ freeBytes, totalBytes: 1_000 })
  expect([150, 149, 50, 49, 0].map(levelOf)).toEqual(['ok', 'low', 'low', 'critical', 'critical'])
})

describe('a probe', () => {
  const open = opener('sqlite')

  test('writes to the log, and changes nothing that is read', async () => {
    const db = await open()
    const before = statSync(`${pathOf(db)}-wal`).size
    const revision = await db.read.revision()
    await db.probe()
    expect(statSync(`${pathOf(db)}-wal`).size).toBeGreaterThan(before)
    expect(await db.read.revision()).toBe(revision)
  })
})

describe('permissions', () => {
  const open = opener('sqlite')

  test.skipIf(process.platform === 'win32')('a new database is private whatever the umask', async () => {
    const before = process.umask(0)
    try {
      const path = pathOf(await open({ serving: true }))
      for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o077).toBe(0)
    } finally {
      process.umask(before)
    }
  })
})
