import { Database as Connection } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
})
afterEach(() => tally.remove())

const list = ['users', 'list']

async function refusalOf(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await tally.run(args, { env })
  expect(code).toBe(1)
  expect(stdout).toBe('')
  // One line, and no trace of the program's own.
  expect(stderr).toMatch(/^tally: [^\n]+\n$/)
  return stderr
}

test('the folder is the one of --data, before or behind the command, of TALLY_DATA, or ./tally-data', async () => {
  const add = (email: string) => ['users', 'add', '--email', email, '--name', 'x', '--role', 'admin']
  await tally.done(add('default@example.com'))
  await tally.done(['--data', 'before', ...add('before@example.com')])
  await tally.done([...add('behind@example.com'), '--data', 'behind'])
  await tally.done(add('variable@example.com'), { env: { TALLY_DATA: 'variable' } })
  await tally.done([...add('both@example.com'), '--data', 'both'], { env: { TALLY_DATA: 'variable' } })
  const emails = async (folder: string) =>
    (await tally.json([...list, '--data', folder])).data.map(({ email }: { email: string }) => email)
  expect(await emails('tally-data')).toEqual(['default@example.com'])
  expect(await emails('before')).toEqual(['before@example.com'])
  expect(await emails('behind')).toEqual(['behind@example.com'])
  expect(await emails('variable')).toEqual(['variable@example.com'])
  expect(await emails('both')).toEqual(['both@example.com'])
})

test('a missing database is a slip in the folder’s name, not a new database', async () => {
  for (const args of [
    list,
    ['tokens', 'list'],
    ['entries', 'list'],
    ['tokens', 'create', '--kind', 'svc', '--user', 'x', '--name', 'y'],
  ]) {
    expect(await refusalOf([...args, '--data', 'typo'])).toContain('no Tally database in typo')
  }
  expect(existsSync(join(tally.folder, 'typo'))).toBe(false)
})

test('a file that is no database is refused and left alone', async () => {
  mkdirSync(tally.dataDir)
  const file = join(tally.dataDir, 'tally.db')
  writeFileSync(file, 'Dear diary, this is a text that is longer than the header of a database. '.repeat(20))
  const before = await Bun.file(file).bytes()
  for (const args of [list, ['serve', '--port', '0']]) {
    expect(await refusalOf(args)).toContain('Choose another folder with --data')
  }
  expect(await Bun.file(file).bytes()).toEqual(before)
})

test("another program's database is refused and left alone", async () => {
  mkdirSync(tally.dataDir)
  const other = new Connection(join(tally.dataDir, 'tally.db'), { create: true })
  other.run('CREATE TABLE recipes (id INTEGER PRIMARY KEY)')
  expect(await refusalOf(list)).toContain('of another program')
  expect(other.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).toEqual([{ name: 'recipes' }])
  other.close()
})

test('a database with a newer schema is refused, naming both versions', async () => {
  await tally.addUser()
  const newer = new Connection(join(tally.dataDir, 'tally.db'))
  newer.run("INSERT INTO migrations VALUES (9999, 'from the future', 0)")
  newer.run('UPDATE revision SET oldest_schema = 9999')
  newer.close()
  for (const args of [list, ['serve', '--port', '0']]) {
    const message = await refusalOf(args)
    expect(message).toContain('schema version 9999')
    expect(message).toContain('Use the newer version')
  }
})

test('a folder that cannot be made is named', async () => {
  writeFileSync(join(tally.folder, 'file'), '')
  expect(await refusalOf(['serve', '--port', '0', '--data', 'file/data'])).toContain('file/data')
})

test('all issues of the configuration are reported at once, as wrong usage', async () => {
  const { code, stderr } = await tally.run(['serve', '--port', 'http'], {
    env: { TALLY_LOG_LEVEL: 'loud', TALLY_DATABASE_URL: 'mysql://root:secret@localhost' },
  })
  expect(code).toBe(2)
  expect(stderr.match(/^tally: /gm)).toHaveLength(3)
  expect(stderr).toContain('--port (TALLY_PORT)')
  expect(stderr).not.toContain('secret')
})
