/** Restores beside what crashes leave: logs without their database, damaged databases, and databases in use. */
import { Database as Connection } from 'bun:sqlite'
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyWhole } from '../../../src/database/backup/copy.ts'
import { restore } from '../../../src/database/backup/restore.ts'
import { DATABASE_FILE, openDatabase } from '../../../src/database/open.ts'
import { WrongDatabase } from '../../../src/database/wrong-database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { newMigrated } from '../../support/databases.ts'

const folders: string[] = []
const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'tally-restore-'))
  folders.push(path)
  return path
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
})

const NAMES = 'SELECT text FROM names ORDER BY text'
const name = (connection: Connection, ...names: string[]) => {
  for (const each of names) connection.run('INSERT INTO names (text) VALUES (?)', [each])
}

/** A backup with one name, and the log of the database that got further ones after it. */
async function crashed(): Promise<{ backup: string; files: string; database: string }> {
  const cleanUps: (() => Promise<void>)[] = []
  const { dataDir } = await newMigrated('sqlite', cleanUps)
  const database = join(dataDir, DATABASE_FILE)
  const connection = new Connection(database)
  connection.run('PRAGMA journal_mode = WAL')
  connection.run('PRAGMA wal_autocheckpoint = 0')
  name(connection, 'before')
  const files = folder()
  const backup = join(files, 'backup.db')
  copyWhole(connection, backup, Date.now())
  // Enough that the log contains pages of the index, which no longer fit the backup's.
  name(connection, ...Array.from({ length: 2_000 }, (_, index) => `after the backup ${index}`))
  for (const suffix of ['', '-wal']) copyFileSync(database + suffix, join(files, `crashed.db${suffix}`))
  connection.close()
  for (const step of cleanUps) await step()
  return { backup, files, database: join(files, 'crashed.db') }
}

let left: Awaited<ReturnType<typeof crashed>>
beforeAll(async () => {
  left = await crashed()
  // Kept for all tests of the file.
  folders.length = 0
})

function namesIn(path: string): string[] {
  const connection = new Connection(path, { readonly: true })
  try {
    expect(connection.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    return connection
      .query<{ text: string }, []>(NAMES)
      .all()
      .map(({ text }) => text)
  } finally {
    connection.close()
  }
}

describe('beside the log of a database that is missing', () => {
  test.each(['-wal', '-journal'])('a restore changes nothing, and says how the log is kept (%s)', (suffix) => {
    const to = join(folder(), DATABASE_FILE)
    copyFileSync(`${left.database}-wal`, to + suffix)
    expect(() => restore({ from: left.backup, to, keepAs: undefined })).toThrow(
      `${to} is missing, but its log ${to}${suffix} exists, with the latest writes.`,
    )
    expect(existsSync(to)).toBe(false)
    expect(readFileSync(to + suffix).equals(readFileSync(`${left.database}-wal`))).toBe(true)
  })

  test('a restore that replaces keeps the log whole under another name, and is what the backup contains', async () => {
    const dataDir = folder()
    const to = join(dataDir, DATABASE_FILE)
    copyFileSync(`${left.database}-wal`, `${to}-wal`)
    const restored = restore({ from: left.backup, to, keepAs: `${to}.replaced` })
    expect(restored).toMatchObject({ kept: [`${to}.replaced-wal`], damage: undefined })
    expect(readFileSync(`${to}.replaced-wal`).equals(readFileSync(`${left.database}-wal`))).toBe(true)
    const db = await openDatabase({ dataDir, clock: systemClock })
    await db.close()
    expect(namesIn(to)).toEqual(['before'])
    // What was kept is the whole database of before, with its latest writes.
    copyFileSync(left.database, `${to}.replaced`)
    expect(namesIn(`${to}.replaced`)).toHaveLength(2_001)
  })

  test('no other way makes a database', async () => {
    const dataDir = folder()
    writeFileSync(join(dataDir, `${DATABASE_FILE}-journal`), 'a journal')
    await expect(openDatabase({ dataDir, clock: systemClock }).then((db) => db.close())).rejects.toThrow('is missing')
    expect(existsSync(join(dataDir, DATABASE_FILE))).toBe(false)
  })
})

describe('a damaged database', () => {
  const damages: Record<string, (path: string) => void> = {
    'a header of something else': (path) => {
      const bytes = readFileSync(path)
      bytes.fill(0x5a, 0, 100)
      writeFileSync(path, bytes)
    },
    'pages of something else': (path) => {
      const bytes = readFileSync(path)
      bytes.fill(0x5a, 4_096)
      writeFileSync(path, bytes)
    },
    'half of its bytes': (path) => truncateSync(path, readFileSync(path).length >> 1),
    'no bytes': (path) => truncateSync(path, 0),
  }
  test.each(Object.keys(damages))('with %s is replaced, and kept with its log', (what) => {
    const to = join(folder(), DATABASE_FILE)
    for (const suffix of ['', '-wal']) copyFileSync(left.database + suffix, to + suffix)
    damages[what]!(to)
    const damaged = readFileSync(to)
    const { kept } = restore({ from: left.backup, to, keepAs: `${to}.replaced` })
    expect(kept[0]).toBe(`${to}.replaced`)
    expect(namesIn(to)).toEqual(['before'])
    expect(existsSync(`${to}-wal`)).toBe(false)
    // SQLite moves a log that it can read into the file; otherwise both are as they were.
    if (kept.length === 1) return
    expect(readFileSync(kept[0]!).equals(damaged)).toBe(true)
    expect(readFileSync(kept[1]!).equals(readFileSync(`${left.database}-wal`))).toBe(true)
  })

  test('is kept under a name of its own, whatever an earlier attempt has kept', () => {
    const to = join(folder(), DATABASE_FILE)
    const keepAs = `${to}.replaced`
    for (const [attempt, kept] of [keepAs, `${keepAs}-2`, `${keepAs}-3`].entries()) {
      writeFileSync(to, `damaged ${attempt}`)
      expect(restore({ from: left.backup, to, keepAs }).kept).toEqual([kept])
      expect(readFileSync(kept, 'utf8')).toBe(`damaged ${attempt}`)
    }
  })

  test.skipIf(process.platform !== 'linux')('is not replaced while a process uses it', async () => {
    const to = join(folder(), DATABASE_FILE)
    copyFileSync(left.backup, to)
    const program = `
      const { Database } = require('bun:sqlite')
      const db = new Database(process.argv[1])
      db.run('PRAGMA journal_mode = WAL')
      db.query('SELECT count(*) FROM names').get()
      console.log('open')
      process.stdin.resume()
      process.stdin.on('end', () => process.exit(0))
    `
    const user = Bun.spawn([process.execPath, '-e', program, to], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
    const { value } = await user.stdout.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('open\n')
    const bytes = readFileSync(to)
    bytes.fill(0x5a, 0, 100)
    // Into the same file, which a new one under the name would not be.
    writeFileSync(to, bytes, { flag: 'r+' })
    expect(() => restore({ from: left.backup, to, keepAs: `${to}.replaced` })).toThrow('Another Tally process is using')
    expect(existsSync(`${to}.replaced`)).toBe(false)
    user.stdin.end()
    await user.exited
    expect(restore({ from: left.backup, to, keepAs: `${to}.replaced` }).damage).toBeDefined()
    expect(namesIn(to)).toEqual(['before'])
  })
})

test('an empty file is no backup', () => {
  const [empty, to] = [join(folder(), 'empty.db'), join(folder(), DATABASE_FILE)]
  writeFileSync(empty, '')
  expect(() => restore({ from: empty, to, keepAs: undefined })).toThrow(
    new WrongDatabase(`${empty} is empty. Choose another backup.`),
  )
  expect(existsSync(to)).toBe(false)
})
