/** API tokens: what they may do, from where, for how long; and what stays for signed-in people. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { Database } from '../../../src/database/database.ts'
import { access, requireAllow } from '../../../src/http/access.ts'
import { includesScope, SCOPE_NAMES } from '../../../src/shared/token-scopes.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'

const DAY = 86_400_000

test('a scope includes reading in its area, and nothing else', () => {
  expect(includesScope(['projects:write'], 'projects:read')).toBe(true)
  expect(includesScope(['entries:place'], 'entries:read')).toBe(true)
  expect(includesScope(['entries:place'], 'entries:approve')).toBe(false)
  expect(includesScope(['projects:read'], 'projects:write')).toBe(false)
  expect(includesScope(['bills:write'], 'projects:read')).toBe(false)
})

test('the server does not start with a route for people that declares no scope', () => {
  const routesOf = (hook: object) =>
    new Elysia().use(access()).get('/x', (() => '') as never, hook as never).routes as unknown as Parameters<
      typeof requireAllow
    >[0]
  expect(() => requireAllow(routesOf({ allow: ['session'] }))).toThrow('GET /x')
  expect(() => requireAllow(routesOf({ allow: ['service'], scope: 'bills:read' }))).toThrow('GET /x')
  requireAllow(routesOf({ allow: ['session'], scope: 'people-only' }))
  requireAllow(routesOf({ scope: 'bills:read', allow: ['read', 'session'] }))
})

forEachEngine('an API token', (open) => {
  let db: Database
  let app: TestApp
  let now = Date.parse('2026-11-20T12:00:00Z')
  let admin: string
  let adminEmail: string
  let session: string

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => now }, trustedProxies: ['127.0.0.1'] })
    admin = await app.session('admin')
    adminEmail = (await app.call('GET /api/v1/me', { session: admin })).json.person.email
    const email = await app.person('member', { password: true })
    session = `tally_session=${(await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })).secret}`
  })
  afterAll(() => app.close())

  const turn = async (api_tokens: boolean) =>
    expect((await app.call('PATCH /api/v1/settings', { session: admin, json: { api_tokens } })).status).toBe(200)
  const create = (scopes: string[], more: object = {}, by = admin) =>
    app.call('POST /api/v1/tokens', { session: by, json: { kind: 'api', name: 'script', scopes, ...more } })

  test('exists only while an admin allows it, and reports what is wrong with it', async () => {
    expect((await create(['projects:write'])).json.detail).toContain('turned off')
    await turn(true)
    const made = await create(['projects:write'])
    const { token } = made.json
    expect(made.json).toMatchObject({
      kind: 'api',
      token: expect.stringMatching(/^tally_api_[0-9A-Za-z]{38}$/),
      scopes: ['projects:write'],
      networks: null,
      expires_at: new Date(now + 90 * DAY).toISOString(),
    })
    expect((await app.call('GET /api/v1/me', { token })).json).toMatchObject({
      kind: 'api',
      token: { scopes: ['projects:write'] },
    })
    await turn(false)
    const off = await app.call('GET /api/v1/me', { token })
    expect([off.status, off.json.detail]).toEqual([401, expect.stringContaining('turned off')])
    await turn(true)
    expect((await app.call('GET /api/v1/me', { token })).status).toBe(200)
    for (const [scopes, more, pointer] of [
      [[], {}, '/scopes'],
      [['projects:erase'], {}, '/scopes/0'],
      [['projects:write'], { networks: ['10.0.0.0/33'] }, '/networks/0'],
      [['projects:write'], { expires_at: new Date(now + 400 * DAY).toISOString() }, '/expires_at'],
      [['projects:write'], { kind: 'svc' }, '/scopes'],
      [['projects:write'], { allow: ['bills'] }, '/allow'],
    ] as const) {
      const { status, json } = await create([...scopes], more)
      expect([pointer, status, json.errors?.[0]?.pointer]).toEqual([pointer, 422, pointer])
    }
    const beyond = await create(['bills:write'], {}, session)
    expect([beyond.status, beyond.json.errors[0].pointer]).toEqual([422, '/scopes/0'])
  })

  test('does what its scopes say, without an Origin, and is in the audit log', async () => {
    const { json: made } = await create(['projects:write'])
    const token = made.token
    expect((await app.call('POST /api/v1/projects', { token, json: { key: 'SCRIPT' } })).status).toBe(201)
    expect((await app.call('GET /api/v1/projects/SCRIPT', { token })).status).toBe(200)
    const { data } = (await app.call('GET /api/v1/audit?action=project.added', { session: admin })).json
    expect(data[0]).toMatchObject({ user: { email: adminEmail }, token: { id: made.id } })
    for (const call of ['GET /api/v1/token-entries', 'GET /api/v1/bills', 'GET /api/v1/users', 'GET /api/v1/audit']) {
      const answer = await app.call(call, { token })
      expect([call, answer.status, answer.json.detail]).toEqual([call, 403, expect.stringContaining('scope')])
    }
  })

  test('records payments with the scope of bills', async () => {
    const pay = (token: string) => app.call('POST /api/v1/bills/2026-9999/payments', { token, json: {} })
    const [writing, reading] = [(await create(['bills:write'])).json.token, (await create(['bills:read'])).json.token]
    expect([(await pay(writing)).status, (await pay(reading)).status]).toEqual([404, 403])
  })

  test('cannot approve when it may only assign, by any route', async () => {
    const { token } = (await create(['entries:place'])).json
    const filter = '?status=submitted'
    const act = (json: object) => app.call(`POST /api/v1/token-entries/actions${filter}`, { token, json })
    expect((await act({ action: 'place', project: 'SCRIPT', dry_run: true })).status).toBe(200)
    expect((await act({ action: 'approve', dry_run: true })).status).toBe(403)
    const entry = 'PATCH /api/v1/token-entries/ent_01a1fa172a0277f3983322718874f2ef'
    const correct = (token: string, json: object) => app.call(entry, { token, json })
    const figures = { reported_cost: 1, reason: 'In cents' }
    expect((await correct(token, { project: 'SCRIPT' })).status).toBe(404)
    expect((await correct(token, figures)).status).toBe(403)
    const { token: corrects } = (await create(['entries:correct'])).json
    expect((await correct(corrects, figures)).status).toBe(404)
    expect((await correct(corrects, { ...figures, project: 'SCRIPT' })).status).toBe(403)
    const { token: approves } = (await create(['entries:approve'])).json
    const place = { action: 'place', project: 'SCRIPT', dry_run: true }
    expect(
      (await app.call(`POST /api/v1/token-entries/actions${filter}`, { token: approves, json: place })).status,
    ).toBe(403)
  })

  test('has at most the rights of its creator’s role at the moment of the call', async () => {
    const email = await app.person('billing', { password: true })
    const by = `tally_session=${(await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })).secret}`
    const { token } = (await create(['projects:write', 'bills:read'], {}, by)).json
    expect((await app.call('GET /api/v1/bills', { token })).status).toBe(200)
    const { id } = (await app.call('GET /api/v1/me', { token })).json.person
    const change = (json: object) => app.call(`PATCH /api/v1/users/${id}`, { session: admin, json })
    await change({ role: 'member' })
    expect((await app.call('GET /api/v1/bills', { token })).status).toBe(403)
    expect((await app.call('POST /api/v1/projects', { token, json: { key: 'NOT' } })).status).toBe(403)
    expect((await app.call('GET /api/v1/projects', { token })).status).toBe(200)
    await app.call(`POST /api/v1/users/${id}/disable`, { session: admin })
    expect((await app.call('GET /api/v1/projects', { token })).status).toBe(401)
  })

  test('with every scope of an admin, changes no sign-in, password, session, token, role or setting', async () => {
    const { json: made } = await create([...SCOPE_NAMES])
    const token = made.token
    const user = (await app.call('GET /api/v1/users', { token })).json.data.find(
      ({ email }: { email: string }) => email !== adminEmail,
    )
    const refused: [string, unknown?][] = [
      ['GET /api/v1/me/sessions'],
      ['PATCH /api/v1/me', { name: 'Eve' }],
      ['PUT /api/v1/me/password', { current: PASSWORD, new: 'another long one' }],
      ['DELETE /api/v1/session'],
      ['GET /api/v1/tokens'],
      ['POST /api/v1/tokens', { kind: 'read', name: 'more' }],
      [`POST /api/v1/tokens/${made.id}/rotate`, {}],
      [`POST /api/v1/tokens/${made.id}/revoke`],
      ['POST /api/v1/users', { email: 'eve@example.com', name: 'Eve', role: 'admin' }],
      [`PATCH /api/v1/users/${user.id}`, { role: 'admin' }],
      [`PATCH /api/v1/users/${user.id}`, { email: 'eve@example.com' }],
      [`POST /api/v1/users/${user.id}/invitation`],
      [`POST /api/v1/users/${user.id}/password-link`],
      ['PATCH /api/v1/settings', { api_tokens: false }],
      ['POST /api/v1/deputies', { deputy: 'x', from: '2026-12-01', to: '2026-12-02' }],
      ['POST /api/v1/token-entries', undefined],
    ]
    for (const [call, json] of refused) {
      const answer = await app.call(call, { token, ...(json !== undefined && { json }) })
      expect([call, answer.status]).toEqual([call, 403])
    }
    expect((await app.call(`PATCH /api/v1/users/${user.id}`, { token, json: { name: 'Renamed' } })).status).toBe(200)
  })

  test('works from its networks only, as the server determines the address', async () => {
    const { token } = (await create(['projects:read'], { networks: ['10.0.0.0/8', '2001:db8::/32'] })).json
    const from = async (address: string) =>
      (await app.call('GET /api/v1/projects', { token, headers: { 'x-forwarded-for': address } })).status
    expect([await from('10.1.2.3'), await from('2001:db8::7')]).toEqual([200, 200])
    expect([await from('192.0.2.1'), await from('10.1.2.3, 192.0.2.1')]).toEqual([403, 403])
    expect((await app.call('GET /api/v1/projects', { token })).status).toBe(403)
  })

  test('is rotated by its owner, with an overlap in which both work', async () => {
    const { json: old } = await create(['projects:read'], { expires_at: new Date(now + 10 * DAY).toISOString() })
    const rotate = (by: string) =>
      app.call(`POST /api/v1/tokens/${old.id}/rotate`, { session: by, json: { overlap_hours: 2 } })
    expect((await rotate(session)).status).toBe(404)
    const { status, json: made } = await rotate(admin)
    expect([status, made]).toEqual([201, expect.objectContaining({ scopes: ['projects:read'], name: 'script' })])
    expect(made.expires_at).toBe(old.expires_at)
    const works = async (token: string) => (await app.call('GET /api/v1/projects', { token })).status
    expect([await works(old.token), await works(made.token)]).toEqual([200, 200])
    now += 2 * 3_600_000
    expect([await works(old.token), await works(made.token)]).toEqual([401, 200])
    expect((await rotate(admin)).status).toBe(422)
    const email = await app.person('admin', { password: true })
    const other = `tally_session=${(await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })).secret}`
    // Not even by another admin, who would get to know the secret.
    expect((await app.call(`POST /api/v1/tokens/${made.id}/rotate`, { session: other, json: {} })).status).toBe(404)
  })

  test('is rotated once: another replacement would live no longer than the overlap', async () => {
    const { json: old } = await create(['projects:read'])
    const rotate = (id: string) =>
      app.call(`POST /api/v1/tokens/${id}/rotate`, { session: admin, json: { overlap_hours: 2 } })
    const { json: made } = await rotate(old.id)
    const { status, json: problem } = await rotate(old.id)
    expect([status, problem.code]).toEqual([409, 'wrong_status'])
    expect(problem.detail).toContain(`replaced by ${made.id}`)
    const { status: again, json: next } = await rotate(made.id)
    expect([again, next.expires_at]).toEqual([201, made.expires_at])
  })
})
