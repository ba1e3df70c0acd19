import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { startMailServer } from '../support/mail-server.ts'

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

async function examine(env: Record<string, string> = {}): Promise<{ code: number; of: (what: string) => Finding }> {
  const { code, stdout } = await tally.run(['doctor', '--json'], { env })
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { code, of: (what) => findings.find((finding) => finding.what === what)! }
}

test('finds no issues on a well-configured server', async () => {
  await tally.addUser()
  const server = await tally.serve()
  await tally.done(['backup'])
  const { code, of } = await examine({ TALLY_PORT: new URL(server.url).port })
  expect(code).toBe(0)
  for (const what of ['files', 'privacy', 'disk', 'log', 'server', 'people', 'mail', 'reports']) {
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
