/** What SQLite may open: files that are databases of Tally, next to logs that were written for them. */
import { Database as Connection } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyWhole } from '../../src/database/backup/copy.ts'
import { restore } from '../../src/database/backup/restore.ts'
import { issueAt } from '../../src/database/database-place.ts'
import {
  APPLICATION_ID,
  commitNumberOf,
  FileHeader,
  numberCommit,
} from '../../src/database/engines/sqlite/file-header.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { WrongDatabase } from '../../src/database/wrong-database.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { newMigrated } from '../support/databases.ts'

const cleanUps: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

/** Files of one database at a moment, as a person copies them, or as a process leaves them that is killed. */
interface Moment {
  file: Buffer<ArrayBuffer>
  log: Buffer<ArrayBuffer>
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-log-'))
  cleanUps.push(async () => rmSync(folder, { recursive: true }))
  return folder
}

/** A database that commits, checkpoints and is copied as the test says, in one log after the other. */
async function newHistory() {
  const { dataDir } = await newMigrated('sqlite', cleanUps)
  const path = join(dataDir, DATABASE_FILE)
  const connection = new Connection(path)
  connection.run('PRAGMA journal_mode = WAL')
  connection.run('PRAGMA wal_autocheckpoint = 0')
  cleanUps.push(async () => connection.close())
  let names = 0
  return {
    path,
    connection,
    commit(rows = 200) {
      connection
        .transaction(() => {
          numberCommit(connection)
          for (let row = 0; row < rows; row += 1) {
            names += 1
            connection.run('INSERT INTO names (text) VALUES (?)', [`name ${names} ${crypto.randomUUID()}`])
          }
        })
        .immediate()
    },
    checkpoint: () => void connection.query('PRAGMA wal_checkpoint(PASSIVE)').get(),
    moment: (): Moment => ({ file: readFileSync(path), log: readFileSync(`${path}-wal`) }),
  }
}

function placed({ file, log }: Moment): string {
  const path = join(newFolder(), DATABASE_FILE)
  writeFileSync(path, file)
  writeFileSync(`${path}-wal`, log)
  return path
}

type Name = 'before' | 'committed' | 'copied' | 'grown' | 'next log' | 'later'
let moments: Record<Name, Moment>
let other: Moment
let backup: Buffer<ArrayBuffer>

beforeAll(async () => {
  const history = await newHistory()
  const { commit, checkpoint, moment } = history
  commit()
  checkpoint()
  const before = moment()
  commit()
  const committed = moment()
  commit()
  checkpoint()
  const copied = moment()
  const reader = new Connection(history.path, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM names').get()
  commit()
  // The reader keeps the log from beginning anew.
  checkpoint()
  commit()
  const grown = moment()
  reader.close()
  checkpoint()
  commit()
  const nextLog = moment()
  checkpoint()
  commit()
  moments = { before, committed, copied, grown, 'next log': nextLog, later: moment() }
  const copy = join(newFolder(), 'backup.db')
  copyWhole(history.connection, copy, Date.now())
  backup = readFileSync(copy)
  const another = await newHistory()
  for (let round = 0; round < 3; round += 1) {
    another.commit()
    another.checkpoint()
  }
  another.commit()
  other = another.moment()
})

const mixed = (file: Buffer<ArrayBuffer>, { log }: Moment): Moment => ({ file, log })

describe('a file is refused, and left as it is, that', () => {
  const other: Record<string, [says: string, make: (path: string) => void]> = {
    'is empty': ['is empty. Restore a backup', (path) => writeFileSync(path, '')],
    'is cut off': [
      `is incomplete: it has 40000 of ${2 ** 20} bytes. Copy it again`,
      (path) => writeFileSync(path, withPages(moments.before.file, 2 ** 20 / 4_096).subarray(0, 40_000)),
    ],
    'is not a database': ['is not a SQLite database', (path) => writeFileSync(path, 'Dear Ada, '.repeat(100))],
    'is the database of another program': [
      'is a SQLite database of another program',
      (path) => {
        const connection = new Connection(path)
        connection.run('CREATE TABLE migrations (version INTEGER PRIMARY KEY)')
        connection.close(true)
      },
    ],
    'another program has just begun, with everything in its log': [
      'is a SQLite database of another program',
      (path) => {
        const connection = new Connection(path)
        connection.run('PRAGMA journal_mode = WAL')
        connection.run('CREATE TABLE letters (text TEXT)')
        cleanUps.push(async () => connection.close())
      },
    ],
  }
  test.each(Object.keys(other))('%s', async (what) => {
    const [says, make] = other[what]!
    const dataDir = newFolder()
    const path = join(dataDir, DATABASE_FILE)
    make(path)
    const before = readFileSync(path)
    for (const serving of [true, false]) {
      const refusal = await openDatabase({ dataDir, clock: systemClock, serving }).catch((error) => error)
      expect(refusal).toBeInstanceOf(WrongDatabase)
      expect(refusal.message).toContain(`${path} ${says}`)
    }
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  function withPages(file: Buffer<ArrayBuffer>, pages: number): Buffer<ArrayBuffer> {
    const changed = Buffer.from(file)
    changed.writeUInt32BE(pages, 28)
    return changed
  }
})

test('a database of an earlier version that has just begun, with everything in its log, is opened', async () => {
  const dataDir = newFolder()
  const path = join(dataDir, DATABASE_FILE)
  const connection = new Connection(path)
  connection.run('PRAGMA journal_mode = WAL')
  connection.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  connection.run('CREATE TABLE anything (text TEXT)')
  expect(issueAt(path)).toBeUndefined()
  connection.close()
})

describe('a log is used that belongs to its file', () => {
  const own: Record<string, () => Moment> = {
    'left by a process that was killed before a checkpoint': () => moments.committed,
    'after a checkpoint': () => moments.copied,
    'with a part of it in the file': () => moments.grown,
    'with the file of an earlier moment of the same log': () => mixed(moments.committed.file, moments.copied),
    'that has just begun': () => moments['next log'],
    'without commits': () => mixed(moments.later.file, { ...moments.later, log: Buffer.alloc(0) }),
    'whose first commit was cut off': () => ({ ...moments.later, log: moments.later.log.subarray(0, 2_000) }),
    'whose first page is still that of an earlier log': () => {
      const log = Buffer.from(moments.later.log)
      moments.before.log.copy(log, 32 + 24, 32 + 24, 32 + 24 + 4_096)
      return { ...moments.later, log }
    },
    'next to a file whose first page was lost while it was copied from the log': () => {
      const file = Buffer.from(moments.copied.file)
      return mixed(file.fill(0, 0, 4_096), moments.copied)
    },
    'whose last commit was cut off': () => ({ ...moments.grown, log: moments.grown.log.subarray(0, -3_000) }),
  }
  test.each(Object.keys(own))('%s', (what) => {
    expect(issueAt(placed(own[what]!()))).toBeUndefined()
  })

  test('of a version that numbers no commits', async () => {
    const { path, connection, checkpoint } = await newHistory()
    connection.run("INSERT INTO names (text) VALUES ('one')")
    checkpoint()
    connection.run("INSERT INTO names (text) VALUES ('two')")
    expect(issueAt(path)).toBeUndefined()
  })
})

describe('a log is refused, and left as it is, next to', () => {
  const foreign: Record<string, () => Moment> = {
    'an older copy of its database': () => mixed(moments.before.file, moments['next log']),
    'an older copy, two logs ago': () => mixed(moments.committed.file, moments.later),
    'a newer copy of its database': () => mixed(moments.later.file, moments.committed),
    'a file that was copied after the log': () => mixed(moments.copied.file, moments.committed),
    'a backup of its database': () => mixed(backup, moments.later),
    'another database': () => mixed(other.file, moments.later),
  }
  test.each(Object.keys(foreign))('%s', async (what) => {
    const moment = foreign[what]!()
    const path = placed(moment)
    const dataDir = join(path, '..')
    for (const serving of [true, false]) {
      const refusal = await openDatabase({ dataDir, clock: systemClock, serving }).catch((error) => error)
      expect(refusal).toBeInstanceOf(WrongDatabase)
      expect(refusal.message).toContain(`mv ${path}-wal ${path}-wal.other`)
    }
    expect(readFileSync(path).equals(moment.file)).toBe(true)
    expect(readFileSync(`${path}-wal`).equals(moment.log)).toBe(true)
    expect(existsSync(`${path}-shm`)).toBe(false)
  })

  test('and a restore that replaces the file keeps both unchanged', () => {
    const moment = mixed(other.file, moments.later)
    const path = placed(moment)
    const from = join(newFolder(), 'backup.db')
    writeFileSync(from, backup)
    const { kept, damage } = restore({ from, to: path, keepAs: `${path}.replaced` })
    expect(damage).toContain('is the log of another database')
    expect(kept).toEqual([`${path}.replaced`, `${path}.replaced-wal`])
    expect(kept.map((each) => readFileSync(each))).toEqual([moment.file, moment.log])
  })

  test('and the files are not restored from', () => {
    const from = placed(mixed(other.file, moments.later))
    const to = join(newFolder(), DATABASE_FILE)
    expect(() => restore({ from, to, keepAs: undefined })).toThrow('is the log of another database')
    expect(existsSync(to)).toBe(false)
  })
})

test('a file is still the same with tables of another program, and is not after another one was copied over it', async () => {
  const { path, commit, checkpoint, connection } = await newHistory()
  const file = openSync(path, 'r+')
  const header = new FileHeader(file)
  commit()
  connection.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)')
  checkpoint()
  expect(header.isOverwritten()).toBe(false)
  const copied = Buffer.from(readFileSync(path))
  copied.writeInt32BE((commitNumberOf(copied) - 1) | 0, 60)
  writeSync(file, copied, 0, copied.length, 0)
  expect(header.isOverwritten()).toBe(true)
  closeSync(file)
})

test('the commits of a server are numbered, and its copies have numbers of their own', async () => {
  const { dataDir } = await newMigrated('sqlite', cleanUps)
  const path = join(dataDir, DATABASE_FILE)
  const numberOf = (file: string) => {
    const connection = new Connection(file, { readonly: true })
    const { user_version } = connection.query<{ user_version: number }, []>('PRAGMA user_version').get()!
    connection.close()
    return user_version
  }
  const before = numberOf(path)
  const db = await openDatabase({ dataDir, clock: systemClock })
  await db.write((tx) => tx.insert(tx.tables.names).values({ text: 'new' }))
  await db.close()
  expect((numberOf(path) - before) | 0).toBe(1)
  const connection = new Connection(path, { readonly: true })
  copyWhole(connection, join(dataDir, 'one.db'), Date.now())
  connection.close()
  copyFileSync(join(dataDir, 'one.db'), join(dataDir, 'two.db'))
  expect(numberOf(join(dataDir, 'two.db'))).not.toBe(numberOf(path))
})
