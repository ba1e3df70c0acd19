/**
 * The executable as people have it, alone in a folder: that everything which the sources are bundled with is in it and
 * works.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { Installation, type InstallationOptions, type Server } from './binary.ts'
import { childrenOf, commandOf, until } from './processes.ts'

interface Entry {
  id: string
  session_id: string
  list_value: number
}

const ENTRIES = '/api/v1/token-entries'
const PASSWORD = 'correct horse battery'

let tally: Installation
let server: Server
let service: string
let read: string

/** A report of a session in October 2026. */
export const reportOf = (session: string) => ({
  agent_harness: 'claude-code',
  agent_name: 'reviewer',
  model: 'claude-sonnet-4-5',
  started_at: '2026-10-20T10:00:00Z',
  ended_at: '2026-10-20T10:20:00Z',
  tokens: { input: 1000, output: 200, cache_read: 5000 },
  summary: `What ${session} did`,
  project: 'acme-web',
  session_id: session,
})

const report = (session: string) => server.call('POST', ENTRIES, { token: service, body: reportOf(session) })

async function listed(query = ''): Promise<Entry[]> {
  const answer = await server.call('GET', `${ENTRIES}?limit=1000${query}`, { token: read })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { data: Entry[] }).data
}

const sessionsOf = (entries: Entry[]) => entries.map(({ session_id }) => session_id).sort()

/** A page, and each of the files that it loads. */
async function expectPage(path: string): Promise<void> {
  const page = await server.call('GET', path)
  expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
  const html = await page.text()
  const files = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, file]) => file!)
  expect(files.some((file) => file.endsWith('.js'))).toBe(true)
  for (const file of files) {
    expect(file).toStartWith('/')
    const asset = await server.call('GET', file)
    const bytes = await asset.bytes()
    expect([file, asset.status, bytes.length > 0 || file.endsWith('.css')]).toEqual([file, 200, true])
  }
}

/** Installs the executable next to files that would change how it runs if they were read. */
export async function installHostile(options: InstallationOptions): Promise<Installation> {
  const installation = await Installation.make(options)
  await Bun.write(
    join(installation.folder, '.env'),
    'TALLY_DATA=/nowhere/from-dotenv\nTALLY_HOST=256.0.0.1\nTALLY_LOG_LEVEL=loud\n',
  )
  await Bun.write(join(installation.folder, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
  await Bun.write(join(installation.folder, 'preload.ts'), "await Bun.write('preloaded', 'yes')\n")
  return installation
}

/** Tests an executable with one server. Call once per file. */
export function testExecutable(options: () => Promise<InstallationOptions>): void {
  beforeAll(async () => {
    tally = await installHostile(await options())
    server = await tally.serve()
    // By the command line, while the server runs on the same database.
    await tally.addUser('ada@example.com', 'admin')
    service = (await tally.createToken('svc', 'ada@example.com')).token
    read = (await tally.createToken('read', 'ada@example.com')).token
  }, 300_000)
  afterAll(async () => {
    await server?.crash()
    await tally?.remove()
  })

  test('it keeps its data in the default folder, regardless of .env and bunfig.toml in it', () => {
    expect(existsSync(join(tally.folder, 'tally-data/tally.db'))).toBe(true)
    expect(existsSync(join(tally.folder, 'preloaded'))).toBe(false)
  })

  test('it reports that it is alive and ready, its version, and the licences of what it is made of', async () => {
    const { version } = packageJson
    expect(await (await server.call('GET', '/health')).json()).toMatchObject({ status: 'ok', version })
    expect(await (await server.call('GET', '/ready')).json()).toMatchObject({ status: 'ready', version })
    expect((await tally.run(['version'])).stdout).toContain(version)
    const { stdout } = await tally.run(['licenses'])
    for (const part of ['\nelysia ', '\nreact ', '\nBun ', 'SIL OPEN FONT LICENSE']) expect(stdout).toContain(part)
  })

  test('the web application, the manual and the description of the API are in it, with every file that they load', async () => {
    for (const path of ['/', '/docs/', '/docs/api']) await expectPage(path)
    const description = await (await server.call('GET', '/api/v1/openapi.json')).json()
    expect(description).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: { [ENTRIES]: { post: {} } } })
  })

  test('it records a report once, values it by the prices in it, and refuses one without the right token', async () => {
    const first = await report('once')
    expect(first.status).toBe(201)
    // 1,000 × 3 + 200 × 15 + 5,000 × 0.30 dollars per million.
    const entry = (await first.json()) as Entry
    expect(entry.list_value).toBe(0.0075)
    const again = await report('once')
    expect([again.status, ((await again.json()) as Entry).id]).toEqual([200, entry.id])
    for (const [token, status] of [
      [undefined, 401],
      [service.slice(0, -1), 401],
      [read, 403],
    ] as const) {
      const body = reportOf('refused')
      expect((await server.call('POST', ENTRIES, { body, ...(token && { token }) })).status).toBe(status)
    }
    expect((await listed()).map(({ id }) => id)).toEqual([entry.id])
  })

  test('it signs a person in by an invitation, which the worker for passwords does, and keeps secrets out of its log', async () => {
    const invite = ['users', 'invite', 'ada@example.com', '--public-url', server.url]
    const { link } = await tally.runJson<{ link: string }>(invite)
    const body = { link_token: new URL(link).hash.slice(1), password: PASSWORD }
    expect((await server.call('POST', '/api/v1/password', { body })).status).toBe(200)
    const signIn = (password: string) =>
      server.call('POST', '/api/v1/session', { body: { email: 'ada@example.com', password } })
    expect((await signIn('wrong')).status).toBe(401)
    const signedIn = await signIn(PASSWORD)
    expect(signedIn.status).toBe(200)
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
    const end = (origin: string) =>
      fetch(`${server.url}/api/v1/session`, { method: 'DELETE', headers: { cookie, origin } })
    expect((await end('https://evil.example')).status).toBe(403)
    expect((await end(server.url)).status).toBe(204)
    const log = await server.log()
    for (const secret of [body.link_token, PASSWORD, cookie.split('=')[1]!, service]) expect(log).not.toContain(secret)
  })

  test('it answers a question that no index answers, which a process of its own for slow reads does', async () => {
    expect((await report('searched')).status).toBe(201)
    expect(sessionsOf(await listed('&q=searched'))).toEqual(['searched'])
    if (process.platform !== 'linux') return
    const commands = childrenOf(server.process.pid).map(commandOf)
    expect(commands).toContainEqual(expect.stringMatching(/\/tally slow-reads $/))
  })

  test('it counts what an agent exports, which the worker for telemetry decodes', async () => {
    const { token } = await tally.createToken('org', 'ada@example.com')
    const attributes = {
      'event.name': 'api_request',
      'session.id': 'exported',
      model: 'claude-sonnet-4-5',
      request_id: 'one',
      input_tokens: '10',
      output_tokens: '5',
    }
    const keyValues = (values: object) =>
      Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))
    const body = {
      resourceLogs: [
        {
          resource: { attributes: keyValues({ 'service.name': 'claude-code' }) },
          scopeLogs: [
            {
              scope: { name: 'com.anthropic.claude_code.events' },
              logRecords: [{ timeUnixNano: `${Date.now()}000000`, attributes: keyValues(attributes) }],
            },
          ],
        },
      ],
    }
    expect((await server.call('POST', '/api/v1/telemetry/v1/logs', { token, body })).status).toBe(200)
    expect(await listed('&session_id=exported')).toMatchObject([{ tokens: { input: 10, output: 5 } }])
  })

  test('it bills a month, as a PDF that a worker renders with the fonts in it', async () => {
    const { token } = await tally.createToken('svc', 'ada@example.com', ['--allow', 'bills'])
    const body = { month: '2026-10', project: 'acme-web', currency: 'USD' }
    const sent = await server.call('POST', '/api/v1/bills', { token, body })
    expect([sent.status, await sent.json()]).toEqual([201, expect.objectContaining({ number: '2026-0001' })])
    const pdf = await server.call('GET', `${sent.headers.get('location')}/pdf`, { token: read })
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    const bytes = Buffer.from(await pdf.arrayBuffer())
    expect([bytes.subarray(0, 5).toString(), bytes.includes('/FontFile')]).toEqual(['%PDF-', true])
  })

  test('it refuses a token from the next call on after the command line has revoked it', async () => {
    const { id, token } = await tally.createToken('svc', 'ada@example.com')
    expect((await server.call('GET', '/api/v1/me', { token })).status).toBe(200)
    expect((await tally.run(['tokens', 'revoke', id, '--yes'])).code).toBe(0)
    expect((await server.call('GET', '/api/v1/me', { token })).status).toBe(401)
  })

  test('it moves its log into the database while it runs, which the worker for checkpoints does', async () => {
    expect((await report('checkpointed')).status).toBe(201)
    const database = join(tally.folder, 'tally-data/tally.db')
    expect(await until(() => readFileSync(database).includes('What checkpointed did'))).toBe(true)
  })

  test('after kill -9 in the middle of a load every acknowledged entry is there, and once', async () => {
    const sent: string[] = []
    const acknowledged: string[] = []
    let isKilled = false
    async function client(name: string): Promise<void> {
      for (let number = 0; !isKilled; number++) {
        const session = `${name}-${number}`
        sent.push(session)
        const answer = await report(session).catch(() => undefined)
        if (answer?.ok) acknowledged.push(session)
      }
    }
    const clients = Array.from({ length: 16 }, (_, index) => client(`client-${index}`))
    expect(await until(() => acknowledged.length >= 100)).toBe(true)
    isKilled = true
    await server.crash()
    await Promise.all(clients)

    server = await tally.serve()
    const ofLoad = async () => sessionsOf(await listed()).filter((session) => session.startsWith('client-'))
    const kept = await ofLoad()
    expect(new Set(kept).size).toBe(kept.length)
    expect(acknowledged.filter((session) => !kept.includes(session))).toEqual([])
    // What clients do that got no answer: they report again, and nothing is doubled by it.
    await Promise.all(sent.map(report))
    expect(await ofLoad()).toEqual(sent.toSorted())
  })

  test('it backs up its database, and its database and the backup are intact', async () => {
    expect((await tally.runJson<{ entries: number }>(['backup', 'copy.db'])).entries).toBe((await listed()).length)
    for (const command of [['verify'], ['backup', 'verify', 'copy.db']]) {
      const { code, stdout } = await tally.run(command)
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining('intact, and its bills and totals match its entries.'),
      ])
    }
  })

  test('SIGTERM lets it finish what it accepted and end with 0, also while a connection stays open', async () => {
    const before = (await listed()).length
    const port = Number(new URL(server.url).port)
    const idle = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    const answers = Array.from({ length: 20 }, async (_, number) => (await report(`last-${number}`)).status)
    // The first answer shows that the others are on their way as well.
    await Promise.race(answers)
    expect((await server.stop()).code).toBe(0)
    idle.end()
    const statuses = (await Promise.allSettled(answers)).map((answer) => answer.status === 'fulfilled' && answer.value)
    const accepted = statuses.filter((status) => status === 201).length

    const { data } = await tally.runJson<{ data: unknown[] }>(['entries', 'list', '--limit', '1000'])
    expect(data.length).toBeGreaterThanOrEqual(before + accepted)
  })
}
