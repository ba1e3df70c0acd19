import { Database as Connection } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BackedUpDatabase } from '../support/backups.ts'
import { CommandLine } from '../support/command-line.ts'
import { canMount, onSmallDisk } from '../support/small-disk.ts'

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
  await tally.addUser()
})
afterEach(() => tally.remove())

const file = (name: string) => join(tally.folder, name)

const entry = (at: number) => ({
  agent_harness: 'curl',
  agent_name: 'backups',
  model: 'claude-sonnet-4-5',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T10:30:00Z',
  tokens: { input: at, output: 1 },
})

/** Reports until told to stop; answers how many were acknowledged. */
function reportOn(url: string, token: string) {
  let isWanted = true
  let acknowledged = 0
  const running = (async () => {
    while (isWanted) {
      const { status } = await fetch(`${url}/api/v1/token-entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(entry(acknowledged)),
      })
      if (status === 201) acknowledged += 1
    }
    return acknowledged
  })()
  return {
    sofar: () => acknowledged,
    stop() {
      isWanted = false
      return running
    },
  }
}

/** Sums that a restored database must have as well. */
function sumsOf(path: string): unknown {
  const connection = new Connection(path, { readonly: true })
  const sums = connection
    .query('SELECT count(*) AS entries, sum(input) AS input, sum(list_value) AS value FROM entries')
    .get()
  connection.close()
  return sums
}

describe('tally backup', () => {
  test('copies what is acknowledged while a server writes, and the copy restored has equal totals', async () => {
    const { token } = await tally.createToken()
    const server = await tally.serve()
    const reporting = reportOn(server.url, token)
    while (reporting.sofar() < 50) await Bun.sleep(5)
    const before = reporting.sofar()
    const backup = await tally.json(['backup', file('copy.db')])
    await reporting.stop()
    await server.stop()
    expect(backup).toMatchObject({ file: file('copy.db') })
    expect(backup.entries).toBeGreaterThanOrEqual(before)
    expect((await stat(file('copy.db'))).mode & 0o777).toBe(0o600)
    expect(await readdir(tally.folder)).not.toContain('copy.db.unfinished')

    await tally.done(['restore', file('copy.db'), '--data', file('other')])
    expect(sumsOf(file('other/tally.db'))).toEqual(sumsOf(file('copy.db')))
    await tally.done(['verify', '--data', file('other')])
    const { data } = await tally.json(['entries', 'list', '--limit', '1', '--data', file('other')])
    expect(data).toHaveLength(1)
  })

  test('names a file after the moment in a folder, and its own folder where none is named', async () => {
    await mkdir(file('kept'))
    expect((await tally.json(['backup', file('kept')])).file).toMatch(/kept\/tally-\d{8}T\d{6}Z-[\da-f]{8}\.db$/)
    expect((await tally.json(['backup'])).file).toMatch(/tally-data\/backups\/tally-\d{8}T\d{6}Z-[\da-f]{8}\.db$/)
  })

  test('never replaces a file', async () => {
    await Bun.write(file('precious'), 'mine')
    const { code, stderr } = await tally.run(['backup', file('precious')])
    expect([code, stderr]).toEqual([1, expect.stringContaining('already exists')])
    expect(await Bun.file(file('precious')).text()).toBe('mine')
  })

  test('reports which folder is missing, and leaves nothing', async () => {
    const { code, stderr } = await tally.run(['backup', file('nowhere/copy.db')])
    expect([code, stderr]).toEqual([1, expect.stringContaining('nowhere')])
  })

  test('refuses a damaged database, and leaves no copy that looks like one', async () => {
    const connection = new Connection(join(tally.dataDir, 'tally.db'))
    connection.run('PRAGMA foreign_keys = OFF')
    connection.run('INSERT INTO project_leads (project_id, user_id) VALUES (404, 405)')
    connection.close()
    const { code, stderr } = await tally.run(['backup', file('copy.db')])
    expect([code, stderr]).toEqual([1, expect.stringContaining('is corrupt: project_leads refers to missing rows of')])
    expect((await readdir(tally.folder)).filter((name) => name.startsWith('copy'))).toEqual([])
  })

  test('names the tool of PostgreSQL where the database is there', async () => {
    const { stderr } = await tally.run(['backup', '--database-url', 'postgres://127.0.0.1:1/none'])
    expect(stderr).toContain('pg_dump')
  })
})

describe('tally compact', () => {
  test('shrinks the database of a server that goes on recording, and still notices another file in its place', async () => {
    const { token } = await tally.createToken()
    const connection = new Connection(join(tally.dataDir, 'tally.db'))
    const text = 'x'.repeat(1_000_000)
    for (let at = 0; at < 20; at += 1) connection.run('INSERT INTO names (text) VALUES (?)', [`${at} ${text}`])
    connection.run('DELETE FROM names WHERE length(text) > 1000000')
    connection.close()
    await tally.done(['backup', file('copy.db')])
    const before = (await stat(join(tally.dataDir, 'tally.db'))).size
    const server = await tally.serve()
    const reporting = reportOn(server.url, token)
    for (const reports of [20, 60]) {
      while (reporting.sofar() < reports) await Bun.sleep(5)
      expect((await tally.run(['compact'])).stderr).not.toContain('Error')
    }
    expect((await stat(join(tally.dataDir, 'tally.db'))).size).toBeLessThan(before - 10_000_000)
    // The server looks at the file several times a second.
    await Bun.sleep(1_000)
    const until = reporting.sofar() + 20
    while (reporting.sofar() < until) await Bun.sleep(5)
    await reporting.stop()
    await tally.done(['verify'])
    await Bun.write(join(tally.dataDir, 'tally.db'), Bun.file(file('copy.db')))
    // A query that reads half of it is the first to notice sometimes.
    expect(await server.untilPrinted(/was overwritten while Tally was using it|can no longer be used/)).toBeTruthy()
    expect(await server.process.exited).toBe(70)
  })
})

describe('tally restore', () => {
  test('refuses while a server uses the database, which goes on as before', async () => {
    await tally.done(['backup', file('copy.db')])
    const server = await tally.serve()
    const { code, stderr } = await tally.run(['restore', file('copy.db'), '--replace', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('Stop the server')])
    expect((await fetch(`${server.url}/ready`)).status).toBe(200)
    const { token } = await tally.createToken()
    const reporting = reportOn(server.url, token)
    while (reporting.sofar() < 3) await Bun.sleep(5)
    const acknowledged = await reporting.stop()
    await server.stop()
    expect(sumsOf(join(tally.dataDir, 'tally.db'))).toMatchObject({ entries: acknowledged })
  })

  test('keeps the database that was there beside, and only when told to replace it', async () => {
    await tally.done(['backup', file('copy.db')])
    await tally.addUser('eve@example.com', 'member')
    const refused = await tally.run(['restore', file('copy.db')])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--replace')])
    await tally.done(['restore', file('copy.db'), '--replace', '--yes'])
    const emails = async (args: string[] = []) =>
      (await tally.json(['users', 'list', ...args])).data.map(({ email }: { email: string }) => email)
    expect(await emails()).toEqual(['ada@example.com'])
    const kept = (await readdir(tally.dataDir)).find((name) => name.includes('.replaced-'))!
    await tally.done(['restore', join(tally.dataDir, kept), '--data', file('kept')])
    expect(await emails(['--data', file('kept')])).toContain('eve@example.com')
  })

  test('refuses an older backup under the name of a newer one, and one that somebody copied, until it has another name', async () => {
    const database = BackedUpDatabase.at(join(tally.dataDir, 'tally.db'))
    const { timeline } = database.identity
    const [old, made] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'].map((day) =>
      database.backUp(tally.folder, Date.parse(day)),
    )
    await rename(file(old!), file(made!))
    const copied = `tally-20260103T000000Z-${timeline}.db`
    await Bun.write(file(copied), Bun.file(database.file))
    for (const [name, says] of [
      [made!, 'it was made at 2026-01-01T00:00:00Z'],
      [copied, 'it is a copy that `tally backup` did not make'],
    ] as const) {
      for (const command of [
        ['restore', file(name), '--data', file('to')],
        ['backup', 'verify', file(name)],
      ]) {
        const { code, stderr } = await tally.run(command)
        expect([code, stderr]).toEqual([1, expect.stringContaining(says)])
      }
      expect(existsSync(file('to'))).toBe(false)
      await rename(file(name), file(`renamed-${name}`))
      await tally.done(['restore', file(`renamed-${name}`), '--data', file(`to-${name}`)])
    }
  })

  test('begins a timeline, so that the restored database removes nothing of the original', async () => {
    const database = BackedUpDatabase.at(join(tally.dataDir, 'tally.db'))
    await mkdir(join(tally.dataDir, 'backups'))
    const before = database.backUp(join(tally.dataDir, 'backups'), Date.parse('2026-01-01T00:00:00Z'))
    const { database: id, timeline } = database.identity
    await tally.done(['restore', 'latest', '--replace', '--yes'])
    expect(database.identity).toMatchObject({ database: id, backedUpAt: null })
    expect(database.identity.timeline).not.toBe(timeline)
    const server = await tally.serve(['--backup-every', '24h', '--backup-keep', '1'])
    await server.untilPrinted(/created a backup/)
    await server.stop()
    expect(await readdir(join(tally.dataDir, 'backups'))).toHaveLength(2)
    const { data } = await tally.json(['backup', 'list'])
    expect(data.map(({ name, origin }: Record<string, string>) => [origin, name === before])).toEqual([
      ['own', false],
      ['another_timeline', true],
    ])
  })

  test('by hand begins a timeline as well, when the server is started', async () => {
    await mkdir(join(tally.dataDir, 'backups'))
    const database = BackedUpDatabase.at(join(tally.dataDir, 'tally.db'))
    const { timeline } = database.identity
    const name = database.backUp(join(tally.dataDir, 'backups'), Date.now())
    await Bun.write(database.file, Bun.file(join(tally.dataDir, 'backups', name)))
    expect(database.identity).toMatchObject({ timeline, backedUpAt: expect.any(Number) })
    const server = await tally.serve(['--backup-every', '24h'])
    await server.untilPrinted(/created a backup/)
    await server.stop()
    expect(database.identity.backedUpAt).toBeNull()
    expect(database.identity.timeline).not.toBe(timeline)
  })

  test('refuses what is no backup, another program’s, a newer Tally’s or cut off', async () => {
    await Bun.write(file('text'), 'no database at all, but long enough to be looked at '.repeat(20))
    const other = new Connection(file('other.db'))
    other.run('CREATE TABLE songs (name TEXT)')
    other.close()
    await tally.done(['backup', file('newer.db')])
    const newer = new Connection(file('newer.db'))
    newer.run("INSERT INTO migrations VALUES (9999, 'from the future', 0)")
    newer.close()
    await tally.done(['backup', file('cut.db')])
    const whole = await Bun.file(file('cut.db')).bytes()
    await Bun.write(file('cut.db'), whole.slice(0, whole.length / 2))
    for (const [name, says] of [
      ['text', 'not a SQLite database'],
      ['other.db', 'of another program'],
      ['newer.db', 'Use the newer version'],
      ['cut.db', 'is incomplete'],
      ['missing.db', 'cannot be read'],
    ] as const) {
      const { code, stderr } = await tally.run(['restore', file(name), '--data', file(`to-${name}`)])
      expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(says)])
      expect(await Bun.file(file(`to-${name}/tally.db`)).exists()).toBe(false)
    }
  })
})

test.skipIf(!canMount)('a disk that is too small is named, and is no bug of Tally', async () => {
  const disk = file('disk')
  await mkdir(disk)
  await tally.done(['backup', file('large.db')])
  const filling = ['sh', '-c', 'head -c 2000000 /dev/zero >"$0/filling" && exec "$@"', disk]
  const restore = [await tally.executable(), 'restore', file('large.db'), '--data', join(disk, 'restored')]
  const child = Bun.spawn(onSmallDisk(disk, [...filling, ...restore]), { env: tally.env, stderr: 'pipe' })
  const text = await new Response(child.stderr).text()
  expect(await child.exited).toBe(1)
  expect(text).toMatch(
    /^tally: Not enough disk space: .* has \d+ MB free, and the copy may need \d+ MB\. Free some[^\n]*\n$/,
  )
})

describe('a server with a schedule', () => {
  test('makes a backup when none is there, keeps as many as it is told, and leaves other files alone', async () => {
    await mkdir(file('kept'))
    const database = BackedUpDatabase.at(join(tally.dataDir, 'tally.db'))
    const old = [1, 2].map((day) => database.backUp(file('kept'), Date.parse(`2026-01-0${day}T00:00:00Z`)))
    const foreign = ['notes.txt', 'tally-20260101T000000Z.db', 'tally-20260102T000000Z-01234567.db']
    for (const name of foreign) await Bun.write(file(`kept/${name}`), '')
    const server = await tally.serve(['--backup-every', '24h', '--backup-keep', '2', '--backup-dir', file('kept')])
    await server.untilPrinted(/created a backup/)
    await server.stop()
    const names = (await readdir(file('kept'))).filter((name) => !foreign.includes(name)).sort()
    expect(names).toEqual([old[1]!, expect.stringMatching(/^tally-\d{8}T\d{6}Z-[\da-f]{8}\.db$/)])
    expect(await readdir(file('kept'))).toEqual(expect.arrayContaining(foreign))
    await tally.done(['restore', file(`kept/${names[1]}`), '--data', file('restored')])
  })

  test('shares its folder with that of another database, and each has its own backups', async () => {
    const other = await CommandLine.make({ engine: 'sqlite' })
    try {
      await other.addUser('eve@example.com', 'admin')
      const databases = { tally, other }
      BackedUpDatabase.at(join(other.dataDir, 'tally.db')).beginAnew()
      const options = ['--backup-every', '24h', '--backup-keep', '1', '--backup-dir', file('shared')]
      for (const each of [tally, other, tally, other]) {
        const server = await each.serve(options)
        const { timeline } = BackedUpDatabase.at(join(each.dataDir, 'tally.db')).identity
        while (!(await readdir(file('shared'))).some((name) => name.endsWith(`${timeline}.db`))) await Bun.sleep(20)
        await server.stop()
      }
      expect(await readdir(file('shared'))).toHaveLength(2)
      for (const [name, email] of [
        ['tally', 'ada@example.com'],
        ['other', 'eve@example.com'],
      ] as const) {
        const each = databases[name]
        const { stdout } = await each.run(['doctor', '--json', '--backup-dir', file('shared')])
        const { data } = await each.json(['backup', 'list', file('shared')])
        const own = data.find(({ origin }: { origin: string }) => origin === 'own')
        expect(data.map(({ origin }: { origin: string }) => origin).sort()).toEqual(['another_database', 'own'])
        expect(JSON.parse(stdout).findings).toContainEqual(
          expect.objectContaining({
            what: 'backups',
            message: expect.stringMatching(
              new RegExp(
                `^latest backup ${own.made_at.slice(0, 19)}.*; not counted and never removed: 1 of another database`,
              ),
            ),
          }),
        )
        await each.done(['restore', 'latest', '--replace', '--yes', '--backup-dir', file('shared')])
        expect((await each.json(['users', 'list'])).data).toEqual([expect.objectContaining({ email })])
      }
      // On a machine without a database, nothing says which one is meant.
      const { code, stderr } = await tally.run([
        ...['restore', 'latest', '--data', file('new'), '--backup-dir', file('shared')],
      ])
      expect([code, stderr]).toEqual([1, expect.stringContaining('There are backups of 2 databases. Add --database')])
      const id = BackedUpDatabase.at(join(other.dataDir, 'tally.db')).identity.database
      await tally.done([
        ...['restore', 'latest', '--data', file('new'), '--backup-dir', file('shared'), '--database', id],
      ])
      expect((await tally.json(['users', 'list', '--data', file('new')])).data).toEqual([
        expect.objectContaining({ email: 'eve@example.com' }),
      ])
    } finally {
      await other.remove()
    }
  })

  test('makes none while the newest is young enough, and goes on where one cannot be made', async () => {
    await tally.done(['backup'])
    const young = await tally.serve(['--backup-every', '24h'])
    await young.stop()
    expect(young.output()).not.toContain('created a backup')
    // Root may write anywhere, so a file stands where the folder should be.
    await Bun.write(file('blocked'), '')
    const { code, stderr } = await tally.run([
      'serve',
      '--port',
      '0',
      '--backup-every',
      '1h',
      '--backup-dir',
      file('blocked'),
    ])
    expect([code, stderr]).toEqual([1, expect.stringContaining('blocked')])
  })

  test('refuses a schedule that it cannot keep', async () => {
    const { code, stderr } = await tally.run(['serve', '--backup-every', 'daily', '--backup-keep', '0'])
    expect(code).toBe(2)
    expect(stderr).toContain('TALLY_BACKUP_EVERY')
    expect(stderr).toContain('TALLY_BACKUP_KEEP')
  })
})

describe('tally sql', () => {
  test('answers a question as a table and as JSON, exact beyond 2^53', async () => {
    const { stdout } = await tally.done(['sql', 'SELECT email, 9007199254740993 AS large, NULL AS empty FROM users'])
    expect(stdout).toMatch(/^email +large +empty\n/)
    expect(stdout).toContain('9007199254740993')
    expect(await tally.json(['sql', '--read-only', 'SELECT 9007199254740993 AS large, 2 AS two'])).toEqual([
      { large: '9007199254740993', two: 2 },
    ])
  })

  test('does not print the signing key, whatever the query calls its table', async () => {
    for (const query of [
      'SELECT * FROM database_identity',
      'SELECT hex((SELECT d.signing_key FROM main.database_identity AS d))',
      'WITH x AS (SELECT signing_key FROM "database_identity") SELECT length(signing_key) FROM x, backup_timeline',
      '; SELECT * FROM database_identity',
      ' -- a comment\n; SELECT * FROM database_identity',
    ]) {
      const { code, stdout, stderr } = await tally.run(['sql', query])
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/cannot be queried|syntax error/)])
    }
    await tally.done(['sql', 'EXPLAIN SELECT * FROM database_identity'])
    await tally.done(['sql', 'SELECT timeline FROM backup_timeline'])
  })

  test('changes nothing, neither here nor in a file beside', async () => {
    for (const query of [
      'DELETE FROM users',
      "ATTACH 'beside.db' AS beside; CREATE TABLE beside.t (a)",
      'DROP TABLE users',
    ]) {
      await tally.run(['sql', query])
    }
    expect((await tally.json(['users', 'list'])).data).toHaveLength(1)
    expect((await tally.run(['sql', 'DELETE FROM users'])).stderr).toContain('readonly')
    expect((await tally.run(['sql', 'SELEC 1'])).stderr).toContain('syntax error')
  })
})
