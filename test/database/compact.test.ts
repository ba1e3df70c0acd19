/** A database is written anew while others use it, too. */
import { Database as Connection } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { compactFile } from '../../src/database/compact.ts'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { newMigrated } from '../support/databases.ts'

const cleanUps: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const step of cleanUps) await step()
})

/** Writes and checkpoints without a pause, as a server does under load. */
const BUSY_WITH_CHECKPOINTS = `
  const { Database } = require('bun:sqlite')
  const connection = new Database(process.argv[1])
  connection.run('PRAGMA busy_timeout = 60000')
  connection.run('PRAGMA wal_autocheckpoint = 0')
  process.stdin.on('end', () => process.exit(0)).resume()
  const write = connection.query('INSERT INTO names (text) VALUES (?)')
  console.log('begins')
  const go = (count) => {
    write.run(process.pid + '-' + count)
    for (let times = 0; times < 20; times += 1) connection.run('PRAGMA wal_checkpoint(PASSIVE)')
    setImmediate(go, count + 1)
  }
  go(0)
`

test('a database is compacted beside a process whose checkpoints are never far', async () => {
  const { dataDir } = await newMigrated('sqlite', cleanUps)
  const path = join(dataDir, DATABASE_FILE)
  const connection = new Connection(path)
  connection.run('PRAGMA journal_mode = WAL')
  connection.close()
  const other = Bun.spawn([process.execPath, '-e', BUSY_WITH_CHECKPOINTS, path], { stdin: 'pipe', stdout: 'pipe' })
  const { value } = await other.stdout.getReader().read()
  expect(new TextDecoder().decode(value)).toBe('begins\n')
  for (let times = 0; times < 60; times += 1) compactFile(path)
  other.stdin.end()
  expect(await other.exited).toBe(0)
})
