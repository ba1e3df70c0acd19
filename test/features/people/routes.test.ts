import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYBODYS_TOKENS } from '../../../src/features/people/service.ts'
import { newSecret } from '../../../src/features/people/tokens/secret.ts'
import { startApp, type TestApp } from '../../support/app.ts'

const HOUR_MS = 3_600_000

let app: TestApp
const clock = { ahead: 0, now: () => Date.now() + clock.ahead }

beforeAll(async () => {
  app = await startApp({ clock })
})
afterAll(() => app.close())

describe('GET /me', () => {
  test.each([
    ['svc', 'service'],
    ['read', 'read'],
    ['org', 'organization'],
  ] as const)('tells a tally_%s_ token what it is and whose', async (kind, known) => {
    const email = await app.person('admin')
    const secret = await app.token(kind, email)
    const person = await app.services.people.findUser(email)
    const { status, json } = await app.call('GET /api/v1/me', { token: secret })
    expect(status).toBe(200)
    expect(json).toEqual({
      kind: known,
      token: {
        id: expect.stringMatching(/^tok_[0-9a-f]{32}$/),
        kind,
        name: 'test',
        hint: secret.split('_')[2]!.slice(0, 6),
        allow_bills: false,
        scopes: null,
        expires_at: null,
        limit: null,
      },
      session: null,
      person: { id: person!.uid, name: person!.name, email, role: 'admin' },
      acts_for: [],
      organization: { name: 'Tally', time_zone: 'UTC' },
      ...(known === 'service' && { held_entries: 0 }),
    })
  })

  test('shows the permissions of a token and when it expires', async () => {
    const expiresAt = clock.now() + HOUR_MS
    const { secret } = await app.services.people.createToken(
      {
        kind: 'svc',
        user: await app.person('billing'),
        name: 'month-end',
        expiresAt,
        allowBills: true,
      },
      TALLY,
    )
    const { json } = await app.call('GET /api/v1/me', { token: secret })
    expect(json.token).toMatchObject({ allow_bills: true, expires_at: new Date(expiresAt).toISOString() })
  })

  test('does not know other methods', async () => {
    const { status, headers } = await app.call('POST /api/v1/me', { token: await app.token('svc'), json: {} })
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS, PATCH')
  })
})

describe('a refused credential is answered with the reason', () => {
  const refusals: [string, () => Promise<string | undefined>, RegExp][] = [
    ['none', async () => undefined, /Send a token/],
    ['of another scheme', async () => 'Basic YTpi', /must be `Bearer` followed by a token/],
    ['a scheme alone', async () => 'Bearer ', /must be `Bearer` followed by a token/],
    [
      'two tokens',
      async () => `Bearer ${newSecret('svc')} ${newSecret('svc')}`,
      /must be `Bearer` followed by a token/,
    ],
    ["another program's", async () => 'Bearer sk-ant-abcdef', /not a Tally token/],
    ['mistyped', async () => `Bearer ${(await app.token('svc')).replace(/.$/, '!')}`, /mistyped/],
    ['cut off', async () => `Bearer ${(await app.token('svc')).slice(0, -3)}`, /mistyped or incomplete/],
    ['well-formed but unknown', async () => `Bearer ${newSecret('svc')}`, /Unknown token/],
    [
      'revoked',
      async () => {
        const { people } = app.services
        const made = await people.createToken({ kind: 'svc', user: await app.person(), name: 'ci' }, TALLY)
        await app.call('GET /api/v1/me', { token: made.secret })
        await people.revokeToken(EVERYBODYS_TOKENS, made.token.uid, TALLY)
        return `Bearer ${made.secret}`
      },
      /'ci' \(\w{6}…\) was revoked/,
    ],
    [
      'of a disabled person',
      async () => {
        const email = await app.person()
        const token = await app.token('read', email)
        await app.services.people.disableUser(email, TALLY)
        return `Bearer ${token}`
      },
      /is disabled/,
    ],
  ]

  test.each(refusals)('%s', async (_what, authorization, detail) => {
    const sent = await authorization()
    const { status, json, headers } = await app.call('GET /api/v1/me', {
      headers: sent === undefined ? {} : { authorization: sent },
    })
    expect(status).toBe(401)
    expect(json.code).toBe('unauthenticated')
    expect(json.detail).toMatch(detail)
    expect(headers.get('www-authenticate')).toStartWith('Bearer')
  })

  test('expired', async () => {
    const { people } = app.services
    const expiresAt = clock.now() + HOUR_MS
    const { secret } = await people.createToken(
      { kind: 'svc', user: await app.person(), name: 'brief', expiresAt },
      TALLY,
    )
    expect((await app.call('GET /api/v1/me', { token: secret })).status).toBe(200)
    clock.ahead = HOUR_MS
    const { status, json } = await app.call('GET /api/v1/me', { token: secret })
    clock.ahead = 0
    expect(status).toBe(401)
    expect(json.detail).toContain(`expired at ${new Date(expiresAt).toISOString()}`)
  })

  test('and no secret is in the log or the answer', async () => {
    const secrets = [newSecret('svc'), `${newSecret('svc')}x`]
    for (const token of secrets) {
      const { text } = await app.call('GET /api/v1/me', { token })
      expect(text).not.toContain(token.slice(10, 40))
      expect(JSON.stringify(app.log)).not.toContain(token.slice(10, 40))
    }
  })
})

describe('the first-run set-up', () => {
  let fresh: TestApp
  let link: string
  const request = (change: Record<string, unknown> = {}) => ({
    link_token: link,
    organization: { name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' },
    admin: { email: 'ada@example.com', name: 'Ada', password: 'correct horse' },
    ...change,
  })

  beforeAll(async () => {
    fresh = await startApp()
    link = (await fresh.services.people.createSetUpLink(fresh.url)).split('#')[1]!
  })
  afterAll(() => fresh.close())

  test('refuses a wrong link', async () => {
    const { status, json } = await fresh.call('POST /api/v1/setup', { json: request({ link_token: 'x'.repeat(32) }) })
    expect(status).toBe(401)
    expect(json.detail).toContain('Restart the server')
  })

  test.each([
    ['a missing part', { admin: undefined }, ['/admin']],
    ['an unknown field', { colour: 'red' }, ['/colour']],
    [
      'a wrong zone and currency',
      { organization: { name: 'Acme', time_zone: 'Mars/Olympus', currency: 'eur' } },
      ['/organization/time_zone', '/organization/currency'],
    ],
    [
      'a bad address and a short password',
      { admin: { email: 'ada@@example', name: 'Ada', password: 'short' } },
      ['/admin/email', '/admin/password'],
    ],
  ])('refuses %s with every pointer', async (_what, change, pointers) => {
    const { status, json } = await fresh.call('POST /api/v1/setup', { json: request(change) })
    expect(status).toBe(422)
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
  })

  test('takes nothing that a form on another site could post', async () => {
    const { status } = await fresh.call('POST /api/v1/setup', {
      body: JSON.stringify(request()),
      headers: { 'content-type': 'text/plain' },
    })
    expect(status).toBe(415)
  })

  test('makes the admin and the organization, and works once', async () => {
    const { status, json } = await fresh.call('POST /api/v1/setup', { json: request() })
    expect(status).toBe(201)
    expect(json.user).toMatchObject({ email: 'ada@example.com', role: 'admin', has_password: true })
    expect(json.organization).toEqual({ name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' })

    const again = await fresh.call('POST /api/v1/setup', { json: request() })
    expect(again.status).toBe(409)
    expect(again.json.code).toBe('already_set_up')

    const token = await fresh.token('read', 'ada@example.com')
    expect((await fresh.call('GET /api/v1/me', { token })).json.organization.name).toBe('Acme')
  })

  test('logs neither the link nor the password', () => {
    expect(JSON.stringify(fresh.log)).not.toContain(link)
    expect(JSON.stringify(fresh.log)).not.toContain('correct horse')
  })
})
