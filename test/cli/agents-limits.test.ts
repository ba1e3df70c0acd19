/** Limits of plans on their way from a machine: by the status line of Claude Code, and by scans of Codex. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LimitUse } from '../../src/features/agent-status/schema.ts'
import { FIXTURES } from '../support/agent-home.ts'
import type { TestApp } from '../support/app.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
let server: TestApp
let admin: string

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  server = await tally.app()
  admin = await server.session('admin')
})
afterAll(() => tally.remove())

let machines = 0

/** The machine of a new person, with a home of its own. */
async function machine(url = server.url) {
  machines += 1
  const email = `limits-${machines}@example.com`
  await tally.addUser(email, 'member')
  const home = join(tally.folder, `machine-${machines}`)
  await mkdir(home)
  const env = { HOME: home, TALLY_URL: url, TALLY_TOKEN: (await server.token('svc', email)) as string, TZ: 'UTC' }
  const limits = async (): Promise<LimitUse[]> =>
    (await server.call(`GET /api/v1/reports/limits?user=${email}`, { session: admin })).json.data
  const statuses = async () =>
    (await server.call(`GET /api/v1/agent-status?user=${email}`, { session: admin })).json.data
  return { home, env, email, limits, statuses }
}

const now = Date.now()
const seconds = (fromNowMs: number) => Math.floor((now + fromNowMs) / 1_000)
const HOUR = 3_600_000

/** As Claude Code passes it to a status line now. */
function statusLine(): string {
  const passed = JSON.parse(readFileSync(join(FIXTURES, 'synthetic/claude-code-status-line.json'), 'utf8'))
  passed.rate_limits.five_hour.resets_at = seconds(2 * HOUR)
  passed.rate_limits.seven_day.resets_at = seconds(90 * HOUR)
  return JSON.stringify(passed)
}

/** A rollout whose last lines were written just now. */
async function writeRollout(home: string): Promise<void> {
  const text = await readFile(join(FIXTURES, 'synthetic/codex-rate-limits.jsonl'), 'utf8')
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const line of lines) {
    line.timestamp = new Date(now - 30_000).toISOString()
    for (const name of ['primary', 'secondary']) {
      if (line.payload.rate_limits?.[name]) line.payload.rate_limits[name].resets_at = seconds(2 * HOUR)
    }
  }
  const folder = join(home, '.codex/sessions/2026/11/20')
  await mkdir(folder, { recursive: true })
  const file = 'rollout-2026-11-20T10-00-00-01a22850-0000-7c51-9b91-000000000001.jsonl'
  await writeFile(join(folder, file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

const used = (uses: LimitUse[]) =>
  uses
    .map(({ agent_harness, name, window_minutes, latest }) => [
      agent_harness,
      name,
      window_minutes,
      latest.used_percent,
    ])
    .sort()

async function until(isDone: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isDone())) await Bun.sleep(50)
}

test('the status line prints them at once, and a sender reports them in the background', async () => {
  const { home, env, limits, statuses } = await machine()
  const ran = await tally.run(['agents', 'limits'], { stdin: statusLine(), env, asProcess: true })
  expect(ran).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^5h 24% until .*\d\d:\d\d · 7d 41% until \w{3} \d\d:\d\d\n$/),
    stderr: '',
  })
  await until(async () => (await limits()).length === 2)
  expect(used(await limits())).toEqual([
    ['claude-code', 'five_hour', 300, 23.5],
    ['claude-code', 'seven_day', 10_080, 41.2],
  ])
  // No session was read, so there is nothing to say of them.
  expect(await statuses()).toEqual([])
  const state = join(home, '.local/state/tally/limits.json')
  const before = await readFile(state, 'utf8')
  await tally.run(['agents', 'limits'], { stdin: statusLine().replace('23.5', '60'), env, asProcess: true })
  expect(await readFile(state, 'utf8')).toBe(before)
})

test('offline, without a token and with nothing to read, it prints what it knows and fails in nothing', async () => {
  const { home, env } = await machine('http://127.0.0.1:9')
  const run = (stdin: string, more: Record<string, string> = {}) =>
    tally.run(['agents', 'limits'], { stdin, env: { ...env, ...more }, asProcess: true })
  expect(await run(statusLine())).toMatchObject({ code: 0, stdout: expect.stringContaining('5h 24%'), stderr: '' })
  expect(await run('')).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await run('{"model":{}}')).toEqual({ code: 0, stdout: '', stderr: '' })
  const { TALLY_TOKEN: _, ...loggedOut } = env
  const other = join(home, 'other')
  await mkdir(other)
  const ran = await tally.run(['agents', 'limits'], {
    stdin: statusLine(),
    env: { ...loggedOut, HOME: other },
    asProcess: true,
  })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  await tally.run(['agents', 'limits', '--send'], { env: { ...loggedOut, HOME: other }, asProcess: true })
  expect(existsSync(join(other, '.local/state/tally/status.json'))).toBe(false)
})

test('a scan reports those of Codex with its status', async () => {
  const { home, env, limits, statuses } = await machine()
  await writeRollout(home)
  await tally.done(['agents', 'scan', '--report'], { env })
  expect(used(await limits())).toEqual([
    ['codex', 'codex', 10_080, 40.5],
    ['codex', 'codex', 300, 14.25],
    ['codex', 'codex_other', 300, 3],
  ])
  expect((await limits()).find(({ name, window_minutes }) => name === 'codex' && window_minutes === 300)).toMatchObject(
    {
      plan: 'codex:pro',
      latest: { credits_left: 11.75, resets_at: new Date(seconds(2 * HOUR) * 1_000).toISOString() },
    },
  )
  expect(await statuses()).toMatchObject([{ agent_harness: 'codex', sessions: 1, not_read: [] }])
})

test('a server that knows no limits gets the status without them', async () => {
  const bodies: { agents: { limits?: unknown }[] }[] = []
  const front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname !== '/api/v1/agent-status') return fetch(server.url + pathname + search, request)
      const body = (await request.json()) as (typeof bodies)[number]
      bodies.push(body)
      if (!body.agents.some(({ limits }) => limits))
        return fetch(server.url + pathname, {
          ...request,
          method: 'PUT',
          headers: request.headers,
          body: JSON.stringify(body),
        })
      const errors = [{ pointer: '/agents/0/limits', code: 'unknown_field', message: 'is not a known field' }]
      return Response.json({ status: 422, code: 'validation_failed', detail: 'Invalid.', errors }, { status: 422 })
    },
  })
  try {
    const { home, env, limits, statuses } = await machine(`http://127.0.0.1:${front.port}`)
    await writeRollout(home)
    await tally.done(['agents', 'scan', '--report'], { env })
    expect(bodies.map(({ agents }) => agents.some(({ limits }) => limits))).toEqual([true, false])
    expect(await limits()).toEqual([])
    expect(await statuses()).toMatchObject([{ agent_harness: 'codex', sessions: 1 }])
    // It is not asked again within a day.
    const unreadable = join(
      home,
      '.codex/sessions/2026/11/20/rollout-2026-11-20T11-00-00-01a22850-0000-7c51-9b91-000000000009.jsonl',
    )
    await writeFile(unreadable, '{"type":"token_count"\n')
    await tally.run(['agents', 'scan', '--report'], { env })
    expect(bodies.slice(2).map(({ agents }) => agents.some(({ limits }) => limits))).toEqual([false])
  } finally {
    await front.stop(true)
  }
})
