/** What runs on a developer's machine, as processes in an empty home, with a real server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HOOKED_AGENTS } from '../../src/agents/install/install.ts'
import { UNREAD_AGENTS } from '../../src/shared/agents.ts'
import {
  CLAUDE_SESSION,
  capturedSessions,
  claudeTranscript,
  expectedUse,
  fillHome,
  usedOf,
} from '../support/agents-home.ts'
import type { TestApp } from '../support/app.ts'
import { freePort } from '../support/binary.ts'
import { CommandLine, type Ran } from '../support/command-line.ts'
import { canMount, onSmallDisk } from '../support/small-disk.ts'
import { runs } from '../support/tier.ts'

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

const MAIN = join(import.meta.dir, '../../src/main.ts')

/** A home of its own for each test. */
let home: string
let said: Record<string, string>
beforeEach(async () => {
  home = await mkdtemp(join(tally.folder, 'home-'))
  said = {}
})

/** Senders would try for a quarter of an hour. */
afterEach(async () => {
  const locks = (await readdir(stateFolder()).catch(() => [])).filter((name) => name.endsWith('.lock'))
  for (const lock of locks) {
    const pid = Number(await readFile(join(stateFolder(), lock), 'utf8').catch(() => ''))
    try {
      if (pid > 0 && pid !== process.pid) process.kill(pid, 'SIGKILL')
    } catch {}
  }
})

/** What stays in the settings of agents names the executable, which only its own process knows. */
const run = (args: string[], stdin?: string, { asProcess = args[0] === 'install' } = {}): Promise<Ran> =>
  tally.run(['agents', ...args], {
    ...(stdin === undefined ? {} : { stdin }),
    ...(asProcess && { asProcess }),
    env: { HOME: home, ...said },
  })
async function done(args: string[], stdin?: string): Promise<Ran> {
  const ran = await run(args, stdin)
  if (ran.code !== 0) throw new Error(`tally agents ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`)
  return ran
}
// biome-ignore lint/suspicious/noExplicitAny: what commands print as JSON
const json = async (args: string[]): Promise<any> => JSON.parse((await done([...args, '--json'])).stdout)
const logIn = (url = server.url, as = token) => done(['login', '--url', url, '--token-stdin'], `${as}\n`)
// biome-ignore lint/suspicious/noExplicitAny: what commands print as JSON
const statusOf = async (agent: string): Promise<any> => (await json(['status', agent])).agents[0]
const stateFolder = () => join(home, '.local/state/tally')
/** Beside what Bun keeps of sources that it has read. */
const filesAtHome = async () => (await readdir(home)).filter((name) => name !== '.bun')
const inSpool = () => readdir(join(stateFolder(), 'spool')).catch(() => [])

/** Patience of these tests: a sender is a process, reads twice, and waits 5 s between. */
const DEADLINE_MS = 100_000

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) {
      const log = await readFile(join(stateFolder(), 'agents.log'), 'utf8').catch(() => 'no log')
      throw new Error(`It is still not so that ${what}: ${log}`)
    }
    await Bun.sleep(50)
  }
}

/** 0 where none is at it. */
const senderPid = async () => Number(await readFile(join(stateFolder(), 'sender.lock'), 'utf8').catch(() => ''))

const untilDelivered = () => until('nothing waits', async () => (await inSpool()).length === 0)

async function usedAt(line = tally) {
  const { data } = await line.json(['entries', 'list', '--limit', '1000'])
  return usedOf(data)
}

describe('tally agents login', () => {
  test('stores a service token for its owner alone, which logout removes', async () => {
    const { stdout, stderr } = await logIn(`${server.url}/`)
    const path = join(home, '.config/tally/agents.json')
    expect(stdout).toContain(`report to ${server.url} for ada (ada@example.com)`)
    expect(stdout + stderr).not.toContain(token)
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ url: server.url, token })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(home, '.config/tally'))).mode & 0o777).toBe(0o700)
    expect((await json(['status'])).server).toEqual({
      url: server.url,
      reachable: true,
      reports_for: 'ada (ada@example.com)',
      held_entries: 0,
      error: null,
    })
    expect((await done(['logout'])).stdout).toStartWith(`Removed ${path}`)
    expect((await done(['logout'])).stdout).toBe('No token is stored.\n')
    const loggedOut = await json(['status'])
    expect(loggedOut.server).toMatchObject({
      reachable: false,
      error: expect.stringMatching(/^Not logged in.*tally agents login/),
    })
    expect(loggedOut.agents.every(({ found }: { found: boolean }) => !found)).toBe(true)
  })

  test('stores nothing that would not work, and says why', async () => {
    const login = (url: string, as: string) => run(['login', '--url', url, '--token-stdin'], as)
    for (const [kind, what] of [
      [
        'read',
        'a read token, which cannot report. Create a service token on the server: tally tokens create --kind svc',
      ],
      ['org', 'an organization token, which is only for telemetry'],
    ] as const) {
      const { code, stderr } = await login(server.url, (await tally.createToken(kind)).token)
      expect([code, stderr]).toEqual([1, expect.stringContaining(what)])
    }
    const issues = [
      await login(server.url, `${token.slice(0, -2)}xx`),
      await login(`http://127.0.0.1:${freePort()}`, token),
      await login('http://no-such-host.invalid', token),
    ]
    expect(issues.map(({ code }) => code)).toEqual([1, 1, 1])
    expect(issues.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('does not accept the token'),
      expect.stringContaining('connection refused'),
      expect.stringContaining('host not found'),
    ])
    expect((await login('tally.lan', token)).stderr).toContain('It must start with http://')
    expect((await login(server.url, '')).stderr).toContain('No token was entered')
    expect((await run(['login'])).stderr).toContain('add --token-stdin')
    expect(await filesAtHome()).toEqual([])
  })

  test('shows what a server says without obeying it', async () => {
    const evil = '\u001b]0;title\u0007\u001b[2J\u009b1A\rAda'
    const shown = '\\u001b]0;title\\u0007\\u001b[2J\\u009b1A\\u000dAda'
    let answer = () => Response.json({ kind: 'service', person: { name: evil, email: 'a@b.c' }, organization: {} })
    const hostile = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => answer() })
    const url = `http://127.0.0.1:${hostile.port}`
    try {
      expect((await logIn(url)).stdout).toContain(`report to ${url} for ${shown} (a@b.c).\n`)
      answer = () =>
        Response.json({ kind: 'read', person: { name: 'Ada', email: "a@b.c;rm -r '~'" }, organization: {} })
      const reading = await run(['login', '--url', url, '--token-stdin'], token)
      expect([reading.code, reading.stderr]).toEqual([
        1,
        expect.stringContaining("--user 'a@b.c;rm -r '\\''~'\\''' --name agents"),
      ])
      const headers = { 'content-type': 'application/problem+json' }
      answer = () => Response.json({ status: 401, detail: `${evil}.` }, { status: 401, headers })
      const { code, stderr } = await run(['login', '--url', url, '--token-stdin'], token)
      expect([code, stderr]).toEqual([1, expect.stringContaining(`does not accept the token: ${shown}.`)])
    } finally {
      await hostile.stop(true)
    }
  })

  test('also installs hooks and reports past sessions, of the agents that it names', async () => {
    await fillHome(home)
    const line = ['login', '--url', server.url, '--token-stdin', '--install', 'claude-code', 'codex', '--report']
    const { code, stdout, stderr } = await run(line, `${token} \r\n`, { asProcess: true })
    expect([code, stderr.includes('+++ ')]).toEqual([0, true])
    expect(stdout).toContain('claude-code: installed the hook in ')
    expect(stdout).toMatch(/Reported to http:\S+: 5 new, 0 updated, 0 unchanged\./)
    const settings = await readFile(join(home, '.claude/settings.json'), 'utf8')
    expect(settings).toContain('agents hook claude-code')
    expect(await readFile(join(home, '.codex/config.toml'), 'utf8')).toContain('"agents", "hook", "codex"')
    const again = await run(line, token, { asProcess: true })
    expect(again.stdout).toContain('claude-code: the hook is already in ')
    expect(again.stdout).toContain('0 new, 0 updated, 5 unchanged')
    expect(await readFile(join(home, '.claude/settings.json'), 'utf8')).toBe(settings)
  })

  test('stores nothing if the settings of an agent cannot be changed', async () => {
    await mkdir(join(home, '.claude'))
    await writeFile(join(home, '.claude/settings.json'), '[]')
    const line = ['login', '--url', server.url, '--token-stdin', '--install', 'codex', 'claude-code']
    const { code, stderr } = await run(line, token)
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not contain a JSON object. Fix it first.')])
    expect((await filesAtHome()).sort()).toEqual(['.claude'])
  })

  test('is not believed where others can read what it stored', async () => {
    await logIn()
    await chmod(join(home, '.config/tally/agents.json'), 0o640)
    const { code, stderr } = await run(['flush'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('can be read by other users, so it is not used. Run `chmod 600'),
    ])
  })

  test('stands behind the environment, and sends no server the token of another one', async () => {
    await logIn()
    const other = { TALLY_URL: `http://127.0.0.1:${freePort()}` }
    said = other
    const { code, stderr } = await run(['flush'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`no token is set for ${other.TALLY_URL}; the stored token is for ${server.url}`),
    ])
    said = { ...other, TALLY_TOKEN: token }
    expect((await json(['status'])).server).toMatchObject({ url: other.TALLY_URL, reachable: false })
    expect((await logIn()).stderr).toContain(`In this shell TALLY_URL is set to ${other.TALLY_URL}`)
  })
})

describe('tally agents install', () => {
  test('shows what changes, and changes nothing where it cannot ask', async () => {
    await mkdir(join(home, '.codex'))
    await writeFile(join(home, '.codex/config.toml'), 'model = "gpt-5-codex"\n')
    const { code, stdout, stderr } = await run(['install', 'codex'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(' model = "gpt-5-codex"\n+notify = [')
    expect(stderr).toContain('Add --yes')
    expect(await readFile(join(home, '.codex/config.toml'), 'utf8')).toBe('model = "gpt-5-codex"\n')
    expect(await filesAtHome()).toEqual(['.codex'])
  })

  test('puts hooks in that call this very executable, and uninstall takes them out', async () => {
    const agents = HOOKED_AGENTS
    await done(['install', ...agents, '--yes'])
    const status = await json(['status'])
    const installed = status.agents.filter(({ hook }: { hook: string }) => hook === 'installed')
    expect(installed.map(({ agent }: { agent: string }) => agent)).toEqual(agents)
    expect((await done(['install', ...agents])).stdout).toContain('the hook is already in')
    const settings = JSON.parse(await readFile(join(home, '.claude/settings.json'), 'utf8'))
    const { command } = settings.hooks.SessionEnd[0].hooks[0]
    const hook = Bun.spawn(['sh', '-c', command], {
      stdin: Buffer.from(JSON.stringify({ session_id: 'none' })),
      env: { HOME: home, PATH: process.env.PATH! },
      stderr: 'pipe',
    })
    expect([await hook.exited, await hook.stderr.text()]).toEqual([0, ''])
    expect(await statusOf('claude-code')).toMatchObject({ waiting: 1, last_hook: { event: 'unknown' } })
    await done(['uninstall', ...agents, '--yes'])
    expect(
      (await json(['status', ...agents])).agents.every(({ hook }: { hook: string }) => hook === 'not installed'),
    ).toBe(true)
    expect((await done(['uninstall', ...agents])).stdout).toContain('no hook in')
  })

  test('changes nothing at all where the settings of one agent are damaged', async () => {
    await mkdir(join(home, '.gemini'))
    await writeFile(join(home, '.gemini/settings.json'), '{ "a": ')
    const { code, stderr } = await run(['install', 'claude-code', 'gemini-cli', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('settings.json is not valid JSON (line 1, column ')])
    expect(await filesAtHome()).toEqual(['.gemini'])
    expect(await statusOf('gemini-cli')).toMatchObject({ hook: 'unknown', error: expect.stringContaining('not valid') })
  })

  test('knows the agents that have hooks', async () => {
    const { code, stderr } = await run(['install', 'qwen-code'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('Allowed choices are claude-code, codex')])
  })
})

describe('tally agents status', () => {
  /** An executable like those that package managers and installers leave, as a link in a folder of the PATH. */
  async function installAgent(program: string, path: string): Promise<void> {
    await mkdir(join(home, 'bin'), { recursive: true })
    await mkdir(join(home, path, '..'), { recursive: true })
    await writeFile(join(home, path), '#!/bin/sh\necho started >> started\n', { mode: 0o755 })
    await symlink(join(home, path), join(home, 'bin', program))
  }

  test('shows without a login which agents are here, their versions, and what each lacks', async () => {
    const packages = 'lib/node_modules/@openai/codex'
    await installAgent('codex', `${packages}/bin/codex.js`)
    await writeFile(join(home, packages, 'package.json'), JSON.stringify({ name: '@openai/codex', version: '0.61.0' }))
    await installAgent('claude', 'share/claude/versions/2.0.31')
    await installAgent('opencode', '.opencode/bin/opencode')
    await installAgent('droid', '.local/bin/droid-1.2.3')
    await mkdir(join(home, '.vibe'))
    await fillHome(home)
    said = { PATH: join(home, 'bin') }
    // Which programs are on the PATH, only a process of its own finds out.
    const ofProcess = async (...flags: string[]) =>
      (await run(['status', ...flags], undefined, { asProcess: true })).stdout
    const { agents, unread, server, watch } = JSON.parse(await ofProcess('--json'))
    const unreadHere = [
      ['droid', join(home, 'bin/droid')],
      ['mistral-vibe', join(home, '.vibe')],
    ]
    expect(unread.map(({ agent, path }: { agent: string; path: string }) => [agent, path])).toEqual(unreadHere)
    expect(server.error).toContain('Not logged in')
    expect(watch).toMatchObject({ running: false, service: null })
    const named = (name: string) => agents.find(({ agent }: { agent: string }) => agent === name)
    const scan = (agent: string) => ({
      what: 'None of its sessions has been reported from this machine.',
      command: `tally agents scan --agent ${agent} --report`,
    })
    expect(named('claude-code')).toMatchObject({
      ...{ found: true, version: '2.0.31', program: join(home, 'bin/claude'), connected: [] },
      ...{ folders: [join(home, '.claude/projects')], session_files: 2, last_delivery: null },
      last_session_at: expect.stringMatching(/^20/),
      missing: [
        { what: 'It does not report what it uses.', command: 'tally agents install claude-code' },
        scan('claude-code'),
      ],
    })
    expect(named('codex')).toMatchObject({ version: '0.61.0' })
    expect(named('gemini-cli')).toMatchObject({ found: true, version: null, program: null })
    expect(named('opencode')).toMatchObject({ found: true, version: null, session_files: 0, last_session_at: null })
    expect(named('qwen-code')).toMatchObject({ found: false, hook: 'not available', missing: [] })
    const stdout = await ofProcess()
    expect(stdout).toMatch(/^claude-code +2\.0\.31 +none +2 +20.*\n(.*\n)*opencode +unknown +none +0 +– +–/m)
    expect(stdout).toMatch(/^Not on this machine: .*qwen-code/m)
    const { title, reason } = UNREAD_AGENTS.droid!
    expect(stdout).toContain(`Found, but not read: ${title} (${join(home, 'bin/droid')}). ${reason}\n`)
    expect(stdout).toContain('codex: It does not report what it uses. Run: tally agents install codex\n')
    expect(await readdir(home)).not.toContain('started')
  })

  test('shows the ways in which an agent is connected, and what a scan has reported', async () => {
    await fillHome(home)
    await done(['install', 'claude-code', '--yes'])
    const settings = join(home, '.claude/settings.json')
    const { hooks } = JSON.parse(await readFile(settings, 'utf8'))
    const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://tally.example.com/api/v1/telemetry' }
    await writeFile(settings, JSON.stringify({ hooks, env: otel, disableAllHooks: true }))
    // A comment is no setting.
    await writeFile(join(home, '.codex/config.toml'), '# https://tally.example.com/api/v1/telemetry\n')
    const endpoint = 'https://tally.example.com/api/v1/telemetry/v1/logs'
    said = { GEMINI_TELEMETRY_OTLP_ENDPOINT: 'https://tally.example.com/api/v1/telemetry' }
    const connected = async (agent: string) => (await statusOf(agent)).connected
    expect(await connected('claude-code')).toEqual(['hook', 'telemetry'])
    expect((await statusOf('claude-code')).missing.map(({ what }: { what: string }) => what)).toEqual([
      '`disableAllHooks` is true. Claude Code does not run hooks until you change it.',
      'The hook has not run yet. Restart sessions that were running when it was installed.',
    ])
    expect([await connected('codex'), await connected('gemini-cli')]).toEqual([[], ['telemetry']])
    await writeFile(join(home, '.codex/config.toml'), `[otel.exporter.otlp-http]\nendpoint = "${endpoint}"\n`)
    expect(await connected('codex')).toEqual(['telemetry'])
    said = { OTEL_EXPORTER_OTLP_ENDPOINT: otel.OTEL_EXPORTER_OTLP_ENDPOINT }
    expect(await connected('github-copilot')).toEqual(['telemetry'])
    await logIn()
    await done(['scan', '--report'])
    expect((await statusOf('codex')).last_delivery).toMatchObject({ entries: 1 })
  })
})

describe('a hook', () => {
  test('has what its session used delivered in the background, and says nothing to the agent', async () => {
    await fillHome(home)
    await logIn()
    for (const { agent, hook } of await capturedSessions(home)) {
      const isArgument = agent === 'codex'
      const ran = await (isArgument ? run(['hook', agent, hook]) : run(['hook', agent], hook))
      expect(ran).toEqual({ code: 0, stdout: '', stderr: '' })
    }
    await untilDelivered()
    expect(await usedAt()).toEqual(await expectedUse())
    expect(await statusOf('codex')).toMatchObject({
      waiting: 0,
      refused: [],
      last_hook: { event: 'agent-turn-complete' },
      last_delivery: { entries: 1 },
    })
    expect((await done(['flush'])).stdout).toBe('No sessions are queued.\n')
    await until('the sender has ended', async () => !(await readdir(stateFolder())).includes('sender.lock'))
  })

  test('keeps nothing of what was said in the session', async () => {
    for (const { agent, hook } of await capturedSessions(home)) await run(['hook', agent], hook)
    const files = await Array.fromAsync(new Bun.Glob('**/*').scan({ cwd: stateFolder(), dot: true }))
    const texts = await Promise.all(files.map((file) => readFile(join(stateFolder(), file), 'utf8')))
    expect(texts.join('\n')).toContain(CLAUDE_SESSION)
    expect(texts.join('\n')).not.toContain('secret')
    for (const file of files) expect((await stat(join(stateFolder(), file))).mode & 0o077).toBe(0)
  })

  test('reads a session again that was written late', async () => {
    await logIn()
    await fillHome(home)
    const path = claudeTranscript(home)
    const whole = await readFile(path, 'utf8')
    await writeFile(path, whole.slice(0, Math.floor(whole.length / 2)))
    await run(['hook', 'claude-code'], JSON.stringify({ session_id: CLAUDE_SESSION, transcript_path: path }))
    await until('the first half is delivered', async () => (await statusOf('claude-code')).last_delivery !== null)
    await writeFile(path, whole)
    await untilDelivered()
    const expected = (await expectedUse()).filter(({ session_id }) => session_id === CLAUDE_SESSION)
    expect((await usedAt()).filter(({ session_id }) => session_id === CLAUDE_SESSION)).toEqual(expected)
  })

  test('never fails its agent', async () => {
    const wrong: [string[], string | undefined, string][] = [
      [['hook', 'claude-code'], 'no JSON', 'not valid JSON'],
      [['hook', 'claude-code'], '{"hook_event_name":"Stop"}', 'no valid session id'],
      [['hook', 'claude-code'], '[]', 'no valid session id'],
      [['hook', 'claude-code'], undefined, 'not valid JSON'],
      [['hook', 'nobody'], '{"session_id":"x"}', "'nobody' is not a known agent"],
      [['hook', 'codex', '--loud', '{"thread-id":"x"}'], undefined, "unexpected argument '--loud'"],
    ]
    for (const [args, stdin, message] of wrong) {
      const { code, stdout, stderr } = await run(args, stdin)
      expect([code, stdout, stderr]).toEqual([0, '', expect.stringContaining(message)])
    }
    expect((await readFile(join(stateFolder(), 'agents.log'), 'utf8')).split('\n')).toHaveLength(wrong.length + 1)
    said = { XDG_STATE_HOME: '/dev/null/nowhere' }
    const { code, stdout } = await run(['hook', 'claude-code'], '{"session_id":"x"}')
    expect([code, stdout]).toEqual([0, ''])
  })

  test.skipIf(!canMount)('never fails its agent on a disk that is full, and leaves no half a note', async () => {
    await mkdir(stateFolder(), { recursive: true })
    const script =
      'cat /dev/zero > "$0/ballast" 2>/dev/null; printf %s "$1" | "$2" agents hook claude-code; echo "$?"; find "$0"/spool -type f'
    const command = ['sh', '-c', script, stateFolder(), '{"session_id":"x"}', await tally.executable()]
    const child = Bun.spawn(onSmallDisk(stateFolder(), command), {
      env: { PATH: process.env.PATH!, HOME: home },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await child.stdout.text()).toBe('0\n')
    expect(await child.stderr.text()).toContain('ENOSPC')
  })

  test('does its work in a folder that was removed', async () => {
    const gone = join(home, 'gone')
    await mkdir(gone)
    const script = 'cd "$0" && rmdir "$0" && printf %s "$1" | "$2" "$3" agents hook claude-code'
    const child = Bun.spawn(['sh', '-c', script, gone, '{"session_id":"x"}', process.execPath, MAIN], {
      env: { PATH: process.env.PATH!, HOME: home },
      stderr: 'pipe',
    })
    expect([await child.exited, await child.stderr.text()]).toEqual([0, ''])
    expect(await inSpool()).toHaveLength(1)
  })

  test('of Codex calls the program that was there before, whatever becomes of the rest', async () => {
    const seen = join(home, 'seen')
    const program = ['sh', '-c', 'printf %s "$1$2" > "$0"', seen, 'and ']
    const { code, stdout } = await run(['hook', 'codex', '--then', ...program, '{"no":"thread"}'])
    expect([code, stdout]).toEqual([0, ''])
    await until('the program was called', () => Bun.file(seen).exists())
    await until('it has written', async () => (await Bun.file(seen).text()) === 'and {"no":"thread"}')
    const gone = await run(['hook', 'codex', '--then', join(home, 'gone'), '{"thread-id":"x"}'])
    expect(gone).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('cannot start') })
    expect(await inSpool()).toHaveLength(1)
  })

  test('for a server that the environment names is delivered to no other', async () => {
    await fillHome(home)
    await logIn()
    const elsewhere = `http://127.0.0.1:${freePort()}`
    said = { TALLY_URL: elsewhere, TALLY_TOKEN: token }
    const [session] = await capturedSessions(home)
    await run(['hook', session!.agent], session!.hook)
    said = {}
    const { stdout, stderr } = await done(['flush'])
    expect([stdout, stderr]).toEqual([
      'No sessions are queued.\n',
      expect.stringContaining(`tally agents flush --url ${elsewhere}`),
    ])
    expect(await inSpool()).toHaveLength(1)
    await until('its own sender is at it', async () => (await readdir(stateFolder())).join().includes('sender-http'))
  })
})

/** An address at which the application can be reached until it is closed, as a server that stops and starts. */
function openDoor(port: number, to: TestApp) {
  return Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch: (request) => fetch(new Request(to.url + new URL(request.url).pathname, request)),
  })
}

/** How many hooks run, ten at a time, each time with a sender that is killed. */
const HOOKS = runs(50, 10)

describe('while no server takes it, nothing is lost', () => {
  test('a day without a server and with killed senders ends with the true totals, once', async () => {
    const other = await CommandLine.make()
    try {
      await other.addUser()
      const [port, app] = [freePort(), await other.app()]
      const url = `http://127.0.0.1:${port}`
      await fillHome(home)
      const made = await other.createToken()
      const first = openDoor(port, app)
      await logIn(url, made.token)
      await first.stop(true)

      const sessions = await capturedSessions(home)
      const hooks = Array.from({ length: HOOKS }, (_, index) => sessions[index % sessions.length]!)
      const killed = [0]
      for (let start = 0; start < hooks.length; start += 10) {
        const codes = hooks.slice(start, start + 10).map(({ agent, hook }) => run(['hook', agent], hook))
        expect((await Promise.all(codes)).every(({ code, stdout }) => code === 0 && stdout === '')).toBe(true)
        await until('another sender is at it', async () => !killed.includes(await senderPid()))
        killed.push(await senderPid())
        process.kill(killed.at(-1)!, 'SIGKILL')
      }
      expect(new Set(killed).size).toBe(HOOKS / 10 + 1)
      // A sender forgets all hooks of a session but the last.
      expect((await inSpool()).length).toBeWithin(6, HOOKS + 1)
      const failed = await run(['flush'])
      expect([failed.code, failed.stdout]).toEqual([1, expect.any(String)])
      expect(failed.stderr).toContain('connection refused')
      expect(failed.stderr).toContain('6 sessions still queued; no data is lost')
      expect(await inSpool()).toHaveLength(6)
      expect((await json(['status'])).last_error.message).toContain('connection refused')

      using _door = openDoor(port, app)
      const { stdout } = await done(['flush'])
      expect(stdout).toContain(`Delivered 6 sessions to ${url}.`)
      expect(await usedAt(other)).toEqual(await expectedUse())
      expect(await inSpool()).toEqual([])
      expect((await json(['status'])).last_error).toBeNull()
    } finally {
      await other.remove()
    }
  })

  test('a server that comes back gets it without another hook', async () => {
    const other = await CommandLine.make()
    try {
      await other.addUser()
      const [port, app] = [freePort(), await other.app()]
      await fillHome(home)
      const { token: othersToken } = await other.createToken()
      const first = openDoor(port, app)
      await logIn(`http://127.0.0.1:${port}`, othersToken)
      await first.stop(true)
      const [session] = await capturedSessions(home)
      await run(['hook', session!.agent], session!.hook)
      await until('it was tried', async () => (await json(['status'])).last_error !== null)
      const flushing = run(['flush', '--wait'], undefined, { asProcess: true })
      using _door = openDoor(port, app)
      await untilDelivered()
      const { code, stderr } = await flushing
      expect([code, stderr]).toEqual([0, expect.stringMatching(/connection refused\. Retrying in 1 s\.|^$/)])
      expect((await usedAt(other)).map(({ session_id }) => session_id)).toEqual([session!.sessionId])
    } finally {
      await other.remove()
    }
  })

  test('a revoked token keeps it until there is another', async () => {
    await fillHome(home)
    const { id, token: revoked } = await tally.createToken()
    await logIn(server.url, revoked)
    await tally.done(['tokens', 'revoke', id, '--yes'])
    const [session] = await capturedSessions(home)
    await until('the server knows', async () => (await run(['flush'])).code === 0)
    await run(['hook', session!.agent], session!.hook)
    await until('the sender has given up', async () => (await json(['status'])).last_error !== null)
    expect((await json(['status'])).last_error.message).toContain('does not accept the token')
    expect(await inSpool()).toHaveLength(1)
    await logIn()
    expect((await done(['flush'])).stdout).toMatch(/repeated|updated|created/)
    expect(await inSpool()).toEqual([])
  })

  test('what the server refuses is shown and kept, and tried again when it is asked for', async () => {
    await fillHome(home)
    await logIn()
    const path = claudeTranscript(home)
    const whole = await readFile(path, 'utf8')
    await writeFile(path, whole.replaceAll('2026-11-20T', '2036-11-20T'))
    await run(['hook', 'claude-code'], JSON.stringify({ session_id: CLAUDE_SESSION, transcript_path: path }))
    await untilDelivered()
    const { refused } = await statusOf('claude-code')
    expect(refused).toEqual([
      { session_id: CLAUDE_SESSION, at: expect.any(String), reasons: [expect.stringContaining('/ended_at')] },
    ])
    const again = await run(['flush', '--refused'])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('The server refused')])
    await writeFile(path, whole)
    await done(['flush', '--refused'])
    expect((await statusOf('claude-code')).refused).toEqual([])
  })

  test('a session whose call is refused as a whole does not stand in the way of the others', async () => {
    await fillHome(home)
    const proxy = Bun.serve({
      port: 0,
      async fetch(request) {
        const body = await request.text()
        if (body.includes(CLAUDE_SESSION)) {
          const problem = { status: 413, code: 'body_too_large', detail: 'The body is too large.' }
          return Response.json(problem, { status: 413, headers: { 'content-type': 'application/problem+json' } })
        }
        const { pathname } = new URL(request.url)
        return fetch(server.url + pathname, { method: request.method, headers: request.headers, ...(body && { body }) })
      },
    })
    try {
      await logIn(`http://127.0.0.1:${proxy.port}`)
      for (const { agent, hook } of await capturedSessions(home)) await run(['hook', agent], hook)
      await untilDelivered()
      const status = await json(['status'])
      expect(status.agents.flatMap(({ refused }: { refused: unknown[] }) => refused)).toHaveLength(1)
      expect(status.agents[0].refused[0]).toMatchObject({
        session_id: CLAUDE_SESSION,
        reasons: [expect.stringContaining('413')],
      })
      expect(status.agents[2].last_delivery).not.toBeNull()
    } finally {
      await proxy.stop(true)
    }
  })

  test('what waits is delivered beside a file that nobody can read, which is named', async () => {
    await fillHome(home)
    const sessions = await capturedSessions(home)
    await run(['hook', sessions[0]!.agent], sessions[0]!.hook)
    const damaged = join(stateFolder(), 'spool', '00000000000000-1-a.json')
    await writeFile(damaged, '{"agent":')
    await logIn()
    await done(['flush'])
    expect(await inSpool()).toEqual(['00000000000000-1-a.json'])
    expect((await json(['status'])).damaged).toEqual([damaged])
    await rm(damaged)
  })
})
