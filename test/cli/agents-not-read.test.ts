/** What cannot be read on a machine reaches its owner and the admins, and is gone once it is read. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentStatus } from '../../src/features/agent-status/schema.ts'
import type { TestApp } from '../support/app.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
let server: TestApp
let tokens: Record<'ada' | 'grace', string>

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  await tally.addUser('grace@example.com', 'member')
  const tokenOf = async (name: string) => (await server.token('svc', `${name}@example.com`)) as string
  server = await tally.app()
  tokens = { ada: await tokenOf('ada'), grace: await tokenOf('grace') }
})
afterAll(() => tally.remove())

let machines = 0

/** A machine with a home of its own. */
async function machine(token = tokens.ada, url = server.url) {
  machines += 1
  const home = join(tally.folder, `machine-${machines}`)
  await mkdir(home)
  const env = { HOME: home, TALLY_URL: url, TALLY_TOKEN: token }
  /** 4 if something was not read. */
  const scan = async (more: Record<string, string> = {}) =>
    tally.run(['agents', 'scan', '--report'], { env: { ...env, ...more } })
  return { home, env, scan }
}

const statuses = async (...flags: string[]): Promise<AgentStatus[]> =>
  (await tally.json(['users', 'agents', ...flags])).data

/** Those of the machine that was made last, by agent. */
async function statusOf(home: string): Promise<Record<string, AgentStatus>> {
  const { machine } = JSON.parse(await readFile(join(home, '.local/state/tally/status.json'), 'utf8'))
  const own = (await statuses()).filter((each) => each.machine === machine)
  return Object.fromEntries(own.map((each) => [each.agent_harness, each]))
}

/** A database of a version of opencode that Tally does not know, with 14 sessions. */
async function unknownDatabase(home: string): Promise<Database> {
  const folder = join(home, '.local/share/opencode')
  await mkdir(folder, { recursive: true })
  const database = new Database(join(folder, 'opencode.db'))
  database.run('CREATE TABLE session_v3 (id TEXT, parent_id TEXT, title TEXT, version TEXT)')
  for (let at = 0; at < 14; at += 1) {
    database.run(`INSERT INTO session_v3 VALUES ('secret-${at}', NULL, 'secret title', '3.0.1')`)
  }
  return database
}

/** A line as Claude Code writes it. */
const line = (id: string, usage: object = {}) =>
  `${JSON.stringify({
    type: 'assistant',
    message: { id, model: 'claude-sonnet-4-5', usage: { input_tokens: 100, output_tokens: 10, ...usage } },
    requestId: `req-${id}`,
    sessionId: `session-${id}`,
    timestamp: '2026-11-20T10:00:00Z',
    version: '2.1.197',
    cwd: '/home/dev/secret',
  })}\n`

async function writeClaude(home: string, text: string, folder = '.claude') {
  const project = join(home, folder, 'projects/-home-dev-secret')
  await mkdir(project, { recursive: true })
  await appendFile(join(project, 's.jsonl'), text)
}

test('a format that Tally does not read is reported with its sessions, and gone once it is read', async () => {
  const { home, env, scan } = await machine()
  const database = await unknownDatabase(home)
  await writeClaude(home, line('a'))
  const shown = await tally.run(['agents', 'scan', '--json'], { env })
  const unread = { reason: 'unknown_session', name: 'session_v3', count: 14 }
  expect(JSON.parse(shown.stdout)).toMatchObject({
    damage: [{ note: false, not_read: unread }],
    agents: expect.arrayContaining([{ agent_harness: 'opencode', version: '3.0.1', sessions: 0, not_read: [unread] }]),
  })
  const first = await scan()
  expect([first.code, first.stdout]).toEqual([4, expect.stringContaining('1 new')])
  const before = await statusOf(home)
  expect(before).toMatchObject({
    'claude-code': { version: '2.1.197', sessions: 1, not_read: [] },
    opencode: {
      user: { email: 'ada@example.com' },
      ...{ version: '3.0.1', sessions: 0 },
      not_read: [{ reason: 'unknown_session', name: 'session_v3', count: 14 }],
    },
  })
  expect(first.stderr).toContain(`as machine ${before.opencode!.machine}`)
  expect(JSON.stringify(before)).not.toContain('secret')
  expect(JSON.stringify(before)).not.toContain(home)

  const said = 'opencode 3.0.1: 14 sessions in a format that Tally does not read (session_v3)'
  expect(first.stderr).toContain(`Not read in full: ${said}\n`)
  expect((await tally.run(['agents', 'status'], { env })).stderr).toContain(`Not counted: ${said}\n`)
  const { stdout } = await tally.run(['doctor'])
  expect(stdout).toMatch(
    /WARNING {2}agents +opencode 3\.0\.1 of ada@example\.com: 14 sessions in a format that Tally does not/,
  )
  expect(await statuses('--reads-all', 'no')).toEqual([before.opencode!])

  // Otherwise, they would still be there unread, next to those that are read.
  database.run('DROP TABLE session_v3')
  database.run('CREATE TABLE message (id TEXT, session_id TEXT, data TEXT, time_created INTEGER)')
  database.run('CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT, version TEXT)')
  database.run(`INSERT INTO session VALUES ('s', NULL, '', '2.0.3')`)
  database.close()
  const last = await scan()
  expect([last.code, last.stderr]).toEqual([0, expect.not.stringContaining('as machine')])
  expect((await statusOf(home)).opencode).toMatchObject({ version: '2.0.3', not_read: [] })
  expect(await statuses('--reads-all', 'no')).toEqual([])
})

test('a session with something that Tally does not know counts once, in however many of its files', async () => {
  const { home, scan } = await machine()
  const counts = ['a', 'b', 'c'].map((id) => line(id, { new_tokens: 5 })).join('')
  await writeClaude(home, `${counts}${line('d')}`)
  await writeClaude(home, line('a', { new_tokens: 7 }), '.claude/projects/p/session-a/subagents')
  const { stderr } = await scan()
  expect(stderr).toContain('claude-code 2.1.197: 3 sessions with a count that Tally does not know (new_tokens)\n')
  expect((await statusOf(home))['claude-code']).toMatchObject({
    not_read: [{ reason: 'unknown_count', name: 'new_tokens', count: 3 }],
  })
})

test('what is unchanged is not sent again, and another token is told as well', async () => {
  const { home, scan } = await machine()
  await writeClaude(home, `${line('a')}broken\n`)
  await scan()
  const first = (await statusOf(home))['claude-code']!
  expect(first.not_read).toEqual([{ reason: 'invalid_record', name: null, count: 1 }])
  await writeClaude(home, line('b'))
  await scan()
  // One session more is no reason.
  expect((await statusOf(home))['claude-code']).toEqual(first)
  await writeClaude(home, line('c', { output_tokens: -5 }))
  await scan()
  expect((await statusOf(home))['claude-code']).toMatchObject({
    sessions: 3,
    not_read: [{ reason: 'invalid_record' }, { reason: 'invalid_count', name: 'output_tokens', count: 1 }],
  })
  await scan({ TALLY_TOKEN: tokens.grace })
  const { machine: id } = first
  const owners = (await statuses()).filter((each) => each.machine === id).map(({ user }) => user.name)
  expect(owners.sort()).toEqual(['ada', 'grace'])
})

test('an agent with several folders is reported once, with all of them', async () => {
  const { home, scan } = await machine()
  await writeClaude(home, `${line('a')}broken\n`)
  await writeClaude(home, `${line('b')}${line('c')}broken\n`, 'second')
  await scan()
  await scan({ CLAUDE_CONFIG_DIR: join(home, 'second') })
  const expected = { sessions: 3, not_read: [{ reason: 'invalid_record', name: null, count: 2 }] }
  expect((await statusOf(home))['claude-code']).toMatchObject(expected)
  await scan()
  expect((await statusOf(home))['claude-code']).toMatchObject(expected)
  await rm(join(home, 'second/projects'), { recursive: true })
  await scan({ CLAUDE_CONFIG_DIR: join(home, 'second') })
  expect((await statusOf(home))['claude-code']).toMatchObject({ sessions: 1, not_read: [{ count: 1 }] })
})

test('all jobs of continuous integration are one machine', async () => {
  const before = await statuses()
  const ids = new Set<string>()
  for (const text of ['broken\n', line('ci')]) {
    const { home, scan } = await machine(tokens.grace)
    await writeClaude(home, text)
    await scan({ CI: 'true' })
    const { machine: id, not_read } = (await statusOf(home))['claude-code']!
    ids.add(id)
    expect(not_read.length).toBe(text === 'broken\n' ? 1 : 0)
  }
  expect(ids.size).toBe(1)
  expect((await statuses()).length).toBe(before.length + 1)
})

test('a hook reports it with the session', async () => {
  const { home, env } = await machine()
  await writeClaude(home, `${line('a')}broken\n`)
  const job = {
    ...{ agent: 'claude-code', sessionId: 'session-a', transcriptPath: null, event: 'Stop', server: server.url },
    ...{ at: '2026-11-20T10:00:00Z', environment: await environmentAt(home) },
  }
  await mkdir(join(home, '.local/state/tally/spool'), { recursive: true })
  await writeFile(join(home, '.local/state/tally/spool/1.json'), JSON.stringify(job))
  const { stdout } = await tally.done(['agents', 'flush'], { env })
  expect(stdout).toContain('Delivered 1 session')
  expect((await statusOf(home))['claude-code']).toMatchObject({
    version: '2.1.197',
    not_read: [{ reason: 'invalid_record', name: null, count: 1 }],
  })
})

test('a file at another path, which a hook names, is not mixed with the usual folders', async () => {
  const { home, env, scan } = await machine()
  await writeClaude(home, `${line('a')}broken\n`)
  await writeClaude(home, `${line('elsewhere')}broken\nbroken\n`, 'elsewhere')
  const job = {
    ...{ agent: 'claude-code', sessionId: 'session-elsewhere', event: 'Stop', server: server.url },
    transcriptPath: join(home, 'elsewhere/projects/-home-dev-secret/s.jsonl'),
    ...{ at: '2026-11-20T10:00:00Z', environment: await environmentAt(home) },
  }
  await mkdir(join(home, '.local/state/tally/spool'), { recursive: true })
  await writeFile(join(home, '.local/state/tally/spool/1.json'), JSON.stringify(job))
  await tally.done(['agents', 'flush'], { env })
  // Lines that are no records name no session, so each file is one.
  const expected = { not_read: [{ reason: 'invalid_record', name: null, count: 2 }] }
  expect((await statusOf(home))['claude-code']).toMatchObject(expected)
  await scan()
  expect((await statusOf(home))['claude-code']).toMatchObject(expected)
})

const environmentAt = async (home: string) => {
  const { readAgentsEnvironment } = await import('../../src/config.ts')
  return readAgentsEnvironment({ HOME: home })
}

/** A server in front of the real one, which answers for the status itself. */
function inFront(answer: () => Response | Promise<Response>) {
  let asked = 0
  const front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname !== '/api/v1/agent-status') return fetch(server.url + pathname + search, request)
      asked += 1
      return answer()
    },
  })
  return { url: `http://127.0.0.1:${front.port}`, asked: () => asked, stop: () => front.stop(true) }
}

test.each([
  ['a server of an earlier version', () => new Response('{}', { status: 404 })],
  ['a server that fails', () => new Response('', { status: 500 })],
  ['a server that refuses it', () => new Response('{}', { status: 422 })],
  ['a server that redirects it', () => new Response('', { status: 302, headers: { location: 'http://localhost:1' } })],
])('%s is left alone, and no report fails for it', async (_, answer) => {
  const front = inFront(answer)
  try {
    const { home, scan } = await machine(tokens.ada, front.url)
    await writeClaude(home, line(`front-${machines}`))
    const first = await scan()
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toContain('1 new')
    await writeClaude(home, `${line(`front-${machines}-b`)}broken\n`)
    const second = await scan()
    expect([second.code, second.stdout]).toEqual([4, expect.stringContaining('1 new, 0 updated, 1 unchanged')])
    expect(front.asked()).toBe(1)
  } finally {
    await front.stop()
  }
})

test('a state folder that cannot be written, or has something else in it, does no harm', async () => {
  const { home, scan } = await machine()
  await writeClaude(home, `${line('state')}broken\n`)
  await mkdir(join(home, '.local/state/tally/status.json'), { recursive: true })
  const before = await statuses()
  expect((await scan()).code).toBe(4)
  // It would be another machine every time.
  expect(await statuses()).toEqual(before)
  await rm(join(home, '.local/state/tally/status.json'), { recursive: true })
  for (const text of ['', '[]', 'null', '{"machine":5,"sources":[]}']) {
    await writeFile(join(home, '.local/state/tally/status.json'), text)
    expect((await scan()).code).toBe(4)
    expect((await statusOf(home))['claude-code']).toMatchObject({ not_read: [{ reason: 'invalid_record' }] })
  }
})

test('the watcher says it too, and once it is read, no longer', async () => {
  const { home, env } = await machine()
  const once = () => tally.run(['agents', 'watch', '--once'], { env })
  const database = await unknownDatabase(home)
  database.close()
  expect((await once()).code).toBe(0)
  const unread = { reason: 'unknown_session', name: 'session_v3', count: 14 }
  expect((await statusOf(home)).opencode).toMatchObject({ not_read: [unread] })
  await rm(join(home, '.local/share/opencode/opencode.db'))
  expect((await once()).code).toBe(0)
  expect((await statusOf(home)).opencode).toMatchObject({ not_read: [] })
}, 60_000)
