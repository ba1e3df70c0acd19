/**
 * Every kind of secret, made by both front doors of one database with a server on it, is searched for in everything
 * that stays: the database's files, a copy of them, the audit trail, the server's log at its most talkative, its
 * metrics, and what is kept where agents run.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
})
afterAll(() => tally.remove())

/** By what it is, for the message of a failure. */
const secrets = new Map<string, string>()
function secret(what: string, text: string): string {
  secrets.set(`${what} ${secrets.size}`, text)
  return text
}

/**
 * A text as it may stand in a file: as it is, in hexadecimal digits, and in base64, where it also looks different by
 * how many bytes precede it in the group of three.
 */
function formsOf(text: string): string[] {
  const hex = Buffer.from(text).toString('hex')
  const base64 = [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)])
    const [start, end] = [Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    return (['base64', 'base64url'] as const).map((form) => bytes.toString(form).slice(start, end))
  })
  return [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), hex, hex.toUpperCase(), ...base64]
}

test('no password, token, link or cookie stays anywhere in any form', async () => {
  const server = await tally.serve(['--log-level', 'debug'])
  const call = async (methodAndPath: string, { session, token, json }: Record<string, unknown> = {}) => {
    const [method, path] = methodAndPath.split(' ') as [string, string]
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: {
        ...(session ? { cookie: String(session), origin: server.url } : {}),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    const cookie = response.headers.get('set-cookie')?.split(';')[0]
    if (cookie?.split('=')[1]) secret('cookie', cookie.split('=')[1]!)
    const text = await response.text()
    return { status: response.status, cookie, json: text === '' ? undefined : JSON.parse(text) }
  }
  const linkToken = (what: string, link: string) => secret(what, link.split('#')[1]!)

  // Over HTTP.
  const setUpLink = await server.untilPrinted(/\/setup#(\w{32})/)
  const password = secret('password of the set-up', 'päss "wörd" of Ada')
  const setUp = await call('POST /setup', {
    json: {
      link_token: secret('set-up link', setUpLink),
      organization: { name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' },
      admin: { email: 'ada@example.com', name: 'Ada', password },
    },
  })
  expect(setUp.status).toBe(201)
  const session = setUp.cookie
  const invited = await call('POST /users', {
    session,
    json: { email: 'grace@example.com', name: 'Grace', role: 'admin' },
  })
  const invitation = linkToken('invitation', invited.json.link)
  const chosen = secret('chosen password', 'chosen by an invitation')
  const grace = await call('POST /password', { json: { link_token: invitation, password: chosen } })
  expect(grace.status).toBe(200)
  // Used again, and put where it does not belong.
  expect((await call('POST /password', { json: { link_token: invitation, password: chosen } })).status).toBe(401)
  const next = secret('changed password', 'changed by herself')
  const change = { session: grace.cookie, json: { current: chosen, new: next } }
  expect((await call('PUT /me/password', change)).status).toBe(204)
  const wrong = secret('wrong password', 'not the password at all')
  expect((await call('POST /session', { json: { email: 'grace@example.com', password: wrong } })).status).toBe(401)
  expect((await call('POST /session', { json: { email: 'grace@example.com', password: next } })).status).toBe(200)
  const unasked = {
    email: 'grace@example.com',
    name: 'Grace',
    role: 'member',
    password: secret('unasked', 'unasked for'),
  }
  expect((await call('POST /users', { session, json: unasked })).status).toBe(422)
  const reset = await call('POST /users/grace@example.com/password-link', { session })
  linkToken('password link', reset.json.link)
  for (const kind of ['svc', 'read', 'org']) {
    const made = await call('POST /tokens', { session, json: { kind, name: `a ${kind} token` } })
    const token = secret(`token ${kind}`, made.json.token)
    expect((await call('GET /me', { token })).status).toBe(200)
    if (kind === 'read') await call(`POST /tokens/${made.json.id}/revoke`, { session })
    expect((await call('GET /me', { token })).status).toBe(kind === 'read' ? 401 : 200)
    // Cut off, and where an id belongs.
    expect((await call('GET /me', { token: token.slice(0, 40) })).status).toBe(401)
    expect((await call(`POST /tokens/${token}/revoke`, { session })).status).toBe(404)
    await tally.run(['tokens', 'revoke', token, '--yes'])
  }
  // With telemetry, in a body and in a query: of what people say to agents nothing stays either.
  const org = [...secrets].findLast(([what]) => what.startsWith('token org'))![1]
  const prompt = secret('prompt', 'what somebody asked of an agent')
  expect((await call('POST /telemetry/v1/logs', { token: org, json: telemetryOf(prompt) })).status).toBe(200)
  expect((await call('POST /telemetry/v1/logs', { token: org, json: { resourceLogs: prompt } })).status).toBe(400)
  expect((await call('POST /telemetry/v1/logs', { token: org.slice(0, 40), json: {} })).status).toBe(401)
  await call(`GET /token-entries?summary=${encodeURIComponent(prompt)}`, { session })
  // Where agents run, the token is in the one file that `login` makes for it.
  const svc = [...secrets].findLast(([what]) => what.startsWith('token svc'))![1]
  await tally.done(['agents', 'login', '--url', server.url, '--token-stdin'], { stdin: svc })
  await tally.done(['agents', 'status'])
  await tally.done(['agents', 'scan'])
  await tally.run(['agents', 'hook', 'claude-code'], { stdin: JSON.stringify({ prompt }) })
  const watched = await (await fetch(new URL('/metrics', server.url))).text()

  const session2 = await call('POST /session', { json: { email: 'ada@example.com', password } })
  expect((await call('DELETE /session?everywhere=true', { session: session2.cookie })).status).toBe(204)

  // On the command line, while the server runs.
  const piped = secret('piped password', 'piped into the command')
  const add = ['users', 'add', '--email', 'linus@example.com', '--name', 'Linus', '--role', 'admin']
  await tally.done([...add, '--password-stdin'], { stdin: piped })
  await tally.done(['users', 'set-password', 'linus@example.com', '--password-stdin'], {
    stdin: secret('set password', 'set by the command'),
  })
  linkToken('reset link', (await tally.json(['users', 'reset-password', 'linus@example.com'])).link)
  await tally.addUser('mary@example.com', 'member')
  linkToken('invitation link', (await tally.json(['users', 'invite', 'mary@example.com'])).link)
  for (const kind of ['svc', 'read', 'org']) {
    secret(`token ${kind}`, (await tally.createToken(kind, 'linus@example.com')).token)
  }
  await tally.done(['users', 'disable', 'linus@example.com'])

  const audit = JSON.stringify(await tally.json(['audit', '--limit', '1000']))
  const copy = join(tally.folder, 'copy.db')
  const live = new Database(join(tally.dataDir, 'tally.db'), { readonly: true })
  live.run(`VACUUM INTO '${copy}'`)
  live.close()
  const whileRunning = await filesOf(tally.dataDir)
  expect(await server.stop()).toBe(0)
  const places: Record<string, Buffer> = {
    ...Object.fromEntries(Object.entries(whileRunning).map(([name, content]) => [`${name} while it runs`, content])),
    ...(await filesOf(tally.dataDir)),
    copy: Buffer.from(await Bun.file(copy).bytes()),
    metrics: Buffer.from(watched),
    ...(await keptForAgents()),
    audit: Buffer.from(audit),
    // The set-up link is printed on purpose, as text between the lines of the log.
    log: Buffer.from(
      server
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .join('\n'),
    ),
  }

  // What may be there is found: this search would find the others.
  for (const [place, content] of Object.entries(places)) {
    if (place === 'log') expect(content.toString()).toContain('sign_in_failed')
    else if (place === 'copy' || place === 'audit') expect(content.includes('grace@example.com')).toBe(true)
  }
  const token = [...secrets].find(([what]) => what.startsWith('token svc'))![1]
  expect(places.copy!.includes(Buffer.from(Bun.SHA256.hash(token) as Uint8Array))).toBe(true)
  expect(places.copy!.includes('$argon2id$')).toBe(true)

  expect(secrets.size).toBeGreaterThanOrEqual(22)
  const found: string[] = []
  for (const [what, text] of secrets) {
    // The first characters of a token are shown in lists; what follows them is the secret.
    const parts = text.startsWith('tally_') ? [text, text.split('_')[2]!.slice(6)] : [text]
    for (const form of parts.flatMap(formsOf)) {
      for (const [place, content] of Object.entries(places)) {
        if (content.includes(form)) found.push(`${what} in ${place}`)
      }
    }
  }
  expect(found).toEqual([])
})

/** Where `tally agents login` keeps the token, for its owner alone. */
const CREDENTIALS = 'agents.json'

/** A log record of Claude Code with a person's words. */
const telemetryOf = (prompt: string) => ({
  resourceLogs: [
    {
      resource: { attributes: [attribute('service.name', 'claude-code')] },
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: '1795000000000000000',
              body: { stringValue: 'claude_code.user_prompt' },
              attributes: [
                attribute('event.name', 'user_prompt'),
                attribute('session.id', 's-1'),
                attribute('prompt', prompt),
              ],
            },
          ],
        },
      ],
    },
  ],
})

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** What lies in the home folder besides the database and its copy, without the file that is made for the token. */
async function keptForAgents(): Promise<Record<string, Buffer>> {
  const kept: Record<string, Buffer> = {}
  for (const entry of await readdir(tally.folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || path.startsWith(tally.dataDir) || path.endsWith('.db')) continue
    if (entry.name !== CREDENTIALS) kept[path] = Buffer.from(await Bun.file(path).bytes())
  }
  return kept
}

async function filesOf(folder: string): Promise<Record<string, Buffer>> {
  const files: Record<string, Buffer> = {}
  for (const name of await readdir(folder)) files[name] = Buffer.from(await Bun.file(join(folder, name)).bytes())
  return files
}
