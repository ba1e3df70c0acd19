/** What is followed ends, or shows less, as soon as the rights of its reader do. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
/** The session of an admin who keeps all rights. */
let keeper: string
beforeAll(async () => {
  app = await startApp()
  keeper = await app.session('admin')
  await asKeeper('PATCH /api/v1/settings', { api_tokens: true })
})
afterAll(() => app.close())

interface Reader {
  email: string
  headers: Record<string, string>
  /** Ends the right to read. */
  revoke(): Promise<unknown>
}

async function admin(): Promise<Pick<Reader, 'email'> & { session: string }> {
  const email = await app.person('admin', { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  return { email, session: `tally_session=${secret}` }
}

async function apiToken() {
  const { email } = await admin()
  const created = { kind: 'api' as const, user: email, name: 'script', scopes: ['events:read', 'audit:read'] }
  const { token, secret } = await app.services.people.createToken(created, TALLY)
  return { email, token, headers: { authorization: `Bearer ${secret}` } }
}

/** Each way to lose the right to read events of people. */
const WAYS: Record<string, () => Promise<Reader>> = {
  'its token is revoked': async () => {
    const { email, token, headers } = await apiToken()
    return { email, headers, revoke: () => asKeeper(`POST /api/v1/tokens/${token.uid}/revoke`) }
  },
  'its person is disabled': async () => {
    const { email, headers } = await apiToken()
    return { email, headers, revoke: () => asKeeper(`POST /api/v1/users/${email}/disable`) }
  },
  'its person signs out': async () => {
    const { email, session } = await admin()
    const revoke = () => app.call('DELETE /api/v1/session', { session })
    return { email, headers: { cookie: session, origin: app.url }, revoke }
  },
  'its person gets a lower role': async () => {
    const { email, session } = await admin()
    return { email, headers: { cookie: session, origin: app.url }, revoke: () => lowerRole(email) }
  },
}

const asKeeper = async (operation: string, json?: object) => {
  const { status, json: answer } = await app.call(operation, { session: keeper, ...(json && { json }) })
  expect(status).toBeLessThan(300)
  return answer
}

/** Billing sees no events of people, but those of projects. */
const lowerRole = (email: string) => asKeeper(`PATCH /api/v1/users/${email}`, { role: 'billing' })

const addProject = async () =>
  (await asKeeper('POST /api/v1/projects', { key: `P${crypto.randomUUID().slice(0, 8)}` })).key

/** A new person, of whom only admins learn. */
async function addPerson(): Promise<string> {
  const email = `new-${crypto.randomUUID()}@example.com`
  await app.services.people.addUser({ email, name: email, role: 'member' }, TALLY)
  return email
}

async function streamOf(path: string, headers: Record<string, string>) {
  const stop = new AbortController()
  const response = await fetch(app.url + path, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal: stop.signal,
  })
  expect(response.status).toBe(200)
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let hasEnded = false
  return {
    stop: () => stop.abort(),
    /** Reads on until the text contains something, or to the end of the stream. */
    async readTo(expected: string): Promise<string> {
      while (!hasEnded && !text.includes(expected)) {
        const { done, value } = await reader.read()
        hasEnded = done
        text += decoder.decode(value, { stream: true })
      }
      return text
    },
  }
}

test.each(Object.keys(WAYS))('a stream of events says nothing more of people once %s', async (way) => {
  const { headers, revoke } = await WAYS[way]!()
  const stream = await streamOf('/api/v1/events', headers)
  await stream.readTo('retry')
  const before = await addPerson()
  expect(await stream.readTo(before)).toContain(before)
  await revoke()
  const after = await addPerson()
  // What a lower role may still read, after which the person would have come.
  const text = await stream.readTo(await addProject())
  stream.stop()
  expect(text).not.toContain(after)
})

test.each(Object.keys(WAYS))('a request that waits for events answers nothing of people once %s', async (way) => {
  const { headers, revoke } = await WAYS[way]!()
  const now = await fetch(`${app.url}/api/v1/events?after=now`, { headers })
  const { next_after } = (await now.json()) as { next_after: string }
  const waiting = fetch(`${app.url}/api/v1/events?after=${next_after}&wait=60&types=user.added,project.added`, {
    headers,
  })
  await revoke()
  const after = await addPerson()
  await addProject()
  const response = await waiting
  const text = await response.text()
  expect(text).not.toContain(after)
  if (way !== 'its person gets a lower role') expect(response.status).toBe(401)
})

test('a stream of changes ends once its person signs out, and says nothing of what only admins see after a lower role', async () => {
  const [leaving, lowered] = [await admin(), await admin()]
  const open = ({ session }: { session: string }) => streamOf('/api/v1/changes', { cookie: session, origin: app.url })
  const streams = [await open(leaving), await open(lowered)]
  for (const stream of streams) await stream.readTo('id:')
  await app.call('DELETE /api/v1/session', { session: leaving.session })
  await lowerRole(lowered.email)
  await addPerson()
  await addProject()
  const [ended, shown] = await Promise.all([streams[0]!.readTo('work'), streams[1]!.readTo('work')])
  for (const stream of streams) stream.stop()
  expect(ended).not.toContain('people')
  expect(ended).not.toContain('work')
  expect(shown).not.toContain('people')
  expect(shown).toContain('work')
})
