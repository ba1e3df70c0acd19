import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, open, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { sampleOptions } from '../../scripts/release/installed.ts'
import { checkRecordedTimes } from '../../src/cli/doctor-checks.ts'
import { CommandLine } from '../support/command-line.ts'
import { startMailServer } from '../support/mail-server.ts'
import { reportBody } from '../support/reports.ts'

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
})
afterEach(() => tally.remove())

interface Finding {
  what: string
  level: string
  message: string
  advice: string | null
}

async function examine(env: Record<string, string> = {}, args: string[] = []) {
  const { code, stdout } = await tally.run(['doctor', '--json', ...args], { env })
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { code, findings, of: (what: string) => findings.find((finding) => finding.what === what)! }
}

test('finds no issues on a well-configured server', async () => {
  await tally.addUser()
  const server = await tally.serve()
  await tally.done(['backup'])
  const { code, of } = await examine({ TALLY_PORT: new URL(server.url).port })
  expect(code).toBe(0)
  for (const what of ['files', 'privacy', 'disk', 'log', 'server', 'jobs', 'people', 'mail', 'reports']) {
    expect([what, of(what).level, of(what).advice]).toEqual([what, 'ok', null])
  }
  // On the same disk it is lost together with what it is a copy of.
  expect(of('backups')).toMatchObject({ level: 'warning', advice: expect.stringContaining('TALLY_BACKUP_DIR') })
})

test('reports each issue with advice', async () => {
  await tally.addUser()
  await chmod(tally.dataDir, 0o755)
  const { code, of } = await examine({
    TALLY_PORT: '1',
    TALLY_HOST: '0.0.0.0',
    TALLY_SMTP_URL: 'smtp://127.0.0.1:1',
  })
  expect(code).toBe(1)
  expect(of('server')).toMatchObject({ level: 'error', advice: expect.stringContaining('tally serve') })
  expect(of('privacy')).toMatchObject({
    level: 'warning',
    message: expect.stringContaining(tally.dataDir),
    advice: expect.stringContaining('tally doctor --fix'),
  })
  expect(of('encryption')).toMatchObject({ level: 'warning' })
  expect(of('mail')).toMatchObject({ level: 'error', message: expect.stringContaining('ECONNREFUSED') })
  expect(of('backups')).toMatchObject({ level: 'warning', message: 'no backups' })
})

test('reports a public URL that is not set, does not respond, or differs between option and setting', async () => {
  await tally.addUser()
  const server = await tally.serve()
  // Without an option that names its port.
  const alone = await examine()
  expect(alone.of('server')).toMatchObject({ level: 'ok', message: `${server.url} is ready` })
  expect(alone.of('public URL')).toMatchObject({ level: 'ok', message: expect.stringContaining('not set') })
  const open = await examine({ TALLY_HOST: '0.0.0.0', TALLY_PORT: new URL(server.url).port })
  expect(open.of('public URL')).toMatchObject({
    level: 'warning',
    advice: expect.stringContaining('tally settings set --public-url'),
  })
  await tally.done(['settings', 'set', '--public-url', 'http://127.0.0.1:1'])
  const { code, of } = await examine()
  expect([code, of('public URL').level]).toEqual([1, 'error'])
  expect(of('public URL').message).toContain('http://127.0.0.1:1 does not respond')
  expect((await examine({ TALLY_PUBLIC_URL: server.url })).of('public URL')).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('the setting is http://127.0.0.1:1'),
  })
})

test('signs in at the mail server without sending anything, and keeps the password to itself', async () => {
  await tally.addUser()
  const mails = await startMailServer({ password: 'right' })
  try {
    const url = (password: string) => `smtp://ada:${password}@127.0.0.1:${mails.address.port}`
    expect((await examine({ TALLY_SMTP_URL: url('right') })).of('mail').level).toBe('ok')
    const wrong = (await examine({ TALLY_SMTP_URL: url('hunter2') })).of('mail')
    expect(wrong).toMatchObject({ level: 'error', message: expect.stringContaining('Authentication failed') })
    expect(JSON.stringify(wrong)).not.toContain('hunter2')
    expect(mails.letters).toEqual([])
  } finally {
    await mails.close()
  }
})

test('reports a missing database, and does not create it', async () => {
  const { code, of } = await examine()
  expect(code).toBe(1)
  expect(of('database')).toMatchObject({ level: 'error', advice: expect.stringContaining('--data') })
  expect(await Bun.file(join(tally.dataDir, 'tally.db')).exists()).toBe(false)
})

test('names the jobs of the server that fail, and those that are late', async () => {
  await tally.addUser()
  let failures = 2
  const metrics = () =>
    [
      ...['totals', 'valuation', 'erasure'].map((name) => `tally_job_running{name="${name}"} 0`),
      `tally_job_consecutive_failures{name="totals"} ${failures}`,
      'tally_job_consecutive_failures{name="valuation"} 0',
      `tally_job_late{name="totals"} ${Number(failures > 2)}`,
      `tally_job_late{name="erasure"} ${Number(failures > 2)}`,
    ].join('\n')
  let answer = () => new Response(metrics())
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => (url.endsWith('/metrics') ? answer() : Response.json({ status: 'ready' })),
  })
  try {
    const jobs = async () => {
      const { findings } = await examine({ TALLY_PORT: String(server.port) })
      return findings.filter(({ what }) => what === 'jobs')
    }
    expect(await jobs()).toMatchObject([{ level: 'ok', message: 'all 3 jobs of the server work' }])
    failures = 3
    expect(await jobs()).toMatchObject([
      { level: 'warning', message: 'totals fails again and again', advice: expect.stringContaining('"job":"totals"') },
      { level: 'warning', message: 'erasure is late or does not finish' },
    ])
    answer = () => new Response('', { status: 500 })
    expect(await jobs()).toMatchObject([{ level: 'warning', message: 'the server cannot say how its jobs do' }])
    // Behind a proxy on this machine.
    answer = () => new Response('', { status: 401 })
    expect(await jobs()).toEqual([])
  } finally {
    await server.stop(true)
  }
})

test('reports a port where something else answers', async () => {
  await tally.addUser()
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
  try {
    const { of } = await examine({ TALLY_PORT: String(other.port) })
    expect(of('server')).toMatchObject({ level: 'error', message: expect.stringContaining('not a response of Tally') })
  } finally {
    await other.stop(true)
  }
})

test('makes files private that others can read, and leaves folders that hold more than them', async () => {
  await tally.addUser()
  const file = join(tally.dataDir, 'tally.db')
  await chmod(tally.dataDir, 0o777)
  await chmod(file, 0o666)
  await tally.run(['doctor', '--fix'])
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
  expect([await modeOf(tally.dataDir), await modeOf(file)]).toEqual(['700', '600'])
  await chmod(tally.dataDir, 0o755)
  await Bun.write(join(tally.dataDir, 'notes.txt'), 'of somebody else')
  await tally.run(['doctor', '--fix'])
  expect(await modeOf(tally.dataDir)).toBe('755')
})

describe('with the file of variables of a service', () => {
  test('uses the options in the file of the package, after its comments', async () => {
    await tally.addUser()
    const file = join(tally.folder, 'tally.env')
    await Bun.write(file, `${sampleOptions()}TALLY_HOST=0.0.0.0\nTALLY_SMTP_FROM="bills@example.com"\n`)
    const { of } = await examine({}, ['--env-file', file])
    expect(of('options')).toBeUndefined()
    expect(of('encryption')).toMatchObject({ level: 'warning', message: expect.stringContaining('0.0.0.0') })
  })

  test('names credentials that it cannot read, and does everything else', async () => {
    await tally.addUser()
    const file = join(tally.folder, 'tally.env')
    const credential = '/run/credentials/tally.service/smtp-url'
    await Bun.write(file, `TALLY_SMTP_URL_FILE=${credential}\nTALLY_BACKUP_EVERY=1s\nTALLY_PORT=1\n`)
    const { code, findings, of } = await examine({}, ['--env-file', file])
    expect(code).toBe(1)
    expect(findings.filter(({ what }) => what === 'options')).toMatchObject([
      { message: expect.stringContaining(credential), advice: expect.stringContaining('while the service runs') },
      { message: expect.stringContaining('TALLY_BACKUP_EVERY') },
    ])
    for (const what of ['files', 'clock', 'backups', 'server', 'people', 'prices', 'erasure']) {
      expect([what, of(what)?.advice !== undefined]).toEqual([what, true])
    }
  })

  test('refuses a file that it cannot read, as every command does', async () => {
    const file = join(tally.folder, 'none.env')
    for (const command of [['doctor'], ['users', 'list'], ['backup', 'list']]) {
      const { code, stderr } = await tally.run([...command, '--env-file', file])
      expect([code, stderr]).toEqual([2, `tally: --env-file: ${file} cannot be read (ENOENT). Check the path.\n`])
    }
  })

  test('any command uses them, unless the environment or a flag says otherwise', async () => {
    await tally.addUser()
    const file = join(tally.folder, 'tally.env')
    await Bun.write(file, `# where it is\nTALLY_DATA='${join(tally.folder, 'elsewhere')}'\n`)
    const list = ['users', 'list', '--env-file', file]
    expect((await tally.run(list)).stderr).toContain('elsewhere')
    expect((await tally.run(list, { env: { TALLY_DATA: tally.dataDir } })).stdout).toContain('ada@example.com')
    expect((await tally.run([...list, '--data', tally.dataDir])).stdout).toContain('ada@example.com')
  })
})

describe('of a database that cannot be used', () => {
  /** What it looks at although the database is no help. */
  const REST = ['privacy', 'disk', 'log', 'clock', 'backups', 'server', 'public URL', 'mail']

  async function check(what: string, advice: string) {
    const { code, of } = await examine({ TALLY_PORT: '1' })
    expect(code).toBe(1)
    expect(of(what)).toMatchObject({ level: 'error', advice: expect.stringContaining(advice) })
    expect(REST.filter((each) => of(each) === undefined)).toEqual([])
  }

  const file = () => join(tally.dataDir, 'tally.db')

  async function overwrite(from: number, bytes: Uint8Array): Promise<void> {
    const handle = await open(file(), 'r+')
    await handle.write(bytes, 0, bytes.length, from)
    await handle.close()
  }

  beforeEach(async () => {
    await tally.addUser()
  })

  test('whose header is damaged', async () => {
    await overwrite(0, new Uint8Array(100))
    await check('database', 'tally restore')
  })

  test('whose pages are damaged', async () => {
    const { size } = await stat(file())
    await overwrite(4096, new Uint8Array(size - 4096).fill(0xa5))
    await check('database', 'tally restore')
  })

  test('that is cut off', async () => {
    await truncate(file(), 8192)
    await check('database', 'tally restore')
  })

  test('that is another file', async () => {
    await Bun.write(file(), 'This is a letter to somebody, which is longer than the header of a database. '.repeat(100))
    await check('database', 'tally restore')
  })

  test('that another process locks', async () => {
    const other = new Database(file())
    other.run('PRAGMA locking_mode = EXCLUSIVE')
    other.run('BEGIN EXCLUSIVE')
    try {
      await check('database', 'Find the process that locks it')
    } finally {
      other.close()
    }
  })

  test('that is empty, and does not fill it', async () => {
    await truncate(file(), 0)
    const { code, of } = await examine({ TALLY_PORT: '1' })
    expect([code, of('database').message]).toEqual([1, `${file()} is empty`])
    expect((await stat(file())).size).toBe(0)
  })

  test('next to the log of another one, as other commands say as well', async () => {
    const before = await Bun.file(file()).bytes()
    const connection = new Database(file())
    connection.run('PRAGMA wal_autocheckpoint = 0')
    const { user_version } = connection.query<{ user_version: number }, []>('PRAGMA user_version').get()!
    connection.run(`PRAGMA user_version = ${(user_version + 5) | 0}`)
    const log = await Bun.file(`${file()}-wal`).bytes()
    connection.close(true)
    await Bun.write(file(), before)
    await Bun.write(`${file()}-wal`, log)
    const advice = 'tally.db-wal.other'
    await check('database', advice)
    const commands = [
      ['sql', 'SELECT 1'],
      ['backup'],
      ['verify'],
      ['users', 'list'],
      ['compact'],
      ['demo', '--remove', '--yes'],
    ]
    for (const command of commands) {
      const { code, stderr } = await tally.run(command)
      expect([command, code, stderr.includes(advice)]).toEqual([command, 1, true])
    }
    expect(Buffer.compare(await Bun.file(file()).bytes(), before)).toBe(0)
  })

  test('in a PostgreSQL that does not respond', async () => {
    const url = 'postgres://tally@127.0.0.1:1/tally'
    const { code, findings, of } = await examine({ TALLY_DATABASE_URL: url, TALLY_PORT: '1' })
    expect(code).toBe(1)
    expect(findings.filter(({ what }) => what === 'database')).toMatchObject([
      { level: 'ok' },
      { level: 'error', advice: expect.stringContaining('Check that PostgreSQL runs') },
    ])
    for (const what of ['clock', 'backups', 'server', 'mail']) expect(of(what)).toBeDefined()
  })
})

test('warns of prices in use that are older than 90 days, and of a clock behind the newest entries', async () => {
  await tally.addUser()
  const { token } = await tally.createToken()
  const server = await tally.serve()
  const now = Date.now()
  const answer = await fetch(`${server.url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(
      reportBody({
        started_at: new Date(now - 60_000).toISOString(),
        ended_at: new Date(now - 30_000).toISOString(),
      }),
    ),
  })
  expect(answer.status).toBe(201)
  await server.stop()
  const { of } = await examine()
  expect([of('prices').level, of('clock').level]).not.toContain('error')
  const database = new Database(join(tally.dataDir, 'tally.db'))
  database.run('UPDATE prices SET as_of = 0')
  database.run(`UPDATE entries SET created_at = ${now + 3_600_000}`)
  database.close()
  const { findings, of: then } = await examine()
  expect(then('prices')).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('older than 90 days: gpt-5-codex (1970-01-01)'),
    advice: expect.stringContaining('tally prices update'),
  })
  expect(findings.filter(({ what, level }) => what === 'clock' && level === 'error')).toMatchObject([
    { message: expect.stringContaining('the clock is behind') },
  ])
})

test('compares the clock with that of the database server', async () => {
  const now = Date.now()
  const entries = { listing: { lastRecordedAt: async () => now } }
  const found = (databaseAt: number | null) =>
    checkRecordedTimes({ entries, databaseTime: async () => databaseAt } as never, now)
  expect(await found(null)).toEqual([])
  expect(await found(Date.now())).toEqual([])
  expect(await found(Date.now() - 3_600_000)).toMatchObject([
    { what: 'clock', level: 'error', message: expect.stringMatching(/^the clock is 3,600 seconds ahead of that/) },
  ])
  expect(await found(Date.now() + 3_600_000)).toMatchObject([{ message: expect.stringContaining('seconds behind') }])
})

test('a database of another program is neither queried nor backed up', async () => {
  await mkdir(tally.dataDir, { recursive: true })
  const file = join(tally.dataDir, 'tally.db')
  const foreign = new Database(file)
  foreign.run('CREATE TABLE letters (text TEXT)')
  foreign.close(true)
  for (const command of [['sql', 'SELECT 1'], ['backup'], ['users', 'list']]) {
    const { code, stderr } = await tally.run(command)
    expect([command, code, stderr]).toEqual([
      command,
      1,
      'tally: tally-data/tally.db is a SQLite database of another program. Choose another folder with --data.\n',
    ])
  }
})
