/** The watcher of session files, as processes in homes of their own, with a real server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expectedUse, fillHome, usedOf } from '../support/agents-home.ts'
import type { TestApp } from '../support/app.ts'
import { freePort } from '../support/binary.ts'
import { CommandLine, type Ran } from '../support/command-line.ts'
import { isLong } from '../support/tier.ts'

let tally: CommandLine
let server: TestApp
let token: string
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  ;({ token } = await tally.createToken())
  server = await tally.app()
})
afterAll(() => tally.remove())

let home: string
let watchers: Bun.Subprocess<'ignore', 'pipe', 'pipe'>[]
beforeEach(async () => {
  home = await mkdtemp(join(tally.folder, 'home-'))
  watchers = []
})
afterEach(async () => {
  for (const watcher of watchers) watcher.kill('SIGKILL')
  await Promise.all(watchers.map((watcher) => watcher.exited))
})

const run = (args: string[], env: Record<string, string> = {}, stdin?: string): Promise<Ran> =>
  tally.run(['agents', ...args], { ...(stdin === undefined ? {} : { stdin }), env: { HOME: home, ...env } })
async function done(args: string[], env: Record<string, string> = {}, stdin?: string): Promise<Ran> {
  const ran = await run(args, env, stdin)
  if (ran.code !== 0) throw new Error(`tally agents ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`)
  return ran
}
const logIn = (url = server.url) => done(['login', '--url', url, '--token-stdin'], {}, `${token}\n`)
// biome-ignore lint/suspicious/noExplicitAny: what commands print as JSON
const status = async (): Promise<any> => JSON.parse((await done(['status', '--json'])).stdout)

/** Patience of these tests, in which processes are started on a busy machine. */
const DEADLINE_MS = 100_000

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) {
      const log = await readFile(join(home, '.local/state/tally/agents.log'), 'utf8').catch(() => 'no log')
      throw new Error(`It is still not so that ${what}: ${log}`)
    }
    await Bun.sleep(50)
  }
}

async function startWatcher(args: string[] = [], env: Record<string, string> = {}) {
  const watcher = await tally.spawn(['agents', 'watch', ...args], 'ignore', { HOME: home, ...env })
  watchers.push(watcher)
  return watcher
}

/** A line as Claude Code writes it. */
const answer = (session: string, id: string, output = 10) =>
  `${JSON.stringify({
    type: 'assistant',
    message: {
      id,
      model: 'claude-sonnet-4-5',
      usage: { input_tokens: 100, output_tokens: output, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    },
    requestId: `req-${id}`,
    sessionId: session,
    timestamp: '2026-11-20T10:00:00.000Z',
    cwd: '/nowhere',
    gitBranch: 'main',
  })}\n`

async function transcript(session: string, project = '-p'): Promise<string> {
  const folder = join(home, '.claude/projects', project)
  await mkdir(folder, { recursive: true })
  return join(folder, `${session}.jsonl`)
}

async function entriesOf(session: string) {
  const { data } = await tally.json(['entries', 'list', '--limit', '500'])
  return data.filter(({ session_id }: { session_id: string }) => session_id === session)
}

/** What the server has of a session: one entry, whose output tokens these are; 0 if it has none. */
async function outputOf(session: string): Promise<number> {
  const entries = await entriesOf(session)
  expect(entries.length).toBeLessThanOrEqual(1)
  return entries[0]?.tokens.output ?? 0
}

/** By a day. */
async function madeOlder(path: string): Promise<void> {
  const { format, content } = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, JSON.stringify({ format, content: { ...content, at: content.at - 86_400_000 } }))
}

describe('tally agents watch', () => {
  test('reports all agents at first, and then what grows, also in folders that did not exist', async () => {
    await fillHome(home)
    await rm(join(home, '.codex'), { recursive: true })
    await logIn()
    const watcher = await startWatcher()
    const expected = (await expectedUse()).filter(({ agent_harness }) => agent_harness !== 'codex')
    const used = async () => {
      const { data } = await tally.json(['entries', 'list', '--limit', '500'])
      return usedOf(data).filter(({ session_id }) => !session_id.startsWith('s-'))
    }
    await until('everything is reported', async () => (await used()).length === expected.length)
    expect(await used()).toEqual(expected)
    const session = `s-${crypto.randomUUID()}`
    const path = await transcript(session, '-new-project')
    await writeFile(path, answer(session, 'm1'))
    await until('the new session is reported', async () => (await outputOf(session)) === 10)
    await appendFile(path, answer(session, 'm2'))
    await until('its second call is reported', async () => (await outputOf(session)) === 20)
    const { agents, watch } = await status()
    expect(watch).toMatchObject({ running: true, pid: watcher.pid, limit: null, retry_at: null, service: null })
    expect(agents[0]).toMatchObject({
      connected: ['watch'],
      last_delivery: { session_id: session, entries: 1 },
      missing: [],
    })
  })

  test('is one per home, ends at once when it is asked to, and is not missed when it was killed', async () => {
    await logIn()
    const session = `s-${crypto.randomUUID()}`
    const path = await transcript(session)
    const first = await startWatcher()
    await until('the first one runs', async () => (await status()).watch.pid === first.pid)
    const second = await run(['watch'])
    expect([second.code, second.stderr]).toEqual([
      1,
      `tally: Another watcher is running (process ${first.pid}). See: tally agents status\n`,
    ])
    first.kill('SIGKILL')
    await first.exited
    expect((await status()).watch.running).toBe(false)
    await writeFile(path, answer(session, 'm1'))
    const third = await startWatcher()
    await until('what was written meanwhile is reported', async () => (await outputOf(session)) === 10)
    third.kill('SIGTERM')
    expect(await third.exited).toBe(0)
  })

  test('loses and doubles nothing when it is killed while it reports', async () => {
    const session = `s-${crypto.randomUUID()}`
    const path = await transcript(session)
    const killsAt: ('before it is recorded' | 'after it is recorded')[] = []
    let watcher: Bun.Subprocess | undefined
    const proxy = Bun.serve({
      port: 0,
      fetch: async (request) => {
        const { url, method, headers } = request
        const body = method === 'GET' ? null : await request.text()
        const forward = () => fetch(server.url + new URL(url).pathname, { method, headers, body })
        const killAt = killsAt.shift()
        const answer = killAt === 'before it is recorded' ? new Response(null, { status: 503 }) : await forward()
        if (killAt) watcher!.kill('SIGKILL')
        return answer
      },
    })
    const env = { TALLY_URL: proxy.url.origin, TALLY_TOKEN: token }
    try {
      for (const [round, killAt] of (['before it is recorded', 'after it is recorded'] as const).entries()) {
        await appendFile(path, answer(session, `m${round}`))
        killsAt.push(killAt)
        watcher = await startWatcher([], env)
        await watcher.exited
      }
      await appendFile(path, answer(session, 'm2'))
      watcher = await startWatcher([], env)
      await until('all calls are reported', async () => (await outputOf(session)) === 30)
    } finally {
      await proxy.stop(true)
    }
  })

  test('tries again while the server cannot be reached, which its status says', async () => {
    const port = freePort()
    await logIn()
    const credentials = join(home, '.config/tally/agents.json')
    await writeFile(credentials, JSON.stringify({ url: `http://127.0.0.1:${port}`, token }), { mode: 0o600 })
    const session = `s-${crypto.randomUUID()}`
    await writeFile(await transcript(session), answer(session, 'm1'))
    await startWatcher()
    await until('it will try again', async () => (await status()).watch.retry_at !== null)
    expect((await status()).last_error.message).toContain('connection refused')
    const proxy = Bun.serve({
      port,
      fetch: (request) => fetch(new Request(server.url + new URL(request.url).pathname, request)),
    })
    try {
      await until('the session is reported', async () => (await outputOf(session)) === 10)
      await until('the error is over', async () => (await status()).watch.retry_at === null)
      expect((await status()).last_error).toBeNull()
    } finally {
      await proxy.stop(true)
    }
  })

  test('reports only the chosen agents and sessions', async () => {
    await fillHome(home)
    await logIn()
    const [old, latest] = [`s-${crypto.randomUUID()}`, `s-${crypto.randomUUID()}`]
    await writeFile(await transcript(old), answer(old, 'm1').replace('2026-11-20', '2026-09-20'))
    await writeFile(await transcript(latest), answer(latest, 'm2'))
    const { stdout } = await done(['watch', '--once', '--agent', 'claude-code', '--since', '2026-11-20T00:00:00Z'])
    expect(stdout).toMatch(/^Reported to .*: \d new, 0 updated\.\n$/)
    expect([await outputOf(old), await outputOf(latest)]).toEqual([0, 10])
  })

  test('sends nothing twice to a server, except after a day', async () => {
    await logIn()
    const session = `s-${crypto.randomUUID()}`
    await writeFile(await transcript(session), answer(session, 'm1'))
    const bodies: string[] = []
    const recorder = Bun.serve({
      port: 0,
      fetch: async (request) => {
        // Besides reports, it says what was read.
        if (request.method === 'POST') bodies.push(await request.clone().text())
        return fetch(new Request(server.url + new URL(request.url).pathname, request))
      },
    })
    const once = () => done(['watch', '--once'], { TALLY_URL: recorder.url.origin, TALLY_TOKEN: token })
    try {
      await once()
      expect(bodies).toHaveLength(1)
      expect((await once()).stdout).toBe('')
      expect(bodies).toHaveLength(1)
      await done(['watch', '--once'])
      await once()
      expect(bodies).toHaveLength(1)
      const cache = join(home, '.cache/tally/agents')
      const names = (await readdir(cache)).filter((name) => name.startsWith('claude-code-acknowledged'))
      expect(names).toHaveLength(2)
      for (const name of names) await madeOlder(join(cache, name))
      await once()
      expect(bodies).toHaveLength(2)
      expect(await outputOf(session)).toBe(10)
    } finally {
      await recorder.stop(true)
    }
  })

  test('keeps what the server refuses for a person to decide, and reports the rest', async () => {
    await logIn()
    const [refused, other] = [`s-${crypto.randomUUID()}`, `s-${crypto.randomUUID()}`]
    const path = await transcript(refused)
    // The server allows no session in the future.
    await writeFile(path, answer(refused, 'm1').replace('2026-11-20', '2099-11-20'))
    await writeFile(await transcript(other), answer(other, 'm2'))
    const { stderr } = await done(['watch', '--once'])
    expect(stderr).toBe('The server refused 1 report. See: tally agents status\n')
    expect(await outputOf(other)).toBe(10)
    const [claude] = (await status()).agents
    expect(claude.refused).toMatchObject([{ session_id: refused }])
    expect(claude.missing).toEqual([
      { what: 'It does not report what it uses.', command: 'tally agents install claude-code' },
      { what: 'The server refused 1 session.', command: 'tally agents flush --refused' },
    ])
    await writeFile(path, answer(refused, 'm1'))
    await done(['watch', '--once'])
    expect((await status()).agents[0].refused).toEqual([])
    expect(await outputOf(refused)).toBe(10)
  })

  test('without a login, says what to do, and leaves it for the status', async () => {
    for (const args of [['watch'], ['watch', '--once']]) {
      const { code, stderr } = await run(args)
      expect([code, stderr]).toEqual([2, expect.stringContaining('store it with `tally agents login`')])
    }
    expect((await status()).last_error.message).toContain('no token is set')
  })
})

describe('tally agents watch --install', () => {
  const asProcess = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    tally.run(['agents', 'watch', ...args], { asProcess: true, env: { HOME: home, ...env } })

  /** A PATH with a `systemctl` that writes down how it was called, and what else is given. */
  async function systemctl(script = ''): Promise<{ PATH: string; calls(): Promise<string[]> }> {
    const folder = join(home, 'bin')
    await mkdir(folder, { recursive: true })
    const program = join(folder, 'systemctl')
    await writeFile(program, `#!/bin/sh\necho "$*" >> ${home}/calls\n${script}\n`)
    await chmod(program, 0o755)
    const calls = async () => {
      const text = await readFile(join(home, 'calls'), 'utf8').catch(() => '')
      await rm(join(home, 'calls'), { force: true })
      return text.split('\n').filter((line) => line !== '')
    }
    return { PATH: `${folder}:${process.env.PATH}`, calls }
  }
  const unitPath = () => join(home, '.config/systemd/user/tally-agents.service')

  test.skipIf(process.platform !== 'linux')(
    'makes a unit without the token that runs the watcher, and --uninstall removes it',
    async () => {
      await logIn()
      const { PATH, calls } = await systemctl()
      const codexHome = join(home, 'codex files')
      const env = { PATH, CODEX_HOME: codexHome, TALLY_TOKEN: token }
      const { code, stdout, stderr } = await asProcess(['--install', '--agent', 'codex', 'claude-code'], env)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toStartWith(
        `Installed the systemd user unit ${unitPath()} and started it. It reports to ${server.url} for as long as`,
      )
      expect(await calls()).toEqual([
        '--user daemon-reload',
        '--user enable tally-agents.service',
        '--user restart tally-agents.service',
      ])
      const unit = await readFile(unitPath(), 'utf8')
      expect((await stat(unitPath())).mode & 0o777).toBe(0o600)
      expect(unit).toContain(`Environment="CODEX_HOME=${codexHome}"`)
      expect(unit).not.toContain(token)
      expect((await status()).watch).toMatchObject({
        running: false,
        service: { kind: 'systemd user unit', file: unitPath() },
      })
      const session = `s-${crypto.randomUUID()}`
      await writeFile(await transcript(session), answer(session, 'm1'))
      // As systemd would, which does not have these variables.
      const watcher = Bun.spawn(['sh', '-c', `exec ${/^ExecStart=(.*)$/m.exec(unit)![1]}`], {
        env: { HOME: home },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      watchers.push(watcher)
      await until('the unit reports', async () => (await outputOf(session)) === 10)
      expect((await status()).watch).toMatchObject({
        running: true,
        pid: watcher.pid,
        agents: ['codex', 'claude-code'],
      })
      const again = await asProcess(['--install', '--agent', 'codex', 'claude-code'], env)
      expect([again.stdout, await calls()]).toEqual([
        `The systemd user unit ${unitPath()} is already installed, and runs.\n`,
        [],
      ])
      watcher.kill()
      await watcher.exited
      const { stdout: removed } = await asProcess(['--uninstall'], { PATH })
      expect(removed).toBe(`Stopped the systemd user unit and removed ${unitPath()}.\n`)
      expect((await calls())[0]).toBe('--user disable --now tally-agents.service')
      expect(await readdir(join(unitPath(), '..'))).toEqual([])
      expect((await asProcess(['--uninstall'], { PATH })).stdout).toBe('No service is installed.\n')
    },
  )

  test.skipIf(process.platform !== 'linux')('removes what is left of a service', async () => {
    const { PATH } = await systemctl('exit 1')
    const link = join(home, '.config/systemd/user/default.target.wants/tally-agents.service')
    await mkdir(join(link, '..'), { recursive: true })
    await symlink(unitPath(), link)
    expect((await asProcess(['--uninstall'], { PATH })).stdout).toStartWith('Stopped the systemd user unit')
    expect(await readdir(join(link, '..'))).toEqual([])
  })

  test('says what to do without a login, without systemd, and where it refuses', async () => {
    const { PATH } = await systemctl('echo Failed to connect to bus >&2; exit 1')
    expect((await asProcess(['--install'], { PATH, TALLY_TOKEN: token, TALLY_URL: server.url })).stderr).toContain(
      'The service uses the token of `tally agents login`. Run that first',
    )
    await logIn()
    const none = await asProcess(['--install'], { PATH: '/nowhere' })
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/no systemctl.*: \*\/5 .* agents watch --once/)])
    const refused = await asProcess(['--install'], { PATH })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/`systemctl --user daemon-reload` failed: Failed to connect to bus\n.*Run .* without sudo/),
    ])
  })
})

/** Lowers the limit of inotify watches, for a process of its own. */
const LIMITED = ['unshare', '--user', '--map-root-user', 'sh', '-c']
const canLimit =
  process.platform === 'linux' &&
  Bun.which('unshare') !== null &&
  Bun.spawnSync([...LIMITED, 'echo 1 > /proc/sys/user/max_inotify_watches'], { stderr: 'ignore' }).exitCode === 0

test.skipIf(!canLimit)('a watcher without notifications says what to do, and looks for itself', async () => {
  await logIn()
  const session = `s-${crypto.randomUUID()}`
  const path = await transcript(session)
  await writeFile(path, answer(session, 'm1'))
  const limited = `echo 0 > /proc/sys/user/max_inotify_watches && exec "$0" agents watch`
  const watcher = Bun.spawn([...LIMITED, limited, await tally.executable()], {
    env: { HOME: home, PATH: process.env.PATH! },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  watchers.push(watcher)
  await until('its status says so', async () => (await status()).watch.limit !== null)
  expect((await status()).watch.limit).toContain('sudo sysctl fs.inotify.max_user_watches=')
  if (!isLong) return
  await appendFile(path, answer(session, 'm2'))
  await until('the session is reported', async () => (await outputOf(session)) === 20)
})
