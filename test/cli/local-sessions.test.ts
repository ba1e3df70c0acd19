/** Sessions of the machine in the set-up of a server that is private to it, with the real executable on a terminal. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { LocalSessionsBody } from '../../src/features/people/operations/local-sessions.ts'
import { expectedUse, fillHome, usedOf } from '../support/agents-home.ts'
import { CommandLine } from '../support/command-line.ts'
import { until } from '../support/processes.ts'
import { serveOnTerminal } from '../support/terminal-server.ts'

const ADMIN = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' }

const NOTHING = { agents: [], state: 'found', issue: null }

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  await fillHome(tally.folder)
})
afterEach(() => tally.remove())

const send = (url: string, path: string, { cookie = '', body }: { cookie?: string; body?: object } = {}) =>
  fetch(`${url}/api/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { cookie, origin: url, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })

const cookieOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ')

async function setUp(url: string, secret: string): Promise<string> {
  const organization = { name: 'Acme', time_zone: 'UTC', currency: 'USD' }
  const answer = await send(url, '/setup', { body: { link_token: secret, organization, admin: ADMIN } })
  expect(answer.status).toBe(201)
  return cookieOf(answer)
}

test('who has set Tally up on a terminal imports what is on the machine; nobody else is told of it', async () => {
  const { url, secret, stop } = await serveOnTerminal(tally)
  const cookie = await setUp(url, secret)
  const read = async () => (await (await send(url, '/local-sessions', { cookie })).json()) as LocalSessionsBody
  expect(await read()).toEqual({
    agents: [
      { agent_harness: 'claude-code', files: expect.any(Number) },
      { agent_harness: 'codex', files: expect.any(Number) },
      { agent_harness: 'gemini-cli', files: expect.any(Number) },
    ],
    state: 'found',
    issue: null,
  })
  // Lines of the page for agents work in any terminal of the machine.
  const { program } = (await (await send(url, '/me', { cookie })).json()) as { program: string }
  expect(program).toBe(await tally.executable())
  // The same person, signed in once more.
  const again = cookieOf(await send(url, '/session', { body: { email: ADMIN.email, password: ADMIN.password } }))
  expect(await (await send(url, '/local-sessions', { cookie: again })).json()).toEqual(NOTHING)
  expect((await send(url, '/local-sessions')).status).toBe(401)
  expect((await send(url, '/local-sessions', { cookie: again, body: {} })).status).toBe(404)

  const begun = await send(url, '/local-sessions', { cookie, body: {} })
  expect([begun.status, ((await begun.json()) as LocalSessionsBody).state]).toEqual([202, 'importing'])
  let now = await read()
  await until(async () => {
    now = await read()
    return now.state !== 'importing'
  })
  expect(now).toMatchObject({ state: 'imported', issue: null })
  const { data } = (await (await send(url, '/token-entries?limit=100', { cookie })).json()) as { data: [] }
  expect(usedOf(data)).toEqual(await expectedUse())
  await stop()
})

test('a server that others may reach, or that no person has started, says nothing of its machine', async () => {
  for (const args of ['--host 0.0.0.0', '--public-url https://tally.example.com', '--trusted-proxies 127.0.0.1']) {
    const { url, secret, stop } = await serveOnTerminal(tally, args)
    const local = `http://127.0.0.1:${new URL(url).port}`
    const cookie = await setUp(local, secret)
    expect([args, await (await send(local, '/local-sessions', { cookie })).json()]).toEqual([args, NOTHING])
    expect([args, await (await send(local, '/me', { cookie })).json()]).not.toMatchObject([
      args,
      { program: expect.anything() },
    ])
    await stop()
    await tally.remove()
    tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  }
  const server = await tally.serve()
  const secret = await server.untilPrinted(/\/setup#(\w+)/)
  const cookie = await setUp(server.url, secret)
  expect(await (await send(server.url, '/local-sessions', { cookie })).json()).toEqual(NOTHING)
  expect((await send(server.url, '/local-sessions', { cookie, body: {} })).status).toBe(404)
  await server.stop()
})
