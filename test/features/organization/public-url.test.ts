/** The public URL as a setting: who changes it, what follows it at once, and that a wrong one locks nobody out. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { createServices } from '../../../src/services.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { startMailServer } from '../../support/mail-server.ts'

const SETTINGS = '/api/v1/settings'
const PUBLIC = 'https://tally.example.com'

let app: TestApp
let admin: string
beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
})
afterAll(() => app.close())
afterEach(() => app.services.organization.changeSettings({ publicUrl: null, shareLinks: true }, TALLY))

const set = (url: string | null, call: { session?: string; headers?: Record<string, string> } = { session: admin }) =>
  app.call(`PATCH ${SETTINGS}`, { ...call, json: { public_url: url } })

describe('the setting', () => {
  test('is changed by admins, read by everyone, recorded in the audit log, and cleared', async () => {
    expect((await set('https://Tally.Example.com/')).json.public_url).toBe(PUBLIC)
    const member = await app.session('member')
    expect((await app.call(`GET ${SETTINGS}`, { session: member })).json.public_url).toBe(PUBLIC)
    const { data } = (await app.call('GET /api/v1/audit?action=organization.changed&limit=1', { session: admin })).json
    expect(data[0]).toMatchObject({
      action: 'organization.changed',
      before: { public_url: null },
      after: { public_url: PUBLIC },
    })
    expect((await set(null)).json.public_url).toBeNull()
  })

  test.each(['member', 'billing'] as const)('cannot be changed by a %s', async (role) => {
    expect((await set('https://evil.example', { session: await app.session(role) })).status).toBe(403)
    expect(await app.services.organization.publicUrl()).toBeUndefined()
  })

  test('is validated like the option', async () => {
    const { status, json } = await set('https://tally.example.com/tally')
    expect([status, json.errors]).toEqual([
      422,
      [expect.objectContaining({ pointer: '/public_url', message: expect.stringContaining('below a path') })],
    ])
  })

  test('is set by the setup, with every other issue of it', async () => {
    const empty = await startApp()
    try {
      const linkToken = (await empty.services.people.createSetUpLink('')).split('#')[1]!
      const setUp = (public_url: string) =>
        empty.call('POST /api/v1/setup', {
          json: {
            link_token: linkToken,
            organization: { name: 'Acme', time_zone: 'UTC', currency: 'EUR', public_url },
            admin: { name: 'Ada', email: 'ada@example.com', password: PASSWORD },
          },
        })
      const refused = await setUp('tally.example.com')
      expect(refused.json.errors).toMatchObject([{ pointer: '/organization/public_url', code: 'bad_format' }])
      expect((await setUp(`${PUBLIC}/`)).status).toBe(201)
      expect(await empty.services.organization.publicUrl()).toBe(PUBLIC)
    } finally {
      await empty.close()
    }
  })
})

describe('links follow the setting at once:', () => {
  const invite = (email: string, headers: Record<string, string> = {}) =>
    app.call('POST /api/v1/users', { session: admin, json: { email, name: 'Grace', role: 'member' }, headers })

  test('invitations and password links, whatever address the call names', async () => {
    const first = (await invite('one@example.com')).json
    expect(first.link).toStartWith(`${app.url}/password#`)
    await set(PUBLIC)
    const call = { session: admin, headers: { host: 'evil.example', origin: 'http://evil.example' } }
    const { json } = await invite('two@example.com', call.headers)
    expect(json.link).toStartWith(`${PUBLIC}/password#`)
    for (const [user, what] of [
      [first.user.id, 'invitation'],
      [json.user.id, 'password-link'],
    ]) {
      const { json } = await app.call(`POST /api/v1/users/${user}/${what}`, call)
      expect(json.link).toStartWith(`${PUBLIC}/password#`)
    }
  })

  test('share links and events', async () => {
    await set(PUBLIC)
    const link = { report: { period: '30d' as const } }
    const shared = await app.call('POST /api/v1/share-links', { session: admin, json: link })
    expect(shared.json.link).toStartWith(`${PUBLIC}/share/`)
    const { json } = await app.call('GET /api/v1/events?types=user.*', { session: admin })
    expect(json.data[0].object.url).toStartWith(`${PUBLIC}/`)
  })
})

describe('the option of the server', () => {
  test('takes precedence over the setting, in links and in what the browser is told', async () => {
    const fixed = await startApp({ publicUrl: 'https://operator.example.com' })
    try {
      await fixed.services.organization.changeSettings({ publicUrl: 'http://setting.example.com' }, TALLY)
      expect(await fixed.services.organization.publicUrl()).toBe('https://operator.example.com')
      const email = await fixed.person('admin', { password: true })
      const signedIn = await fixed.call('POST /api/v1/session', { json: { email, password: PASSWORD } })
      expect(signedIn.headers.get('set-cookie')).toMatch(/^__Host-tally_session=.*Secure/)
      expect(signedIn.headers.get('strict-transport-security')).toBe('max-age=31536000')
      const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
      const change = (origin: string) =>
        fixed.call(`PATCH ${SETTINGS}`, { headers: { cookie, origin }, json: { public_url: PUBLIC } })
      expect((await change('http://setting.example.com')).status).toBe(403)
      const changed = await change('https://operator.example.com')
      expect(changed.status).toBe(200)
      expect(changed.json).toMatchObject({ public_url: PUBLIC, public_url_option: 'https://operator.example.com' })
    } finally {
      await fixed.close()
    }
  })
})

/** What a browser sends with a page's own calls: over plain HTTP no `Sec-Fetch-Site`, behind a proxy the proxy's Host. */
const BROWSERS = {
  'over plain HTTP': (url: string) => ({ origin: url }),
  'over TLS': (url: string) => ({
    origin: url.replace('http:', 'https:'),
    host: new URL(url).host,
    'sec-fetch-site': 'same-origin',
  }),
  'over TLS, in an old browser': (url: string) => ({ origin: url.replace('http:', 'https:'), host: new URL(url).host }),
}

describe.each(Object.entries(BROWSERS))('an admin %s', (what, headersAt) => {
  const isOverTls = what !== 'over plain HTTP'

  test.each(['https://wrong.example', 'http://wrong.example', 'https of this address', 'http of this address'])(
    'who sets %s signs in, changes it again, and signs out',
    async (wrong) => {
      const headers = headersAt(app.url)
      const url = wrong.endsWith('of this address') ? `${wrong.split(' ')[0]}://${new URL(app.url).host}` : wrong
      const email = await app.person('admin', { password: true })
      const signIn = () => app.call('POST /api/v1/session', { json: { email, password: PASSWORD }, headers })
      const cookieOf = ({ headers }: { headers: Headers }) => headers.get('set-cookie')!.split(';')[0]!
      const before = { cookie: cookieOf(await signIn()), ...headers }
      expect((await set(url, { headers: before })).status).toBe(200)

      const again = await signIn()
      const cookies = again.headers.getSetCookie()
      // A browser drops a Secure cookie over plain HTTP, and one named __Host- that is not Secure.
      for (const cookie of cookies) {
        expect([cookie.startsWith('__Host-'), cookie.includes('; Secure;')]).toEqual([isOverTls, isOverTls])
      }
      const after = { cookie: cookies.map((each) => each.split(';')[0]).join('; '), ...headers }
      for (const headers of [before, after]) {
        expect((await app.call('GET /api/v1/me', { headers })).status).toBe(200)
        expect((await set(PUBLIC, { headers })).status).toBe(200)
        expect((await set(url, { headers })).status).toBe(200)
      }
      const out = await app.call('DELETE /api/v1/session', { headers: after })
      expect([out.status, out.headers.getSetCookie()]).toEqual([204, [expect.stringContaining('Max-Age=0')]])
      expect((await app.call('GET /api/v1/me', { headers: after })).status).toBe(401)
    },
  )
})

describe('pages of another address', () => {
  test('are accepted while it is the public URL, from browsers that do not say where a call comes from', async () => {
    const change = (origin: string) =>
      app.call('DELETE /api/v1/session?everywhere=maybe', { headers: { cookie: admin, origin } })
    expect((await change(PUBLIC)).status).toBe(403)
    await set(PUBLIC)
    expect((await change(PUBLIC)).status).toBe(422)
    expect((await change('http://tally.example.com')).status).toBe(403)
    await set('https://new.example.com')
    expect((await change(PUBLIC)).status).toBe(403)
  })

  test('do not set another public URL if they could not set it back', async () => {
    await set(PUBLIC)
    const old = { cookie: admin, origin: PUBLIC }
    const { status, json } = await set('https://wrong.example', { headers: old })
    expect([status, json.errors[0].pointer]).toEqual([422, '/public_url'])
    expect(json.errors[0].message).toContain(`must be ${PUBLIC}`)
    expect((await set(`${PUBLIC}/`, { headers: old })).status).toBe(200)
    expect((await set('https://wrong.example', { headers: { ...old, 'sec-fetch-site': 'same-origin' } })).status).toBe(
      200,
    )
  })
})

describe('a browser that was signed in without TLS', () => {
  test('loses that session when it signs in or out over TLS', async () => {
    const over = { origin: app.url.replace('http:', 'https:'), host: new URL(app.url).host }
    const email = await app.person('admin', { password: true })
    const plain = await app.session('admin')
    const json = { email, password: PASSWORD }
    const { headers } = await app.call('POST /api/v1/session', { json, headers: { ...over, cookie: plain } })
    const [begun, , ended] = headers.getSetCookie()
    expect(ended).toStartWith('tally_session=; Path=/; Max-Age=0')
    expect((await app.call('GET /api/v1/me', { session: plain })).status).toBe(401)

    // Of both cookies, the one that only TLS can set counts.
    const other = await app.session('member')
    const both = { ...over, cookie: `${other}; ${begun!.split(';')[0]}` }
    expect((await app.call('GET /api/v1/me', { headers: both })).json.person.email).toBe(email)
    const out = await app.call('DELETE /api/v1/session', { headers: both })
    expect(out.headers.getSetCookie().map((cookie) => cookie.split(';')[0])).toEqual([
      '__Host-tally_session=',
      'tally_session=',
    ])
  })
})

forEachEngine('two servers on one database', (open) => {
  test('follow the setting at once, and links in e-mails begin with it or are left out', async () => {
    const mail = await startMailServer()
    try {
      const db = await open()
      const options = { clock: { now: Date.now }, mail: { ...mail.address, from: 'tally@example.com' } }
      const [one, other] = [db, await open({ sharing: db })].map((each) => createServices({ db: each, ...options }))
      await one!.people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
      const letter = async () => {
        const recipient = { userId: 1, email: 'ada@example.com' }
        expect(await other!.notifications.sendNow({ recipient, key: 'k', subject: 'S', body: 'B' })).toBeUndefined()
        return mail.letters.at(-1)!
      }
      expect(await other!.organization.publicUrl()).toBeUndefined()
      expect((await letter()).text).not.toContain('://')
      await one!.organization.changeSettings({ publicUrl: PUBLIC }, TALLY)
      expect(await other!.organization.publicUrl()).toBe(PUBLIC)
      const { text, headers } = await letter()
      expect(text).toContain(`${PUBLIC}/account#notifications`)
      expect(headers.get('list-unsubscribe')).toBe(`<${PUBLIC}/account#notifications>`)
    } finally {
      await mail.close()
    }
  })
})
