/** What open pages receive: that something changed that their reader may see, and nothing else. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/processes.ts'
import { reportBody } from '../../support/reports.ts'

let app: TestApp
const sessions: Record<string, string> = {}
let token: string

beforeAll(async () => {
  app = await startApp()
  const emails: Record<string, string> = {}
  for (const name of ['owner', 'lead', 'other']) {
    emails[name] = await app.person('member', { password: true })
    const { secret } = await app.services.people.signIn({ email: emails[name], password: PASSWORD, address: '::1' })
    sessions[name] = `tally_session=${secret}`
  }
  sessions.admin = await app.session('admin')
  sessions.billing = await app.session('billing')
  token = await app.token('svc', emails.owner)
  const json = { key: 'ACME', name: 'Acme', leads: [emails.lead] }
  expect((await app.call('POST /api/v1/projects', { session: sessions.admin, json })).status).toBe(201)
})
afterAll(() => app.close())

const read = async (who: string, after?: string) =>
  (await app.call(`GET /api/v1/changes${after === undefined ? '' : `?after=${after}`}`, { session: sessions[who]! }))
    .json as { id: string; kinds: string[] }

const report = async (number: number) => {
  const json = reportBody({ session_id: `changes-${number}`, project: 'ACME' })
  expect((await app.call('POST /api/v1/token-entries', { token, json })).status).toBe(201)
}

test('an entry concerns its owner, the lead of its project and those who see everything', async () => {
  const { id, kinds } = await read('admin')
  expect(kinds).toEqual([])
  await report(1)
  const told: Record<string, string[]> = {}
  for (const who of Object.keys(sessions)) told[who] = (await read(who, id)).kinds
  expect(told).toEqual({ owner: ['entries'], lead: ['entries'], other: [], admin: ['entries'], billing: ['entries'] })
})

test('an unattributed entry also concerns leads of its repository', async () => {
  const change = (json: object) => app.call('PATCH /api/v1/projects/ACME', { session: sessions.admin!, json })
  const toldOf = async (number: number, more: object) => {
    const { id } = await read('admin')
    const json = reportBody({ session_id: `repository-${number}`, labels: { repository: 'acme/web' }, ...more })
    expect((await app.call('POST /api/v1/token-entries', { token, json })).status).toBe(201)
    return [(await read('lead', id)).kinds, (await read('other', id)).kinds]
  }
  expect(await toldOf(1, {})).toEqual([[], []])
  await change({ repositories: ['acme/web'] })
  expect(await toldOf(2, {})).toEqual([['entries'], []])
  expect(await toldOf(3, { labels: { repository: 'acme/api' } })).toEqual([[], []])
  expect(await toldOf(4, { project: 'ELSEWHERE' })).toEqual([[], []])
  await change({ repositories: [] })
  expect(await toldOf(5, {})).toEqual([[], []])
})

test('accounts concern admins only, and clients those who see everything', async () => {
  const { id } = await read('admin')
  const json = { email: 'new@example.com', name: 'New', role: 'member' }
  expect((await app.call('POST /api/v1/users', { session: sessions.admin!, json })).status).toBe(201)
  await app.call('POST /api/v1/clients', { session: sessions.admin!, json: { name: 'Secret client' } })
  expect((await read('admin', id)).kinds).toEqual(['work', 'people'])
  expect((await read('billing', id)).kinds).toEqual(['work'])
  expect((await read('owner', id)).kinds).toEqual([])
})

test('a position of another state of the database means that everything may have changed', async () => {
  expect((await read('owner', '999999999')).kinds).toEqual(['entries', 'sheets', 'budgets'])
  const { status } = await app.call('GET /api/v1/changes?after=evt_1', { session: sessions.owner! })
  expect(status).toBe(422)
})

test('a stream tells within seconds, without content, and only signed-in people have one', async () => {
  const leaving = new AbortController()
  const headers = { accept: 'text/event-stream', cookie: sessions.lead!, origin: app.url }
  const response = await fetch(`${app.url}/api/v1/changes`, { headers, signal: leaving.signal })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  let text = ''
  const { promise: hasBegun, resolve: begun } = Promise.withResolvers<void>()
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const bytes of response.body!) {
      text += decoder.decode(bytes)
      // The position from which it tells.
      if (text.includes('id: ')) begun()
      if (text.includes('data: ')) return
    }
  })()
  await hasBegun
  await report(2)
  await reading
  leaving.abort()
  expect(/data: (.*)/.exec(text)![1]).toBe('{"kinds":["entries"]}')
  expect((await app.call('GET /api/v1/changes', { token: await app.token('read') })).status).toBe(403)
  expect((await app.call('GET /api/v1/changes', { session: await app.session('viewer') })).status).toBe(403)
})

test('nobody has more streams than a few, and one that ends leaves its place', async () => {
  const leaving = new AbortController()
  const headers = { accept: 'text/event-stream', cookie: sessions.other!, origin: app.url }
  const open = () => fetch(`${app.url}/api/v1/changes`, { headers, signal: leaving.signal })
  const opened = await Promise.all(Array.from({ length: 9 }, open))
  expect(opened.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(1)
  leaving.abort()
  const again = new AbortController()
  const openAgain = () => fetch(`${app.url}/api/v1/changes`, { headers, signal: again.signal })
  expect(await until(async () => (await openAgain()).status === 200)).toBe(true)
  again.abort()
})
