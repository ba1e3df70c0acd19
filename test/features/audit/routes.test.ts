import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

let app: TestApp
let email: string
let session: string
beforeAll(async () => {
  app = await startApp({ trustedProxies: ['127.0.0.1'] })
  email = await app.person('admin', { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  session = `tally_session=${secret}`
})
afterAll(() => app.close())

const audit = async (query = '') => (await app.call(`GET /api/v1/audit?${query}`, { session })).json
const actions = async (query = '') => (await audit(query)).data.map(({ action }: { action: string }) => action)

test('what is changed over HTTP is kept with who did it, and from which address, also behind a proxy', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.7' }
  const json = { email: 'grace@example.com', name: 'Grace', role: 'member' }
  const { json: made } = await app.call('POST /api/v1/users', { session, headers, json })
  await app.call(`PATCH /api/v1/users/${made.user.id}`, { session, headers, json: { role: 'billing' } })
  const { id, name } = await app.services.people.getUser(email).then(({ uid, name }) => ({ id: uid, name }))
  const { data, has_more } = await audit(`object=${made.user.id}`)
  expect(has_more).toBe(false)
  expect(data.map(({ action }: { action: string }) => action)).toEqual(['user.changed', 'user.invited', 'user.added'])
  expect(data[0]).toEqual({
    at: expect.stringMatching(/Z$/),
    user: { id, name, email },
    for: null,
    token: null,
    origin: '192.0.2.7',
    action: 'user.changed',
    object: { id: made.user.id, name: 'grace@example.com' },
    before: { role: 'member' },
    after: { role: 'billing' },
    removed: [],
  })
})

test('a change names what of it was removed since', async () => {
  const add = (path: string, json: object) => app.call(`POST /api/v1/${path}`, { session, json })
  const { json: client } = await add('clients', { name: 'Gone Ltd' })
  const { json: project } = await add('projects', { key: 'STAYS', client: 'Gone Ltd' })
  const removedOf = async (query: string) =>
    (await audit(query)).data.map(({ removed }: { removed: string[] }) => removed)
  expect(await removedOf(`object=${project.id}`)).toEqual([[]])
  await app.call(`PATCH /api/v1/projects/${project.id}`, { session, json: { client: null } })
  expect((await app.call(`DELETE /api/v1/clients/${client.id}`, { session })).status).toBe(204)
  expect(await removedOf(`object=${project.id}`)).toEqual([[client.id], [client.id]])
  expect(await removedOf(`object=${client.id}&action=client`)).toEqual([[client.id], [client.id]])
})

test('every call that changes something leaves its line', async () => {
  const { json: token } = await app.call('POST /api/v1/tokens', { session, json: { kind: 'svc', name: 'ci' } })
  await app.call(`POST /api/v1/tokens/${token.id}/revoke`, { session })
  expect(await actions(`object=${token.id}`)).toEqual(['token.revoked', 'token.created'])

  const person = await app.person('member')
  await app.call(`POST /api/v1/users/${person}/disable`, { session })
  await app.call(`POST /api/v1/users/${person}/enable`, { session })
  const { json: made } = await app.call(`POST /api/v1/users/${person}/password-link`, { session })
  const chosen = { link_token: made.link.split('#')[1], password: PASSWORD }
  await app.call('POST /api/v1/password', { json: chosen })
  const signedIn = await app.call('POST /api/v1/session', { json: { email: person, password: PASSWORD } })
  const own = signedIn.headers.get('set-cookie')!.split(';')[0]!
  await app.call('PATCH /api/v1/me', { session: own, json: { name: 'Somebody' } })
  await app.call('PUT /api/v1/me/password', { session: own, json: { current: PASSWORD, new: 'of another kind' } })
  await app.call('DELETE /api/v1/session?everywhere=true', { session: own })
  expect(await actions(`object=${person}`)).toEqual([
    'user.signed_out_everywhere',
    'user.password_changed',
    'user.changed',
    'session.begun',
    'user.password_chosen',
    'user.password_link_made',
    'user.enabled',
    'user.disabled',
    'user.added',
  ])
  expect(await actions(`user=${person}`)).toHaveLength(5)

  await app.call('PATCH /api/v1/settings', { session, json: { name: 'Acme' } })
  await app.call('POST /api/v1/prices', { session, json: { model: 'our-coder', input: 1, output: 2 } })
  await app.call('POST /api/v1/price-aliases', { session, json: { alias: 'coder', model: 'our-coder' } })
  await app.call('DELETE /api/v1/price-aliases?alias=coder', { session })
  expect(new Set(await actions('action=session,token&without_action=session'))).toEqual(
    new Set(['token.created', 'token.revoked']),
  )
  expect(await actions('action=session')).toContain('session.begun')
  expect(await actions('without_action=session,user')).not.toContain('session.begun')
  expect(await actions('action=organization,price,price_alias')).toEqual([
    'price_alias.removed',
    'price_alias.set',
    'price.set',
    'organization.changed',
  ])
})

test('valuing entries again leaves one line with its counts and sums', async () => {
  const token = await app.token('svc', email)
  const entry = reportBody({ model: 'unheard-of', tokens: { input: 1_000_000, output: 0 } })
  await app.call('POST /api/v1/token-entries', { token, json: entry })
  await app.call('POST /api/v1/token-entries', { token, json: { ...entry, agent_name: 'tester' } })
  await app.call('POST /api/v1/prices', { session, json: { model: 'unheard-of', input: 1.25, output: 2 } })
  const { data } = await audit('action=entries.repriced')
  expect(data).toMatchObject([
    { user: { email }, object: null, after: { entries: 2, cost: { before: 0, after: 2.5 } } },
  ])
})

test('the trail is for admins, as CSV as well, and cannot be changed', async () => {
  for (const role of ['member', 'billing'] as const) {
    expect((await app.call('GET /api/v1/audit', { session: await app.session(role) })).status).toBe(403)
  }
  for (const kind of ['svc', 'read', 'org'] as const) {
    expect((await app.call('GET /api/v1/audit', { token: await app.token(kind) })).status).toBe(403)
  }
  await app.services.people.addUser({ email: 'eve@example.com', name: '=SUM(A1)', role: 'member' }, TALLY)
  const { text, headers } = await app.call('GET /api/v1/audit?object=eve@example.com&format=csv', { session })
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [heading, row] = text.split('\r\n')
  expect(heading).toBe('at,user,token,origin,action,object_id,object,before,after,for,user_id,token_id,for_id')
  expect(row).toMatch(/Z,,,tally,user\.added,usr_\w{32},eve@example\.com,,"\{""email"":/)
  const lines = await app.call('GET /api/v1/audit?object=eve@example.com&format=ndjson', { session })
  expect(lines.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  expect(
    lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action),
  ).toEqual(['user.added'])
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    expect((await app.call(`${method} /api/v1/audit`, { session })).status).toBe(405)
  }
  const refused = await app.call('GET /api/v1/audit?starting_at=noon&limit=x', { session })
  expect(refused.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/query/starting_at',
    '/query/limit',
  ])
})
