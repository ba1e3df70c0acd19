/** `tally up`: a private server with the sessions of this machine, by the real executable in a home folder of its own. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { claudeTranscript, expectedUse, fillHome, usedOf } from '../support/agents-home.ts'
import { freePort } from '../support/binary.ts'
import { CommandLine, type Ran } from '../support/command-line.ts'
import { commandOf, isRunning, until } from '../support/processes.ts'

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  await fillHome(tally.folder)
  await writeFile(at('.gitconfig'), '[user]\n  name = Ada Lovelace\n  email = Ada@Example.com\n')
})
afterEach(async () => {
  await tally.run(['up', '--stop'])
  await tally.remove()
})

const at = (...path: string[]) => join(tally.folder, ...path)
const state = (...path: string[]) => at('.local/state/tally/up', ...path)
const announced = () => JSON.parse(readFileSync(state('data/tally.db-server'), 'utf8'))
const LINK = /^ {2}(http:\/\/127\.0\.0\.1:(\d+)\/sign-in#(\w{32}))$/m
const SETTINGS = '.claude/settings.json'
const LOGIN = '.config/tally/agents.json'

const up = (args: string[] = [], env: Record<string, string> = {}): Promise<Ran> =>
  tally.done(['up', '--no-browser', ...args], { env })

const signIn = (url: string, secret: string) =>
  fetch(`${url}/api/v1/session/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link_token: secret }),
  })

/** Another program at the port of a server that has ended, which the system may not have freed yet. */
async function standInAt(url: string, answer: (request: Request) => Response): Promise<Bun.Server<undefined>> {
  let server: Bun.Server<undefined> | undefined
  await until(() => {
    try {
      server = Bun.serve({ hostname: '127.0.0.1', port: Number(new URL(url).port), fetch: answer })
    } catch {}
    return server !== undefined
  })
  return server!
}

const own = (args: string[]) => tally.json(['--data', state('data'), ...args])

/** On a terminal, where browsers are opened by a program of the test. */
async function onTerminal(opener: string) {
  const command = `'${await tally.executable()}' up --yes`
  await mkdir(at('bin'), { recursive: true })
  await writeFile(at('bin/xdg-open'), `#!/bin/sh\n${opener}\n`, { mode: 0o755 })
  return Bun.spawn(['script', '-qec', command, '/dev/null'], {
    cwd: tally.folder,
    env: { ...tally.env, PATH: `${at('bin')}:${process.env.PATH}`, DISPLAY: ':9', TERM: 'xterm' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

test('the owner is as git says, the sessions are those of the agents, and the printed link signs in once', async () => {
  const { stdout, stderr } = await up()
  expect(stdout).toMatch(/^Owner +Ada Lovelace <ada@example\.com>, from your git configuration$/m)
  expect(stdout).toMatch(/^Server +http:\/\/127\.0\.0\.1:\d+, on this machine only \(process \d+\)$/m)
  expect(stdout).toMatch(/^Imported +6 sessions of Claude Code, Codex, and Gemini CLI: 7 entries, \$\d/m)
  // Other tests may have a server at the usual port.
  const issues = stderr.replace(/^Port 4747 is used by another program.*\n/, '')
  expect(issues).toBe('Claude Code, Codex, and Gemini CLI are not connected. To connect: tally up --yes\n')
  expect(existsSync(at(SETTINGS))).toBe(false)
  expect(existsSync(at(LOGIN))).toBe(false)
  const { data } = await own(['entries', 'list'])
  expect(usedOf(data)).toEqual(await expectedUse())
  const [, , port, secret] = LINK.exec(stdout)!
  const { url, pid } = announced()
  expect(url).toBe(`http://127.0.0.1:${port}`)
  const answer = await signIn(url, secret!)
  expect([answer.status, ((await answer.json()) as { person: unknown }).person]).toEqual([
    200,
    expect.objectContaining({ name: 'Ada Lovelace', email: 'ada@example.com', role: 'admin' }),
  ])
  expect((await signIn(url, secret!)).status).toBe(401)
  const cookie = answer.headers.getSetCookie().map((each) => each.split(';', 1)[0])
  const me = await (await fetch(`${url}/api/v1/me`, { headers: { cookie: cookie.join('; ') } })).json()
  expect(me).toMatchObject({ has_password: false, program: await tally.executable() })
  // Nothing of it is for other users of the machine.
  for (const path of [state(), state('data')]) expect([path, statSync(path).mode & 0o077]).toEqual([path, 0])
  for (const name of ['up.json', 'server.log']) expect(statSync(state(name)).mode & 0o077).toBe(0)

  const again = await up()
  expect(again.stdout).toMatch(/^Imported +0 new, 0 updated and 6 unchanged sessions of .*: 7 entries, \$/m)
  expect(again.stdout).toContain(`Server       ${url} (process ${pid})`)
  expect((await own(['users', 'list'])).data).toHaveLength(1)
  expect((await own(['tokens', 'list'])).data).toHaveLength(1)
  const stopped = await tally.done(['up', '--stop'])
  expect(stopped.stdout).toBe(
    `Stopped the server (process ${pid}). Your data stays in ${state('data')}; hooks store new sessions until it runs again.\n`,
  )
  expect((await tally.done(['up', '--stop'])).stdout).toBe('No server of `tally up` is running.\n')
})

test('variables of another server and database are not used', async () => {
  const variables = {
    TALLY_HOST: '0.0.0.0',
    TALLY_PORT: '1',
    TALLY_DATA: '/nowhere',
    TALLY_DATABASE_URL: 'postgres://127.0.0.1:1/x',
    TALLY_AS: 'nobody@example.com',
    TALLY_PUBLIC_URL: 'https://tally.example.com',
  }
  const { stdout } = await up([], variables)
  expect(stdout).toMatch(LINK)
  const environment = readFileSync(`/proc/${announced().pid}/environ`, 'utf8')
  expect(environment).not.toContain('TALLY_')
})

describe('the agents', () => {
  test('are connected with --yes, also to a server that moves to another port', async () => {
    const { stdout } = await up(['--yes', '--port', String(await freePort())])
    expect(stdout).toMatch(/^Connected +Claude Code, Codex, and Gemini CLI\. Running sessions/m)
    expect(readFileSync(at(SETTINGS), 'utf8')).toContain('agents hook claude-code')
    const { url } = announced()
    const login = JSON.parse(readFileSync(at(LOGIN), 'utf8'))
    expect(login.url).toBe(url)
    await tally.done(['up', '--stop'])
    // Another program takes the port. It is asked for nothing.
    const seen: string[] = []
    const standIn = await standInAt(url, (request) => {
      seen.push(request.url)
      return Response.json({ status: 'ok', proof: 'x' })
    })
    const moved = await up()
    const other = announced().url
    expect(other).not.toBe(url)
    expect(moved.stderr).toContain(`is used by another program, so the server listens on ${new URL(other).port}`)
    expect(JSON.parse(readFileSync(at(LOGIN), 'utf8'))).toEqual({ ...login, url: other })
    expect(moved.stdout).toMatch(/^Imported +0 new, 0 updated and 6 unchanged/m)
    expect(seen).toEqual([])
    await standIn.stop(true)
    // And it is remembered.
    await tally.done(['up', '--stop'])
    await up()
    expect(announced().url).toBe(other)
  })

  test('that report to another server go on with that', async () => {
    await mkdir(at('.config/tally'), { recursive: true })
    const login = '{"url": "https://tally.example.com", "token": "tally_svc_x"}'
    await writeFile(at(LOGIN), login, { mode: 0o600 })
    await writeFile(at(SETTINGS), '{ "hooks": {} }')
    const { stdout, stderr } = await up(['--yes'])
    expect(stdout).toMatch(/^Imported +6 sessions/m)
    expect(stderr).toContain('Agents on this machine report to https://tally.example.com. That does not change.')
    expect(readFileSync(at(LOGIN), 'utf8')).toBe(login)
    expect(readFileSync(at(SETTINGS), 'utf8')).toBe('{ "hooks": {} }')
    expect(existsSync(at('.codex/config.toml'))).toBe(false)
  })

  test('whose token was revoked get a new one', async () => {
    await up(['--yes'])
    const { data } = await own(['tokens', 'list'])
    await tally.done(['--data', state('data'), 'tokens', 'revoke', data[0].id, '--yes'])
    await up()
    const { token } = JSON.parse(readFileSync(at(LOGIN), 'utf8'))
    expect(token).toBe(JSON.parse(readFileSync(state('up.json'), 'utf8')).token)
    const answer = await fetch(`${announced().url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(200)
  })
})

describe('a server that is not ours', () => {
  test('at its port after it was killed gets neither token nor link', async () => {
    // Not the usual one, which other tests may use at the same time.
    await up(['--yes', '--port', String(await freePort())])
    const { url, pid } = announced()
    process.kill(pid, 'SIGKILL')
    await until(() => !isRunning(pid))
    const seen: string[] = []
    const standIn = await standInAt(url, (request) => {
      seen.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get('authorization')}`)
      return Response.json({ status: 'ready', proof: 'x'.repeat(43), data: [], kind: 'service' })
    })
    const { stdout } = await up()
    expect(LINK.exec(stdout)![1]).toStartWith(announced().url)
    expect(announced().url).not.toBe(url)
    expect(seen).toEqual([])
    await standIn.stop(true)
  })

  test('is sent nothing by the agents, and theirs gets it when it runs again', async () => {
    await up(['--yes', '--port', String(await freePort())])
    const { url, pid } = announced()
    const left = readFileSync(state('data/tally.db-server'))
    await tally.done(['up', '--stop'])
    const seen: string[] = []
    const standIn = await standInAt(url, (request) => {
      seen.push(`${new URL(request.url).pathname} ${request.headers.get('authorization')}`)
      return Response.json({ kind: 'service', proof: 'x'.repeat(43), results: [], person: {}, organization: {} })
    })
    const sendAll = async () => {
      const status = await tally.run(['agents', 'status', '--json'])
      expect(JSON.parse(status.stdout).server).toMatchObject({ reachable: false, reports_for: null })
      const receipt = ['receipt', '--ticket', 'ACME-42']
      for (const args of [['agents', 'scan', '--report'], receipt]) {
        const { code, stderr } = await tally.run(args, { env: { TALLY_READ_TOKEN: 'tally_read_x' } })
        expect([code, stderr]).toEqual([1, expect.stringContaining(`does not run at ${url}, so nothing was sent.`)])
      }
    }
    await sendAll()
    expect(seen).toEqual([])
    // It was killed, and another process has its id.
    await writeFile(state('data/tally.db-server'), left.toString().replace(`"pid":${pid}`, `"pid":${process.pid}`))
    await sendAll()
    expect(new Set(seen)).toEqual(new Set(['/.well-known/tally null']))
    await standIn.stop(true)
    await up()
    const { stdout } = await tally.done(['agents', 'scan', '--report'])
    expect(stdout).toMatch(/0 new, 0 updated, [1-9]/)
  })

  test('is an error where the port is fixed', async () => {
    const port = await freePort()
    const standIn = Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response('ok') })
    const { code, stderr } = await tally.run(['up', '--no-browser', '--port', String(port)])
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Port ${port} on 127.0.0.1 is already in use`)])
    await standIn.stop(true)
    await up(['--port', String(port)])
    expect(announced().url).toBe(`http://127.0.0.1:${port}`)
    const other = await tally.run(['up', '--no-browser', '--port', String(await freePort())])
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('To move it: tally up --stop, then')])
  })
})

test('as a service it is started by the system, also by the next run, and --stop removes it', async () => {
  const unit = at('.config/systemd/user/tally-up.service')
  await mkdir(at('bin'), { recursive: true })
  const start = `eval "setsid $(sed -n 's/^ExecStart=//p' '${unit}') >/dev/null 2>&1 &"; echo $! > '${at('pid')}'`
  const systemctl = `#!/bin/sh
echo "$@" >> '${at('calls')}'
case "$2" in
  restart) ${start} ;;
  disable) kill $(cat '${at('pid')}') ;;
esac
`
  await writeFile(at('bin/systemctl'), systemctl, { mode: 0o755 })
  const env = { PATH: `${at('bin')}:${process.env.PATH}` }
  // One that runs already is replaced.
  await up(['--port', String(await freePort())], env)
  const before = announced()
  const { stdout } = await up(['--service', '--yes'], env)
  expect(stdout).toContain(`Service      the systemd user unit ${unit}, which runs whenever you are logged in`)
  expect(readFileSync(unit, 'utf8')).toContain(`"--port" "${new URL(before.url).port}"`)
  const served = announced()
  expect([served.url, served.pid]).toEqual([before.url, Number(readFileSync(at('pid'), 'utf8'))])
  expect(served.pid).not.toBe(before.pid)
  process.kill(served.pid, 'SIGKILL')
  await until(() => !isRunning(served.pid))
  await up([], env)
  expect([announced().url, announced().pid]).toEqual([before.url, Number(readFileSync(at('pid'), 'utf8'))])
  const { pid } = announced()
  const stopped = await tally.done(['up', '--stop'], { env })
  expect(stopped.stdout).toStartWith(`Removed the systemd user unit ${unit}.\nStopped the server (process ${pid}).`)
  expect([existsSync(unit), isRunning(pid)]).toEqual([false, false])
  expect(readFileSync(at('calls'), 'utf8')).toContain('--user enable tally-up.service\n')
})

test('a service that the system does not start is not left behind, and the server starts without it', async () => {
  await mkdir(at('bin'), { recursive: true })
  await writeFile(at('bin/systemctl'), '#!/bin/sh\necho "no bus" >&2\nexit 1\n', { mode: 0o755 })
  const env = { PATH: `${at('bin')}:${process.env.PATH}` }
  const { code, stderr } = await tally.run(['up', '--no-browser', '--service'], { env })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/could not be started: .* no bus\n.* Without it: tally up\n$/),
  ])
  expect(existsSync(at('.config/systemd/user/tally-up.service'))).toBe(false)
  expect((await up([], env)).stdout).toMatch(LINK)
})

test('a file that cannot be read in full is said, and everything else is done', async () => {
  const file = claudeTranscript(tally.folder)
  await appendFile(file, '{"type": "assistant", "message": \n')
  const { code, stdout, stderr } = await tally.run(['up', '--no-browser', '--yes'])
  expect([code, stderr]).toEqual([4, expect.stringContaining('could not be read in full')])
  expect(stdout).toMatch(/^Connected/m)
  expect(stdout).toMatch(LINK)
})

describe('runs', () => {
  test('five at once make one server, one owner and every entry once', async () => {
    const runs = await Promise.all(Array.from({ length: 5 }, () => up(['--yes'])))
    expect(new Set(runs.map(({ stdout }) => LINK.exec(stdout)![2])).size).toBe(1)
    expect((await own(['users', 'list'])).data).toHaveLength(1)
    expect(usedOf((await own(['entries', 'list'])).data)).toEqual(await expectedUse())
  })

  test('that are killed at any moment are continued by the next one', async () => {
    for (const pattern of [/Owner/, /Server/, /Imported/]) {
      const child = await tally.spawn(['up', '--no-browser', '--yes'], 'ignore')
      let output = ''
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        output += text
        if (pattern.test(output)) break
      }
      child.kill('SIGKILL')
      await child.exited
    }
    const { stdout } = await up(['--yes'])
    expect(stdout).toMatch(/^Connected/m)
    expect((await own(['users', 'list'])).data).toHaveLength(1)
    expect(usedOf((await own(['entries', 'list'])).data)).toEqual(await expectedUse())
  })
})

describe('the browser', () => {
  test('opens a file that only its user can read; the link is in no process list, and the file does not stay', async () => {
    const child = await onTerminal(`echo "$1" > '${at('opened')}'; sleep 5`)
    const opened = () => (existsSync(at('opened')) ? readFileSync(at('opened'), 'utf8') : '')
    await until(() => opened().endsWith('\n'))
    const path = opened().trim()
    expect(path).toMatch(/\/tally\/up\/open-\w+\.html$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const [, url, secret] = /content="0;url=(http:\/\/127\.0\.0\.1:\d+)\/sign-in#(\w{32})"/.exec(
      readFileSync(path, 'utf8'),
    )!
    // Of the command and of all that it has started, which still run.
    const commands = readdirSync('/proc').flatMap((id) => (/^\d+$/.test(id) ? commandOf(Number(id)) : []))
    expect(commands.filter((command) => command.includes(tally.folder)).length).toBeGreaterThan(0)
    expect(commands.filter((command) => command.includes(secret!))).toEqual([])
    expect((await signIn(url!, secret!)).status).toBe(200)
    expect(await child.exited).toBe(0)
    expect(await child.stdout.text()).toContain(`Opened ${url} in your browser, signed in.`)
    expect(existsSync(path)).toBe(false)
  })

  test('that cannot read the file is no dead end: the link is printed as well', async () => {
    const child = await onTerminal('exit 4')
    let output = ''
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += text.replaceAll('\r', '')
      const link = LINK.exec(output)
      if (link) await signIn(`http://127.0.0.1:${link[2]}`, link[3]!)
    }
    expect(output).toContain('No browser has used the link yet.')
    expect(await child.exited).toBe(0)
  })
})

test('a database that sudo would make root’s is refused', async () => {
  if (process.getuid!() !== 0) return
  const { code, stderr } = await tally.run(['up'], { env: { SUDO_USER: 'ada' } })
  expect([code, stderr]).toEqual([2, expect.stringContaining('Run it without sudo.')])
  expect(existsSync(state())).toBe(false)
})

test('it has a database of its own', async () => {
  const { code, stderr } = await tally.run(['--data', '/nowhere', 'up'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('tally serve')])
})
