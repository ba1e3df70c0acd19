/** Events over HTTP: what they contain, how they are followed, and who sees which. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

let app: TestApp
let admin: string
let token: string
let read: string
let owner: string
beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  owner = await app.person('member', { password: true })
  token = await app.token('svc', owner)
  read = await app.token('read', owner)
})
afterAll(() => app.close())

const sessionOf = async (email: string) => {
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  return `tally_session=${secret}`
}

const list = async (query = '', session = admin) => (await app.call(`GET /api/v1/events?${query}`, { session })).json
const typesOf = (page: { data: { type: string }[] }) => page.data.map(({ type }) => type)
const now = async () => (await list('after=now')).next_after as string

let sessions = 0
const report = async (changes: Record<string, unknown> = {}) => {
  sessions += 1
  const json = reportBody({ session_id: `events-${sessions}`, summary: 'Secret plans', ...changes })
  return (await app.call('POST /api/v1/token-entries', { token, json })).json
}

test('an entry is one event when it is reported, and one each time that a report changes it', async () => {
  const after = await now()
  const body = reportBody({
    session_id: 'grows',
    summary: 'Secret plans',
    labels: { repository: 'secret/repo' },
    reported_cost: 0.25,
  })
  const { json: entry } = await app.call('POST /api/v1/token-entries', { token, json: body })
  await app.call('POST /api/v1/token-entries', { token, json: body })
  const grown = { ...body, reported_cost: 0.75, tokens: { input: 10, output: 50 }, ended_at: '2026-11-20T12:00:00Z' }
  await app.call('POST /api/v1/token-entries', { token, json: grown })
  const { data, has_more, next_after } = await list(`after=${after}`)
  expect(has_more).toBe(false)
  expect(data.map(({ id }: { id: string }) => id).at(-1)).toBe(next_after)
  const { name } = await app.services.people.getUser(owner)
  const object = {
    id: entry.id,
    name: 'builder, 2026-11-20T10:00:00.000Z',
    url: `${app.url}/entries/${entry.id}`,
  }
  const actor = { user: { id: expect.any(String), name }, token: { id: expect.any(String), name: 'test' } }
  expect(data).toEqual([
    { id: expect.any(String), type: 'entry.created', at: expect.any(String), actor, object, before: null, after: null },
    {
      id: expect.any(String),
      type: 'entry.updated',
      at: expect.any(String),
      actor,
      object,
      before: { tokens: { output: 5 }, cost: 0.25, ended_at: '2026-11-20T11:00:00.000Z' },
      after: { tokens: { output: 50 }, cost: 0.75, ended_at: '2026-11-20T12:00:00.000Z' },
    },
  ])
  expect(JSON.stringify(data)).not.toContain('ecret')
  expect(await app.call(`GET /api/v1/events/${data[0].id}`, { session: admin })).toMatchObject({ json: data[0] })
})

test('a decision, a placement and a correction have what was before and after, but no summary', async () => {
  const entry = await report()
  await app.call('POST /api/v1/projects', { session: admin, json: { key: 'EVT' } })
  const after = await now()
  await app.call(`PATCH /api/v1/token-entries/${entry.id}`, { session: admin, json: { project: 'EVT' } })
  await app.call(`PATCH /api/v1/token-entries/${entry.id}`, { session: admin, json: { summary: 'Other plans' } })
  await app.call(`POST /api/v1/token-entries/${entry.id}/reject`, { session: admin, json: { reason: 'too expensive' } })
  const { data } = await list(`after=${after}`)
  expect(typesOf({ data })).toEqual(['entry.placed', 'entry.corrected', 'entry.rejected'])
  expect(data[0]).toMatchObject({
    before: { project: null, placed_by: 'unattributed' },
    after: { project: { key: 'EVT' }, placed_by: 'manual', because: 'by_hand' },
  })
  expect(data[1]).toMatchObject({ before: null, after: null })
  expect(data[2]).toMatchObject({
    before: { status: 'submitted' },
    after: { status: 'rejected', reason: 'too expensive' },
  })
})

test('many entries that are approved at once are an event each, and the audit log’s one row is none', async () => {
  const ids = [(await report()).id, (await report()).id]
  const after = await now()
  await app.call('POST /api/v1/token-entries/actions', { session: admin, json: { action: 'approve', ids } })
  expect(typesOf(await list(`after=${after}`))).toEqual(['entry.approved', 'entry.approved'])
})

test('a list can be limited to types and areas, and continues after each page', async () => {
  const after = await now()
  for (const key of ['PAGE-1', 'PAGE-2', 'PAGE-3']) {
    await report()
    await app.call('POST /api/v1/projects', { session: admin, json: { key } })
  }
  const first = await list(`after=${after}&types=project.*,bill.sent&limit=2`)
  expect(typesOf(first)).toEqual(['project.added', 'project.added'])
  expect(first.has_more).toBe(true)
  const second = await list(`after=${first.next_after}&types=project.*&limit=2`)
  expect(second.data.map(({ object }: { object: { name: string } }) => object.name)).toEqual(['PAGE-3'])
  expect(second.has_more).toBe(false)
  expect(typesOf(await list(`after=${after}&types=bill.*`))).toEqual([])
})

test('invalid parameters are refused with what is right', async () => {
  const issues = async (query: string) => {
    const { status, json } = await app.call(`GET /api/v1/events?${query}`, { session: admin })
    expect(status).toBe(422)
    return json.errors.map(({ pointer, message }: { pointer: string; message: string }) => `${pointer} ${message}`)
  }
  expect(await issues('after=12&types=entry.aproved&wait=61&limit=0')).toEqual([
    '/query/after must be the id of an event (evt_…), or `now`',
    "/query/types 'entry.aproved' is neither a type of event nor all of an area, such as 'entry.*'. Did you mean 'entry.approved'?",
    '/query/limit must be a whole number from 1 to 1000',
    '/query/wait must be a whole number of seconds from 0 to 60',
  ])
  expect((await issues('after=evt_999999999'))[0]).toContain('a backup has probably replaced')
  expect((await app.call('GET /api/v1/events/evt_999999999', { session: admin })).status).toBe(404)
  expect((await app.call('GET /api/v1/events/1', { session: admin })).status).toBe(404)
})

test('a request that waits is answered with the first event that its caller can see', async () => {
  const after = await now()
  const waiting = list(`after=${after}&wait=20`, await sessionOf(owner))
  // Not for the owner's eyes.
  await app.call('POST /api/v1/projects', { session: admin, json: { key: 'WAIT' } })
  // On an idle machine it has been seen by then, and does not end the wait.
  await Bun.sleep(300)
  const entry = await report()
  const { data } = await waiting
  expect(data).toMatchObject([{ type: 'entry.created', object: { id: entry.id } }])
})

test('a request that waits in vain ends without events, at a position to continue from', async () => {
  const after = await now()
  await app.call('POST /api/v1/projects', { session: admin, json: { key: 'VAIN' } })
  const { data, next_after, has_more } = await list(`after=${after}&wait=1`, await sessionOf(owner))
  expect({ data, has_more }).toEqual({ data: [], has_more: false })
  expect(next_after).toBe(await now())
})

test('a person has at most eight waiting requests, and others as many', async () => {
  const session = await app.session('admin')
  const after = await now()
  const wait = () => app.call(`GET /api/v1/events?after=${after}&wait=60`, { session })
  const many = Array.from({ length: 9 }, wait)
  expect((await Promise.race(many)).status).toBe(429)
  // Ends the others.
  await app.call('POST /api/v1/projects', { session: admin, json: { key: 'MANY' } })
  const statuses = (await Promise.all(many)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(8)
  expect((await wait()).status).toBe(200)
})

/** The first `count` messages of a stream. */
async function messages(
  count: number,
  {
    headers = {},
    query = '',
    onOpen = () => {},
  }: { headers?: Record<string, string>; query?: string; onOpen?: () => void },
) {
  const stop = new AbortController()
  const response = await fetch(`${app.url}/api/v1/events?${query}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${read}`, ...headers },
    signal: stop.signal,
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  onOpen()
  let text = ''
  const found = () => [...text.matchAll(/^id: (\S+)\ndata: (.*)\n\n/gm)]
  const decoder = new TextDecoder()
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (found().length >= count) break
  }
  stop.abort()
  return found().map(([, id, data]) => ({ id, event: JSON.parse(data!) }))
}

test('a stream begins now, and continues after the last event that its client had', async () => {
  const { promise: isOpen, resolve: onOpen } = Promise.withResolvers<void>()
  const streaming = messages(1, { onOpen })
  await isOpen
  const first = await report()
  const [message] = await streaming
  expect(message).toMatchObject({ id: message!.event.id, event: { type: 'entry.created', object: { id: first.id } } })
  const second = await report()
  const [next] = await messages(1, { headers: { 'last-event-id': message!.id! }, query: 'after=evt_1' })
  expect(next!.event.object.id).toBe(second.id)
})

test('a stream refuses a position that is none', async () => {
  const headers = { accept: 'text/event-stream', 'last-event-id': 'evt_one' }
  const { status, json } = await app.call('GET /api/v1/events', { session: admin, headers })
  expect([status, json.errors[0].pointer]).toEqual([422, '/headers/last-event-id'])
})

test('a member sees no event of accounts, bills, prices or settings, and billing none of accounts', async () => {
  const after = await now()
  const email = await app.person('member')
  await app.call('PATCH /api/v1/settings', { session: admin, json: { due_days: 14 } })
  await app.call('POST /api/v1/clients', { session: admin, json: { name: 'Acme' } })
  const { id } = await app.services.people.getUser(email).then(({ uid }) => ({ id: uid }))
  await app.call(`POST /api/v1/users/${id}/disable`, { session: admin })
  const all = await list(`after=${after}`)
  expect(typesOf(all)).toEqual(['user.added', 'organization.changed', 'client.added', 'user.disabled'])
  expect(typesOf(await list(`after=${after}`, await app.session('billing')))).toEqual(['client.added'])
  expect(typesOf(await list(`after=${after}`, await sessionOf(owner)))).toEqual([])
  for (const event of all.data) {
    const { status } = await app.call(`GET /api/v1/events/${event.id}`, { token: read })
    expect(status).toBe(404)
  }
})

test('an API token needs the scope, and viewers have no events', async () => {
  await app.services.organization.changeSettings({ apiTokens: true }, TALLY)
  const person = await app.person('admin')
  const make = async (scope: string) =>
    (await app.services.people.createToken({ kind: 'api', user: person, name: scope, scopes: [scope] }, TALLY)).secret
  expect((await app.call('GET /api/v1/events', { token: await make('events:read') })).status).toBe(200)
  expect((await app.call('GET /api/v1/events', { token: await make('entries:read') })).status).toBe(403)
  expect((await app.call('GET /api/v1/events', { session: await app.session('viewer') })).status).toBe(403)
})

test('a token of an admin reads no event of accounts, unless it may read the audit log', async () => {
  await app.services.organization.changeSettings({ apiTokens: true }, TALLY)
  const person = await app.person('admin')
  const after = await now()
  await app.person('member')
  await app.call('POST /api/v1/clients', { session: admin, json: { name: 'Zenith' } })
  const typesFor = async (secret: string) =>
    typesOf((await app.call(`GET /api/v1/events?after=${after}&types=user.*,client.*`, { token: secret })).json)
  const make = async (scopes: string[]) =>
    (await app.services.people.createToken({ kind: 'api', user: person, name: 'api', scopes }, TALLY)).secret
  expect(await typesFor(await app.token('read', person))).toEqual(['client.added'])
  expect(await typesFor(await make(['events:read']))).toEqual(['client.added'])
  expect(await typesFor(await make(['events:read', 'audit:read']))).toEqual(['user.added', 'client.added'])
})

test('a removed draft is an event, and what was said of it is none of the entry that gets its key', async () => {
  const mine = await sessionOf(owner)
  const { json: sheet } = await app.call('POST /api/v1/token-sheets', { session: mine, json: { month: '2026-10' } })
  const draft = { ...reportBody(), started_at: '2026-10-05T10:00:00Z', ended_at: '2026-10-05T11:00:00Z' }
  const { json: entry } = await app.call(`POST /api/v1/token-sheets/${sheet.id}/entries`, {
    session: mine,
    json: draft,
  })
  const after = await now()
  await app.call(`PATCH /api/v1/token-sheets/${sheet.id}/entries/${entry.id}`, {
    session: mine,
    json: { project: 'EVT' },
  })
  await app.call(`PATCH /api/v1/token-entries/${entry.id}`, { session: mine, json: { project: null } })
  expect(typesOf(await list(`after=${after}`))).toContain('entry.placed')
  await app.call(`DELETE /api/v1/token-sheets/${sheet.id}/entries/${entry.id}`, { session: mine })
  const { id } = await report()
  const { data } = await list(`after=${after}`)
  expect(data.map(({ type, object }: { type: string; object: { id: string } }) => [type, object.id])).toEqual([
    ['entry.removed', entry.id],
    ['entry.created', id],
  ])
})
