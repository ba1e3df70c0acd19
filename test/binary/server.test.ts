/**
 * The executable as people have it, alone in a folder: what the other tests cannot see, because they run the sources.
 * In its folder lie a `.env` and a `bunfig.toml` that would change how it runs if they were read.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Installation, type Server } from '../support/binary.ts'
import { childrenOf, commandOf, isRunning, until } from '../support/processes.ts'

interface Entry {
  id: string
  session_id: string
  tokens: { input: number }
  list_value: number
  agent_manager: { name: string }
}

interface List {
  data: Entry[]
  next_page: string | null
}

const ENTRIES = '/api/v1/token-entries'

const reportOf = (session: string) => ({
  agent_harness: 'claude-code',
  agent_name: 'reviewer',
  model: 'claude-sonnet-4-5',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T10:20:00Z',
  tokens: { input: 1000, output: 200, cache_read: 5000 },
  summary: `What ${session} did`,
  project: 'acme-web',
  session_id: session,
})

async function installHostile(): Promise<Installation> {
  const tally = await Installation.make()
  await Bun.write(
    join(tally.folder, '.env'),
    'TALLY_DATA=/nowhere/from-dotenv\nTALLY_HOST=256.0.0.1\nTALLY_LOG_LEVEL=loud\n',
  )
  await Bun.write(join(tally.folder, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
  await Bun.write(join(tally.folder, 'preload.ts'), "await Bun.write('preloaded', 'yes')\n")
  return tally
}

async function listAll(server: Server, token: string): Promise<Entry[]> {
  const all: Entry[] = []
  for (let page: string | null = ''; page !== null; ) {
    const answer: Response = await server.call('GET', `${ENTRIES}?limit=1000${page && `&page=${page}`}`, { token })
    expect(answer.status).toBe(200)
    const list = (await answer.json()) as List
    all.push(...list.data)
    page = list.next_page
  }
  return all
}

describe('a server in an empty folder', () => {
  let tally: Installation
  let server: Server
  let service: { id: string; token: string }
  let read: { id: string; token: string }

  beforeAll(async () => {
    tally = await installHostile()
    server = await tally.serve()
    // By the command line, while the server runs on the same database.
    await tally.addUser('ada@example.com', 'admin')
    service = await tally.createToken('svc', 'ada@example.com')
    read = await tally.createToken('read', 'ada@example.com')
  })

  afterAll(async () => {
    await server.crash()
    await tally.remove()
  })

  test('keeps its data in the default folder, regardless of .env and bunfig.toml in it', () => {
    expect(existsSync(join(tally.folder, 'tally-data/tally.db'))).toBe(true)
    expect(existsSync(join(tally.folder, 'preloaded'))).toBe(false)
  })

  test('reports that it is alive, that it is ready, and its version', async () => {
    const { version } = await Bun.file(join(import.meta.dir, '../../package.json')).json()
    expect(await (await server.call('GET', '/health')).json()).toMatchObject({ status: 'ok', version })
    expect(await (await server.call('GET', '/ready')).json()).toMatchObject({ status: 'ready', version })
    expect((await tally.run(['version'])).stdout).toContain(version)
  })

  test('carries the licences of what it is made of', async () => {
    const { code, stdout } = await tally.run(['licenses'])
    expect(code).toBe(0)
    for (const part of ['\nelysia ', '\nreact ', '\nBun ', 'SIL OPEN FONT LICENSE']) expect(stdout).toContain(part)
  })

  test('describes itself without a file beside it', async () => {
    const answer = await server.call('GET', '/api/v1/openapi.json')
    expect(answer.status).toBe(200)
    const description = (await answer.json()) as { openapi: string; paths: Record<string, { post?: object }> }
    expect(description.openapi).toStartWith('3.1')
    expect(description.paths[ENTRIES]?.post).toBeDefined()
    const page = await server.call('GET', '/docs/api')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    const sources = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source!)
    expect(sources.some((source) => source.endsWith('.js'))).toBe(true)
    for (const source of sources) {
      expect(source).toStartWith('/')
      const asset = await server.call('GET', source)
      expect(asset.status).toBe(200)
      expect((await asset.bytes()).length).toBeGreaterThan(0)
    }
  })

  test('takes a report once, and a second time without doubling it', async () => {
    const report = reportOf('once')
    const first = await server.call('POST', ENTRIES, { token: service.token, body: report })
    expect(first.status).toBe(201)
    const entry = (await first.json()) as Entry
    // 1,000 × 3 + 200 × 15 + 5,000 × 0.30 dollars per million, from the price table inside.
    expect(entry.list_value).toBe(0.0075)
    const again = await server.call('POST', ENTRIES, { token: service.token, body: report })
    expect(again.status).toBe(200)
    expect(((await again.json()) as Entry).id).toBe(entry.id)
    const answer = await server.call('GET', `${ENTRIES}?session_id=once`, { token: read.token })
    const { data } = (await answer.json()) as List
    expect(data.map(({ id }) => id)).toEqual([entry.id])
  })

  test('refuses a report without a token, with a invalid one, and with the wrong kind', async () => {
    const body = reportOf('refused')
    expect((await server.call('POST', ENTRIES, { body })).status).toBe(401)
    expect((await server.call('POST', ENTRIES, { body, token: service.token.slice(0, -1) })).status).toBe(401)
    expect((await server.call('POST', ENTRIES, { body, token: read.token })).status).toBe(403)
    const invalid = await server.call('POST', ENTRIES, {
      token: service.token,
      body: { ...body, tokens: { input: '5' } },
    })
    expect(invalid.status).toBe(422)
    expect(invalid.headers.get('content-type')).toContain('application/problem+json')
    const answer = await server.call('GET', `${ENTRIES}?session_id=refused`, { token: read.token })
    expect(((await answer.json()) as List).data).toEqual([])
  })

  test('signs a person in by an invitation, refuses what other sites ask, and signs them out', async () => {
    const { link } = await tally.runJson<{ link: string }>([
      'users',
      'invite',
      'ada@example.com',
      '--public-url',
      server.url,
    ])
    expect((await server.call('GET', new URL(link).pathname)).status).toBe(200)
    const body = { link_token: link.split('#')[1], password: 'correct horse battery' }
    expect((await server.call('POST', '/api/v1/password', { body })).status).toBe(200)
    expect((await server.call('POST', '/api/v1/password', { body })).status).toBe(401)

    const credentials = { email: 'ada@example.com', password: body.password }
    expect((await server.call('POST', '/api/v1/session', { body: { ...credentials, password: 'wrong' } })).status).toBe(
      401,
    )
    const signedIn = await server.call('POST', '/api/v1/session', { body: credentials })
    expect(signedIn.status).toBe(200)
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
    const call = async (method: string, path: string, headers: Record<string, string> = {}) =>
      (await fetch(server.url + path, { method, headers: { cookie, ...headers } })).status
    const ours = { origin: server.url }
    expect(await call('GET', '/api/v1/me')).toBe(200)
    expect(await call('GET', ENTRIES)).toBe(200)
    expect(await call('POST', ENTRIES, ours)).toBe(403)
    expect(await call('DELETE', '/api/v1/session')).toBe(403)
    expect(await call('DELETE', '/api/v1/session', { origin: 'https://evil.example' })).toBe(403)
    expect(await call('DELETE', '/api/v1/session', ours)).toBe(204)
    expect(await call('GET', '/api/v1/me')).toBe(401)
    const secrets = [body.link_token!, body.password, cookie.split('=')[1]!]
    const log = await server.log()
    for (const secret of secrets) expect(log).not.toContain(secret)
  })

  test('answers a question that no index answers, which the process for slow reads does', async () => {
    await server.call('POST', ENTRIES, { token: service.token, body: reportOf('searched') })
    const answer = await server.call('GET', `${ENTRIES}?q=searched`, { token: read.token })
    expect(answer.status).toBe(200)
    expect(((await answer.json()) as List).data.map(({ session_id }) => session_id)).toEqual(['searched'])
  })

  test.skipIf(process.platform !== 'linux')(
    'replaces its process for slow reads, and takes it along when it is killed',
    async () => {
      const search = async () => (await server.call('GET', `${ENTRIES}?q=nothing`, { token: read.token })).status
      expect(await search()).toBe(200)
      const [first] = childrenOf(server.process.pid)
      expect(commandOf(first!)).toEndWith('/tally slow-reads ')
      process.kill(first!, 'SIGKILL')
      expect(await until(() => !isRunning(first!))).toBe(true)
      expect(await search()).toBe(200)
      const left = childrenOf(server.process.pid)
      expect(left).toHaveLength(1)
      await server.crash()
      expect(await until(() => left.every((pid) => !isRunning(pid)))).toBe(true)
      server = await tally.serve()
    },
  )

  test('refuses a token within a second of its revocation by the command line', async () => {
    const { id, token } = await tally.createToken('svc', 'ada@example.com')
    expect((await server.call('GET', '/api/v1/me', { token })).status).toBe(200)
    expect((await tally.run(['tokens', 'revoke', id, '--yes'])).code).toBe(0)
    const revoked = performance.now()
    while ((await server.call('GET', '/api/v1/me', { token })).status !== 401) {
      if (performance.now() - revoked > 1_000) throw new Error('The token still works a second after its revocation')
    }
  })

  test('moves its log into the database while it runs, which the worker for checkpoints does', async () => {
    const log = join(tally.folder, 'tally-data/tally.db-wal')
    const sizes: number[] = []
    for (let round = 0; round < 4; round++) {
      for (let report = 0; report < 50; report++) {
        await server.call('POST', ENTRIES, { token: service.token, body: reportOf(`round-${round}-${report}`) })
      }
      // Two turns of the worker: what is in the database by then, the log's next writer writes over.
      await Bun.sleep(600)
      sizes.push((await stat(log)).size)
    }
    // Each round writes about as much as the first; a log that nobody moves would now be four times as long.
    expect(sizes[3]!).toBeLessThan(sizes[0]! * 3)
  })
})

test('after kill -9 in the middle of a load every acknowledged entry is there, and once', async () => {
  const tally = await installHostile()
  try {
    let server = await tally.serve()
    await tally.addUser('ada@example.com', 'admin')
    const service = await tally.createToken('svc', 'ada@example.com')
    const read = await tally.createToken('read', 'ada@example.com')

    const sent: string[] = []
    const acknowledged = new Set<string>()
    async function report(session: string): Promise<void> {
      const answer = await server.call('POST', ENTRIES, { token: service.token, body: reportOf(session) })
      if (answer.ok) acknowledged.add(session)
    }
    let crashed = false
    async function client(name: string): Promise<void> {
      for (let number = 0; !crashed; number++) {
        const session = `${name}-${number}`
        sent.push(session)
        await report(session).catch(() => {})
      }
    }
    const clients = Array.from({ length: 16 }, (_, client_) => client(`client-${client_}`))
    while (acknowledged.size < 300) await Bun.sleep(5)
    await server.crash()
    crashed = true
    await Promise.all(clients)
    expect(acknowledged.size).toBeLessThan(sent.length)

    server = await tally.serve()
    const kept = (await listAll(server, read.token)).map(({ session_id }) => session_id)
    expect(new Set(kept).size).toBe(kept.length)
    expect([...acknowledged].filter((session) => !kept.includes(session))).toEqual([])

    // What clients do that got no answer: they report again, and nothing is doubled by it.
    await Promise.all(sent.filter((session) => !acknowledged.has(session)).map(report))
    const whole = (await listAll(server, read.token)).map(({ session_id }) => session_id)
    expect(whole.toSorted()).toEqual(sent.toSorted())
    await server.crash()
  } finally {
    await tally.remove()
  }
})

test('SIGTERM lets it finish what it accepted and end with 0, also while connections stay open', async () => {
  const tally = await installHostile()
  try {
    const server = await tally.serve()
    await tally.addUser('ada@example.com', 'admin')
    const { token } = await tally.createToken('svc', 'ada@example.com')
    const idle = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(server.url).port),
      socket: { data() {} },
    })
    const answers: Promise<number>[] = []
    for (let number = 0; number < 50; number++) {
      const answer = server.call('POST', ENTRIES, { token, body: reportOf(`last-${number}`) })
      answers.push(answer.then(({ status }) => status))
    }
    // The first answer shows that the others are on their way as well.
    await Promise.race(answers)
    const { code, tookMs } = await server.stop()
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(10_000)
    idle.end()
    const statuses = (await Promise.allSettled(answers)).map((answer) => answer.status === 'fulfilled' && answer.value)
    const taken = statuses.filter((status) => status === 201).length

    const after = await tally.serve()
    const read = await tally.createToken('read', 'ada@example.com')
    expect((await listAll(after, read.token)).length).toBeGreaterThanOrEqual(taken)
    await after.crash()
  } finally {
    await tally.remove()
  }
})

test.skipIf(process.platform !== 'linux')('a server without disk space for its log keeps running', async () => {
  const tally = await Installation.make({ before: ['sh', '-c', 'exec "$@" > /dev/full', 'sh'] })
  try {
    await tally.addUser('ada@example.com', 'admin')
    const { token } = await tally.createToken('svc', 'ada@example.com')
    const server = await tally.serve(['--log-level', 'debug'])
    for (let call = 0; call < 3; call += 1) {
      expect((await server.call('GET', '/api/v1/me', { token })).status).toBe(200)
      expect((await server.call('GET', '/api/v1/me')).status).toBe(401)
    }
    expect((await server.stop()).code).toBe(0)
  } finally {
    await tally.remove()
  }
})
