import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { Role } from '../../../src/database/schema/values.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { PNG } from '../../support/picture.ts'

const DAY_MS = 86_400_000

let app: TestApp
let admin: string
beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
})
afterAll(() => app.close())

/** A new person of the role, with a session of theirs. */
async function signedIn(role: Role): Promise<{ email: string; session: string }> {
  const email = await app.person(role, { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  return { email, session: `tally_session=${secret}` }
}

const choose = (link: string, password = 'chosen by a link') =>
  app.call('POST /api/v1/password', { json: { link_token: link.split('#')[1], password } })

describe('people', () => {
  const operations: [string, unknown?][] = [
    ['GET /api/v1/users'],
    ['POST /api/v1/users', { email: 'x@example.com', name: 'X', role: 'member' }],
    ['GET /api/v1/users/OTHER'],
    ['PATCH /api/v1/users/OTHER', { name: 'Changed' }],
    ['POST /api/v1/users/OTHER/disable'],
    ['POST /api/v1/users/OTHER/enable'],
    ['POST /api/v1/users/OTHER/invitation'],
    ['POST /api/v1/users/OTHER/password-link'],
    ['PATCH /api/v1/settings', { name: 'Changed' }],
    ['DELETE /api/v1/settings/logo'],
    ['GET /api/v1/audit'],
  ]

  test.each(['member', 'billing'] as const)('are managed by admins: a %s can do none of it', async (role) => {
    const { session } = await signedIn(role)
    const other = await app.person()
    const before = await app.services.people.findUser(other)
    for (const [call, json] of operations) {
      const { status, json: answer } = await app.call(call.replace('OTHER', other), { session, json })
      expect([call, status, answer.code]).toEqual([call, 403, 'forbidden'])
      expect(answer.detail).toContain('needs the role admin')
    }
    expect(await app.services.people.findUser(other)).toEqual(before)
  })

  test('are invited, choose a password by the link, and cannot sign in before', async () => {
    const invited = { email: ' Grace@Example.com', name: 'Grace', role: 'billing' }
    const { status, json, headers } = await app.call('POST /api/v1/users', { session: admin, json: invited })
    expect(status).toBe(201)
    expect(json.user).toMatchObject({ email: 'grace@example.com', role: 'billing', has_password: false })
    expect(headers.get('location')).toBe(`/api/v1/users/${json.user.id}`)
    // Begins with the address under which the admin's browser has opened Tally.
    expect(json.link).toMatch(new RegExp(`^${app.url}/password#\\w{32}$`))
    expect(Date.parse(json.expires_at) - Date.now()).toBeWithin(6.9 * DAY_MS, 7 * DAY_MS + 1)

    const credentials = { email: 'grace@example.com', password: 'chosen by a link' }
    expect((await app.call('POST /api/v1/session', { json: credentials })).status).toBe(401)
    expect((await choose(json.link)).status).toBe(200)
    expect((await app.call('POST /api/v1/session', { json: credentials })).status).toBe(200)

    const again = await app.call(`POST /api/v1/users/${json.user.id}/invitation`, { session: admin })
    expect([again.status, again.json.code]).toEqual([409, 'already_exists'])
  })

  test('get links that begin with the public address where there is one', async () => {
    const behind = await startApp({ publicUrl: 'https://tally.example.com' })
    const email = await behind.person('admin', { password: true })
    const { secret } = await behind.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    const { json } = await behind.call('POST /api/v1/users', {
      headers: { cookie: `__Host-tally_session=${secret}`, origin: 'https://tally.example.com' },
      json: { email: 'grace@example.com', name: 'Grace', role: 'member' },
    })
    expect(json.link).toStartWith('https://tally.example.com/password#')
    await behind.close()
  })

  test('are listed the last added first, page by page, and found by name, address, role and state', async () => {
    const names = ['Zoë Ärmel', 'Ümit', 'Zoë Second']
    for (const [index, name] of names.entries()) {
      const json = { email: `list-${index}@example.net`, name, role: 'member' }
      expect((await app.call('POST /api/v1/users', { session: admin, json })).status).toBe(201)
    }
    await app.services.people.disableUser('list-1@example.net', TALLY)
    const list = async (query: string) => (await app.call(`GET /api/v1/users?${query}`, { session: admin })).json
    const found = async (query: string) => (await list(query)).data.map(({ name }: { name: string }) => name)
    expect(await found('search=EXAMPLE.NET')).toEqual(['Zoë Second', 'Ümit', 'Zoë Ärmel'])
    expect(await found('search=zoë')).toEqual(['Zoë Second', 'Zoë Ärmel'])
    expect(await found(`search=${encodeURIComponent('Ärmel')}`)).toEqual(['Zoë Ärmel'])
    expect(await found('search=example.net&state=disabled')).toEqual(['Ümit'])
    expect(await found('search=example.net&role=admin,billing')).toEqual([])
    expect(await found(`search=${encodeURIComponent('%')}`)).toEqual([])
    const first = await list('search=example.net&limit=2')
    expect([first.has_more, first.data.length]).toEqual([true, 2])
    const second = await list(`search=example.net&limit=2&page=${first.next_page}`)
    expect([second.has_more, second.next_page, second.data[0].name]).toEqual([false, null, 'Zoë Ärmel'])
    const csv = await app.call('GET /api/v1/users?search=example.net&format=csv', { session: admin })
    expect(csv.text.split('\r\n')[0]).toStartWith('id,name,email,role,')
    expect(
      csv.text
        .split('\r\n')
        .slice(1, 4)
        .map((line) => line.split(',')[1]),
    ).toEqual(names.toSorted())

    const { status, json } = await app.call('GET /api/v1/users?role=boss&state=gone&limit=0', { session: admin })
    expect(status).toBe(422)
    const pointers = json.errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(pointers).toEqual(['/query/role', '/query/state', '/query/limit'])
  })

  test('change name, address and role, each from the next call on', async () => {
    const { email, session } = await signedIn('member')
    const change = (json: unknown, who = email) => app.call(`PATCH /api/v1/users/${who}`, { session: admin, json })
    const { status, json } = await change({ name: ' New Name ', role: 'billing' })
    expect([status, json.name, json.role]).toEqual([200, 'New Name', 'billing'])
    expect((await app.call('GET /api/v1/me', { session })).json.person).toMatchObject({ role: 'billing' })
    const moved = await change({ email: 'Moved@Example.com' }, json.id)
    expect(moved.json.email).toBe('moved@example.com')
    // Absent is unchanged.
    expect((await change({}, json.id)).json).toEqual(moved.json)
    const signIn = (address: string) =>
      app.call('POST /api/v1/session', { json: { email: address, password: PASSWORD } })
    expect([(await signIn(email)).status, (await signIn('moved@example.com')).status]).toEqual([401, 200])
  })

  test.each([
    ['an address that is taken', { email: 'TAKEN@example.com' }, 409, 'already_exists'],
    ['a bad address', { email: 'x' }, 422, 'validation_failed'],
    ['a name of nothing', { name: ' ' }, 422, 'validation_failed'],
    ['a role that there is not', { role: 'boss' }, 422, 'validation_failed'],
    ['a password', { password: 'correct horse battery' }, 422, 'validation_failed'],
    ['null', { name: null }, 422, 'validation_failed'],
  ])('do not change to %s', async (_what, json, status, code) => {
    await app.services.people
      .addUser({ email: 'taken@example.com', name: 'Taken', role: 'member' }, TALLY)
      .catch(() => undefined)
    const email = await app.person('member')
    const before = await app.services.people.findUser(email)
    const answer = await app.call(`PATCH /api/v1/users/${email}`, { session: admin, json })
    expect([answer.status, answer.json.code]).toEqual([status, code])
    expect(await app.services.people.findUser(email)).toEqual(before)
  })

  test('are disabled with what they used of late, and enabled again', async () => {
    const { email, session } = await signedIn('member')
    const token = await app.token('read', email)
    await app.call('GET /api/v1/me', { token })
    await app.services.people.flushLastUsed()
    const disabled = await app.call(`POST /api/v1/users/${email}/disable`, { session: admin })
    expect(disabled.status).toBe(200)
    expect(disabled.json.disabled_at).not.toBeNull()
    for (const link of ['invitation', 'password-link']) {
      const refused = await app.call(`POST /api/v1/users/${disabled.json.id}/${link}`, { session: admin })
      expect([link, refused.status]).toEqual([link, 422])
    }
    expect(disabled.json.tokens_in_use).toMatchObject([{ kind: 'read', state: 'stopped' }])
    const statuses = async () => [
      (await app.call('GET /api/v1/me', { token })).status,
      (await app.call('GET /api/v1/me', { session })).status,
    ]
    expect(await statuses()).toEqual([401, 401])
    const enabled = await app.call(`POST /api/v1/users/${email}/enable`, { session: admin })
    expect([enabled.status, enabled.json.disabled_at]).toEqual([200, null])
    // Tokens work again; who was signed out signs in again.
    expect(await statuses()).toEqual([200, 401])
  })

  test('who forgot their password get a link, which ends their sessions once it is used', async () => {
    const { email, session } = await signedIn('member')
    const { status, json } = await app.call(`POST /api/v1/users/${email}/password-link`, { session: admin })
    expect([status, json.user.email]).toEqual([200, email])
    expect((await app.call('GET /api/v1/me', { session })).status).toBe(200)
    expect((await choose(json.link)).status).toBe(200)
    expect((await app.call('GET /api/v1/me', { session })).status).toBe(401)
  })

  test('of whom one is the last admin keep them', async () => {
    const alone = await startApp()
    const email = await alone.person('admin', { password: true })
    const { secret } = await alone.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    const session = `tally_session=${secret}`
    for (const [call, json] of [
      [`PATCH /api/v1/users/${email}`, { role: 'member' }],
      [`POST /api/v1/users/${email}/disable`, undefined],
    ] as const) {
      const answer = await alone.call(call, { session, json })
      expect([call, answer.status, answer.json.code]).toEqual([call, 409, 'last_admin'])
    }
    expect((await alone.call('GET /api/v1/me', { session })).json.person.role).toBe('admin')
    await alone.close()
  })

  test.each(['GET /api/v1/users/ID', 'PATCH /api/v1/users/ID', 'POST /api/v1/users/ID/disable'])(
    'who are not there are nowhere: %s',
    async (call) => {
      for (const id of ['nobody@example.com', `usr_${'0'.repeat(32)}`, '%00', 'usr_1']) {
        const json = call.startsWith('PATCH') ? {} : undefined
        expect((await app.call(call.replace('ID', id), { session: admin, json })).status).toBe(404)
      }
    },
  )
})

describe('one’s own', () => {
  test('name changes, and nothing else', async () => {
    const { email, session } = await signedIn('member')
    const { status, json } = await app.call('PATCH /api/v1/me', { session, json: { name: 'Someone Else' } })
    expect([status, json.person.name]).toEqual([200, 'Someone Else'])
    expect((await app.call('GET /api/v1/me', { session })).json).toEqual(json)
    for (const more of [{ role: 'admin' }, { email: 'x@example.com' }]) {
      expect((await app.call('PATCH /api/v1/me', { session, json: more })).status).toBe(422)
    }
    expect(await app.services.people.getUser(email)).toMatchObject({ email, role: 'member' })
  })

  test('choice of notifications changes, topic by topic, and viewers have none', async () => {
    const { session } = await signedIn('member')
    const usual = { budget_alerts: true, attention: false, weekly_summary: false, anomalies: false }
    expect((await app.call('GET /api/v1/me', { session })).json).toMatchObject({
      notifications: usual,
      sends_email: false,
      has_password: true,
    })
    const change = { weekly_summary: true, budget_alerts: false }
    const changed = await app.call('PATCH /api/v1/me', { session, json: { notifications: change } })
    expect(changed.json.notifications).toEqual({ ...usual, ...change })
    expect((await app.call('GET /api/v1/me', { session })).json).toEqual(changed.json)
    for (const wrong of [{ everything: true }, { anomalies: 'yes' }, []]) {
      expect((await app.call('PATCH /api/v1/me', { session, json: { notifications: wrong } })).status).toBe(422)
    }
    const viewer = await app.session('viewer')
    expect((await app.call('GET /api/v1/me', { session: viewer })).json.notifications).toBeUndefined()
  })

  test('sessions are listed until they end, without those of others', async () => {
    const { email, session } = await signedIn('member')
    await signedIn('member')
    const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    const list = async () => (await app.call('GET /api/v1/me/sessions', { session })).json.data
    expect((await list()).map(({ current }: { current: boolean }) => current)).toEqual([false, true])
    await app.call('DELETE /api/v1/session', { session: `tally_session=${secret}` })
    expect(await list()).toEqual([
      {
        signed_in_at: expect.any(String),
        last_seen_at: expect.any(String),
        expires_at: expect.any(String),
        current: true,
      },
    ])
  })
})

/** No retention period: everything is kept. */
const KEPT = {
  retention_texts: null,
  retention_session_ids: null,
  retention_history: null,
  retention_audit: null,
  retention_events: 3,
}

describe('settings', () => {
  test('are read by everyone who is signed in, and changed by admins', async () => {
    const { session } = await signedIn('member')
    const before = (await app.call('GET /api/v1/settings', { session })).json
    expect(before).toEqual({
      name: 'Tally',
      time_zone: 'UTC',
      currency: 'USD',
      week_start: 'monday',
      locale: null,
      public_url: null,
      public_url_option: null,
      unknown_projects: 'create',
      same_session: 'hold',
      approval_required: false,
      api_tokens: false,
      ...KEPT,
      share_links: false,
      lead_rules: false,
      telemetry_by_email: false,
      cost_basis: 'cost',
      leads_see_fees: false,
      sheet_required_fields: [],
      demo: false,
    })
    const change = {
      name: ' Acme ',
      time_zone: 'Europe/Berlin',
      currency: 'EUR',
      week_start: 'sunday',
      unknown_projects: 'hold',
      same_session: 'count',
      approval_required: true,
      api_tokens: true,
      share_links: true,
      lead_rules: true,
      telemetry_by_email: true,
      cost_basis: 'list',
      leads_see_fees: true,
    }
    const { status, json } = await app.call('PATCH /api/v1/settings', { session: admin, json: change })
    expect([status, json]).toMatchObject([200, { ...change, name: 'Acme' }])
    const one = await app.call('PATCH /api/v1/settings', { session: admin, json: { unknown_projects: 'create' } })
    expect(one.json).toEqual({ ...json, unknown_projects: 'create' })
    expect((await app.call('GET /api/v1/settings', { session })).json).toEqual({
      ...change,
      ...KEPT,
      sheet_required_fields: [],
      demo: false,
      name: 'Acme',
      week_start: 'sunday',
      locale: null,
      public_url: null,
      public_url_option: null,
      unknown_projects: 'create',
    })
    expect((await app.call('GET /api/v1/me', { session })).json.organization.name).toBe('Acme')
  })

  test('refuse a day that does not exist as the start of weeks', async () => {
    const { status, json } = await app.call('PATCH /api/v1/settings', {
      session: admin,
      json: { week_start: 'someday' },
    })
    expect([status, json.errors[0].pointer]).toEqual([422, '/week_start'])
    const { organization } = app.services
    const refusal = await organization
      .changeSettings({ weekStart: 'someday' as never }, TALLY)
      .catch(({ code }) => code)
    expect(refusal).toBe('validation_failed')
  })

  test('have a locale by its canonical tag, which everyone can read, and refuse what is none', async () => {
    const set = (locale: string | null) => app.call('PATCH /api/v1/settings', { session: admin, json: { locale } })
    for (const wrong of ['german', 'xx-YY', 'de-DE-u-nu-arab']) {
      const { status, json } = await set(wrong)
      expect([status, json.errors]).toEqual([
        422,
        [
          {
            pointer: '/locale',
            code: 'not_allowed',
            message: 'must be the BCP 47 tag of a locale, such as de-CH or en-GB',
          },
        ],
      ])
    }
    expect((await set('DE-ch')).json.locale).toBe('de-CH')
    const { session } = await signedIn('member')
    expect((await app.call('GET /api/v1/settings', { session })).json.locale).toBe('de-CH')
    const { data } = (await app.call('GET /api/v1/audit?limit=1&action=organization.changed', { session: admin })).json
    expect(data).toMatchObject([{ before: { locale: null }, after: { locale: 'de-CH' } }])
    expect((await set(null)).json.locale).toBeNull()
  })

  test('of bills are visible to billing, and not to members', async () => {
    const change = {
      email: 'bills@acme.example',
      address: '1 Road\n10115 Berlin',
      tax_id: 'DE123456789',
      markup: 12.5,
      due_days: 14,
      bill_number_format: '{year}/{sequence}',
      bill_footer: 'Please pay.',
    }
    const { json } = await app.call('PATCH /api/v1/settings', { session: admin, json: change })
    expect(json).toMatchObject({ ...change, logo: null })
    const { session: billing } = await signedIn('billing')
    expect((await app.call('GET /api/v1/settings', { session: billing })).json).toEqual(json)
    const { session: member } = await signedIn('member')
    expect(Object.keys((await app.call('GET /api/v1/settings', { session: member })).json)).toHaveLength(23)
    expect((await app.call('PATCH /api/v1/settings', { session: billing, json: change })).status).toBe(403)
    const cleared = await app.call('PATCH /api/v1/settings', { session: admin, json: { markup: null, email: null } })
    expect(cleared.json).toEqual({ ...json, markup: null, email: null })
  })

  test('have a picture for bills, PNG or JPEG by what it holds', async () => {
    const put = (body: Uint8Array<ArrayBuffer>, type = 'image/png', session = admin) =>
      app.call('PUT /api/v1/settings/logo', { session, body, headers: { 'content-type': type } })
    expect((await app.call('GET /api/v1/settings/logo', { session: admin })).status).toBe(404)
    expect(await put(PNG)).toMatchObject({ status: 200, json: { logo: 'image/png' } })
    const { session: billing } = await signedIn('billing')
    const answer = await fetch(`${app.url}/api/v1/settings/logo`, { headers: { cookie: billing } })
    expect(answer.headers.get('content-type')).toBe('image/png')
    expect(await answer.bytes()).toEqual(PNG)
    expect((await put(PNG, 'image/png', billing)).status).toBe(403)
    expect((await put(PNG, 'text/plain')).status).toBe(415)
    expect(await put(Buffer.from('<svg/>'))).toMatchObject({ status: 422, json: { code: 'validation_failed' } })
    expect((await put(new Uint8Array(300_000))).json.errors[0].message).toBe('must be at most 256 KiB')
    expect((await put(new Uint8Array(2_000_000))).status).toBe(413)
    const wide = Uint8Array.from(PNG)
    new DataView(wide.buffer).setUint32(16, 100_000)
    expect((await put(wide)).json.errors[0].message).toContain('2,000 pixels')
    const removed = await app.call('DELETE /api/v1/settings/logo', { session: admin })
    expect(removed.json).toMatchObject({ logo: null })
    const { data: changes } = await app.services.audit.listChanges({
      filter: { actions: ['organization.logo_changed'] },
      limit: 1,
      after: undefined,
    })
    expect(changes[0]).toMatchObject({ before: { logo: 'image/png', bytes: PNG.length }, after: { logo: null } })
  })

  test('that make no sense are refused, all at once', async () => {
    const json = {
      name: '',
      time_zone: '+01:00',
      currency: 'euro',
      week_start: 'monday',
      unknown_projects: 'drop',
      email: 'x',
      due_days: 400,
    }
    const answer = await app.call('PATCH /api/v1/settings', { session: admin, json })
    expect(answer.status).toBe(422)
    const pointers = answer.json.errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(pointers).toEqual(['/name', '/time_zone', '/currency', '/unknown_projects', '/email', '/due_days'])
  })
})
