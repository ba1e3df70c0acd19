import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { HashingThread } from '../../../src/features/people/passwords/hashing-thread.ts'
import { createServices } from '../../../src/services.ts'
import { PASSWORD, type StartOptions, startApp, type TestApp } from '../../support/app.ts'
import { cheapHasher } from '../../support/cheap-hasher.ts'
import { contentOf } from '../../support/databases.ts'
import type { Answer } from '../../support/document.ts'
import { reportBody } from '../../support/reports.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const SIGN_IN = 'POST /api/v1/session'
const SIGN_OUT = 'DELETE /api/v1/session'
const ME = 'GET /api/v1/me'
const CHANGE = 'PUT /api/v1/me/password'

// It stands still: an account's first pause is a second, which forty attempts on a busy machine take longer than.
const begun = Date.now()
const clock = { ahead: 0, now: () => begun + clock.ahead }
beforeEach(() => {
  // Two hours on, nothing that an earlier test did wrong is held against the next one.
  clock.ahead += 120 * MINUTE_MS
})

/** Everything that nobody must find in a database or a log. */
const secrets = new Set<string>([PASSWORD])
const secret = (text: string) => {
  secrets.add(text)
  return text
}

const apps: TestApp[] = []
async function start(options: StartOptions = {}): Promise<TestApp> {
  const app = await startApp({ clock, ...options })
  apps.push(app)
  return app
}
afterAll(async () => {
  for (const app of apps) await app.close()
})

/** The cookie that an answer sets, as a browser sends it back. */
function cookieOf({ headers }: Answer): string {
  const [pair = ''] = headers.get('set-cookie')!.split(';')
  secret(pair.split('=')[1]!)
  return pair
}

let app: TestApp
beforeAll(async () => {
  app = await start()
})

const newPerson = (role: 'member' | 'billing' | 'admin' = 'admin', at = app) => at.person(role, { password: true })

const signIn = (email: string, password = PASSWORD, headers: Record<string, string> = {}, at = app) =>
  at.call(SIGN_IN, { json: { email, password: secret(password) }, headers })

/** The cookie of a new session. */
const sessionOf = async (email: string, at = app) => cookieOf(await signIn(email, PASSWORD, {}, at))

const statusOf = async (session: string, at = app) => (await at.call(ME, { session })).status

describe('signing in', () => {
  test('answers who is signed in and sets a cookie that no script and no other site can use', async () => {
    const email = await newPerson('billing')
    const { status, json, headers } = await signIn(` ${email.toUpperCase()} `)
    expect(status).toBe(200)
    expect(json).toMatchObject({ kind: 'session', token: null, person: { email, role: 'billing' } })
    const { signed_in_at, expires_at } = json.session
    expect(Date.parse(expires_at) - Date.parse(signed_in_at)).toBe(30 * DAY_MS)
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^tally_session=[0-9A-Za-z]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/),
      expect.stringMatching(/^tally_device=\w{16}\.[\w-]{43}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Strict$/),
    ])
    const me = await app.call(ME, { session: cookieOf({ headers } as Answer) })
    expect(me.json).toMatchObject(json)
    expect((await app.services.people.findUser(email))!.lastSignedInAt).toBe(Date.parse(signed_in_at))
  })

  test('behind TLS sets a cookie that is never sent without it', async () => {
    const behind = await start({ publicUrl: 'https://tally.example.com' })
    const email = await newPerson('admin', behind)
    const answer = await signIn(email, PASSWORD, {}, behind)
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-tally_session=\w{43}; Path=\/; Max-Age=2592000; Secure; HttpOnly; SameSite=Strict$/,
      ),
      expect.stringMatching(
        /^__Host-tally_device=\S{60}; Path=\/; Max-Age=31536000; Secure; HttpOnly; SameSite=Strict$/,
      ),
    ])
    expect(await statusOf(cookieOf(answer), behind)).toBe(200)
    // What a neighbouring host could have set.
    expect(await statusOf(cookieOf(answer).replace('__Host-', ''), behind)).toBe(401)
  })

  test('gives a new value each time, never the one that the browser had, which is worth nothing afterwards', async () => {
    const email = await newPerson()
    const chosen = `tally_session=${'x'.repeat(43)}`
    const first = cookieOf(await signIn(email, PASSWORD, { cookie: chosen }))
    expect(first).not.toBe(chosen)
    expect(await statusOf(chosen)).toBe(401)
    const second = cookieOf(await signIn(email, PASSWORD, { cookie: first }))
    expect(second).not.toBe(first)
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
  })

  test('in two browsers makes two sessions', async () => {
    const email = await newPerson()
    const sessions = [await sessionOf(email), await sessionOf(email)]
    expect([await statusOf(sessions[0]!), await statusOf(sessions[1]!)]).toEqual([200, 200])
  })

  test('fails in the same words and after the same work, whoever it is', async () => {
    const own = await start({ hasher: new HashingThread() })
    const [known, disabled] = [await own.person(), await own.person()]
    for (const email of [known, disabled]) await own.services.people.setPassword(email, PASSWORD, TALLY)
    await own.services.people.disableUser(disabled, TALLY)
    const withoutPassword = await own.person()
    const verify = spyOn(HashingThread.prototype, 'verify')
    const bodies: unknown[] = []
    const costs: unknown[] = []
    for (const email of [known, 'nobody@example.com', withoutPassword, disabled]) {
      verify.mockClear()
      const { status, json } = await signIn(email, 'not the password', {}, own)
      expect(status).toBe(401)
      const { request_id: _, ...body } = json
      bodies.push(body)
      costs.push(verify.mock.calls.map(([, hash]) => String(hash).split('$').slice(1, 4)))
    }
    verify.mockRestore()
    expect(bodies[0]).toMatchObject({ code: 'sign_in_failed' })
    for (const body of bodies) expect(body).toEqual(bodies[0])
    expect(costs[0]).toEqual([['argon2id', 'v=19', 'm=19456,t=8,p=1']])
    for (const cost of costs) expect(cost).toEqual(costs[0])
  })

  test('fails for a disabled person, with that reason only if the password is right', async () => {
    const email = await newPerson()
    await app.services.people.disableUser(email, TALLY)
    const { status, json, headers } = await signIn(email)
    expect(status).toBe(401)
    expect(json.detail).toContain('disabled')
    expect(headers.get('set-cookie')).toBeNull()
  })

  test('takes the same keys for the same password, whatever code points a system makes of them', async () => {
    const email = await app.person()
    await app.services.people.setPassword(email, secret('Zo\u00eb und die Wölfe'), TALLY)
    expect((await signIn(email, 'Zoe\u0308 und die Wo\u0308lfe')).status).toBe(200)
  })

  test.each([
    ['nothing', {}, ['/email', '/password']],
    ['a number for a password', { email: 'a@b', password: 5 }, ['/password']],
    ['a further field', { email: 'a@b', password: 'x', remember: true }, ['/remember']],
    ['a password of ten kilobytes', { email: 'a@b', password: 'x'.repeat(10_000) }, ['/password']],
  ])('refuses %s with every pointer', async (_what, json, pointers) => {
    const answer = await app.call(SIGN_IN, { json })
    expect(answer.status).toBe(422)
    expect(answer.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
  })

  test('rejects a body larger than any credentials without reading it', async () => {
    const large = await app.call(SIGN_IN, { json: { email: 'a@b', password: 'x'.repeat(20_000) } })
    expect([large.status, large.json.code]).toEqual([413, 'body_too_large'])
    expect(large.json.detail).toContain('16 KiB')
  })

  test('takes nothing that a form on another site could post', async () => {
    const email = await newPerson()
    const body = JSON.stringify({ email, password: PASSWORD })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const { status } = await app.call(SIGN_IN, { body, headers: { 'content-type': type } })
      expect([type, status]).toEqual([type, 415])
    }
  })
})

describe('signing out', () => {
  test('ends this session and makes the browser forget it; another goes on', async () => {
    const email = await newPerson()
    const [session, other] = [await sessionOf(email), await sessionOf(email)]
    const { status, headers, text } = await app.call(SIGN_OUT, { session })
    expect([status, text]).toEqual([204, ''])
    expect(headers.getSetCookie()).toEqual(['tally_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict'])
    const after = await app.call(ME, { session })
    expect(after.status).toBe(401)
    expect(after.json.detail).toMatch(/You were signed out at .*Sign in again/)
    expect(await statusOf(other)).toBe(200)
  })

  test('everywhere ends all sessions of the person, and no others', async () => {
    const email = await newPerson()
    const stranger = await sessionOf(await newPerson())
    const sessions = [await sessionOf(email), await sessionOf(email)]
    expect((await app.call(`${SIGN_OUT}?everywhere=true`, { session: sessions[0]! })).status).toBe(204)
    expect([await statusOf(sessions[0]!), await statusOf(sessions[1]!)]).toEqual([401, 401])
    expect(await statusOf(stranger)).toBe(200)
  })

  test('with a value that is neither true nor false is refused and ends no session', async () => {
    const session = await sessionOf(await newPerson())
    const { status, json } = await app.call(`${SIGN_OUT}?everywhere=maybe`, { session })
    expect([status, json.errors[0].pointer]).toEqual([422, '/query/everywhere'])
    expect(await statusOf(session)).toBe(200)
  })

  test('requires a session', async () => {
    expect((await app.call(SIGN_OUT)).status).toBe(401)
    expect((await app.call(SIGN_OUT, { session: `tally_session=${'x'.repeat(43)}` })).status).toBe(401)
    expect((await app.call(SIGN_OUT, { token: await app.token('read') })).status).toBe(403)
  })
})

describe('a session', () => {
  test('ends after a week without a call', async () => {
    const session = await sessionOf(await newPerson())
    for (let week = 1; week <= 3; week += 1) {
      clock.ahead += 7 * DAY_MS - MINUTE_MS
      expect([week, await statusOf(session)]).toEqual([week, 200])
    }
    clock.ahead += 7 * DAY_MS
    const { status, json } = await app.call(ME, { session })
    expect(status).toBe(401)
    expect(json.detail).toContain('expired')
  })

  test('ends after 30 days, however often it is used', async () => {
    const session = await sessionOf(await newPerson())
    for (let day = 1; day < 30; day += 5) {
      clock.ahead += 5 * DAY_MS - SECOND_MS
      expect([day, await statusOf(session)]).toEqual([day, 200])
    }
    clock.ahead += 6 * SECOND_MS
    expect(await statusOf(session)).toBe(401)
  })

  test('is kept in use by calls that are written with a delay, also where something else changed in between', async () => {
    const session = await sessionOf(await newPerson())
    clock.ahead += 6 * DAY_MS
    expect(await statusOf(session)).toBe(200)
    await app.person()
    clock.ahead += 6 * DAY_MS
    expect(await statusOf(session)).toBe(200)
  })

  test('is written as seen to the minute, which another process then knows', async () => {
    const session = await sessionOf(await newPerson())
    clock.ahead += 6 * DAY_MS
    expect(await statusOf(session)).toBe(200)
    await app.services.people.flushLastUsed()
    clock.ahead += 6 * DAY_MS
    const db = await openDatabase({ ...app.location, clock })
    try {
      const other = createServices({ db, clock }).people
      expect((await other.authenticateSession(session.split('=')[1]!)).kind).toBe('session')
    } finally {
      await db.close()
    }
  })

  test('begun or ended by another process holds from the next call on', async () => {
    const email = await newPerson()
    const db = await openDatabase({ ...app.location, clock })
    try {
      const other = createServices({ db, clock }).people
      const begun = await other.signIn({ email, password: PASSWORD, address: '::1' })
      const session = `tally_session=${secret(begun.secret)}`
      expect(await statusOf(session)).toBe(200)
      await other.signOut(begun.caller, { everywhere: false, by: TALLY })
      expect(await statusOf(session)).toBe(401)
    } finally {
      await db.close()
    }
  })

  test('ends at once when the person is disabled, and does not come back with them', async () => {
    const email = await newPerson()
    const session = await sessionOf(email)
    expect(await statusOf(session)).toBe(200)
    await app.services.people.disableUser(email, TALLY)
    const { status, json } = await app.call(ME, { session })
    expect(status).toBe(401)
    expect(json.detail).toContain('disabled')
    await app.services.people.enableUser(email, TALLY)
    expect(await statusOf(session)).toBe(401)
    expect((await signIn(email)).status).toBe(200)
  })

  test('sees what the role sees at the moment of the call', async () => {
    const email = await newPerson('billing')
    const session = await sessionOf(email)
    const reported = await app.call('POST /api/v1/token-entries', {
      token: await app.token('svc'),
      json: reportBody(),
    })
    const read = () => app.call(`GET /api/v1/token-entries/${reported.json.id}`, { session })
    expect((await read()).status).toBe(200)
    await app.services.people.changeUser(email, { role: 'member' }, TALLY)
    expect((await read()).status).toBe(404)
    expect((await app.call(ME, { session })).json.person.role).toBe('member')
  })

  test('does not report entries: that is for tokens', async () => {
    const session = await sessionOf(await newPerson())
    const { status, json } = await app.call('POST /api/v1/token-entries', { session, json: {} })
    expect(status).toBe(403)
    expect(json.detail).toBe('This request needs a service token (tally_svc_…), not a signed-in person.')
  })

  test.each(['', 'x', '%00', '"quoted"', 'é'])('that is %p is nobody', async (value) => {
    expect(await statusOf(`tally_session=${value}`)).toBe(401)
  })
})

describe('a call that changes something, with a cookie,', () => {
  let session: string
  beforeAll(async () => {
    clock.ahead += MINUTE_MS
    session = await sessionOf(await newPerson())
  })
  /** A change that has no effect, so that one session serves all: what is sent is wrong in itself. */
  const change = (headers: Record<string, string>, at = app, cookie = session) =>
    at.call(`${SIGN_OUT}?everywhere=maybe`, { headers: { cookie, ...headers } })

  test.each([
    ['that says nothing of where it comes from', {}],
    ['from another site', { origin: 'https://evil.example' }],
    ['from another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['from a page without an origin', { origin: 'null' }],
    ['from this origin with more behind', { origin: 'http://127.0.0.1.evil.example' }],
    ['that the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['that the browser calls same-site', { 'sec-fetch-site': 'same-site' }],
    ['that no page made', { 'sec-fetch-site': 'none' }],
  ])('%s is refused', async (_what, headers) => {
    const { status, json } = await change(headers)
    expect([status, json.code]).toEqual([403, 'forbidden'])
    expect(json.detail).toContain('TALLY_PUBLIC_URL')
    expect(await statusOf(session)).toBe(200)
  })

  test('and that the browser calls cross-site is refused whatever else it says', async () => {
    expect((await change({ origin: app.url, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  test('from a page of ours is taken', async () => {
    expect((await change({ origin: app.url })).status).toBe(422)
    expect((await change({ 'sec-fetch-site': 'same-origin' })).status).toBe(422)
  })

  test('from the public address is taken, and from the plain one', async () => {
    const behind = await start({ publicUrl: 'https://tally.example.com' })
    const cookie = cookieOf(await signIn(await newPerson('admin', behind), PASSWORD, {}, behind))
    expect((await change({ origin: 'https://tally.example.com' }, behind, cookie)).status).toBe(422)
    expect((await change({ origin: behind.url }, behind, cookie)).status).toBe(422)
    expect((await change({ origin: 'http://tally.example.com' }, behind, cookie)).status).toBe(403)
    expect((await change({ origin: 'https://other.example.com' }, behind, cookie)).status).toBe(403)
  })

  test('is refused before its body is looked at', async () => {
    const { status } = await app.call(CHANGE, {
      headers: { cookie: session, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'current=a&new=b',
    })
    expect(status).toBe(403)
  })

  test('is refused as a form even from a page of ours', async () => {
    const form = { session, headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' }
    expect((await app.call(CHANGE, form)).status).toBe(415)
  })

  test('is not the concern of who only reads, or has a token', async () => {
    expect((await app.call(ME, { headers: { cookie: session, origin: 'https://evil.example' } })).status).toBe(200)
    const { status } = await app.call('POST /api/v1/token-entries', {
      token: await app.token('svc'),
      headers: { origin: 'https://evil.example' },
      json: {},
    })
    expect(status).toBe(422)
  })

  test('goes by the token where both are sent', async () => {
    const token = await app.token('svc')
    expect((await app.call(ME, { token, session })).json.kind).toBe('service')
    expect((await app.call(ME, { token: `${token}x`, session })).status).toBe(401)
    expect((await change({ authorization: `Bearer ${token}` })).status).toBe(403)
  })
})

describe('ten failures in a minute', () => {
  const guess = (email: string, at = app, headers: Record<string, string> = {}) => signIn(email, 'a guess', headers, at)

  test('of an address stop it, for every account, until the minute is over', async () => {
    const [email, other] = [await newPerson(), await newPerson()]
    const session = await sessionOf(email)
    const token = await app.token('svc', email)
    const guesses = await Promise.all(Array.from({ length: 25 }, (_, index) => guess(index % 2 ? email : other)))
    const statuses = Map.groupBy(guesses, ({ status }) => status)
    expect([statuses.get(401)?.length, statuses.get(429)?.length]).toEqual([10, 15])
    const refused = await signIn(email)
    expect([refused.status, refused.json.code]).toEqual([429, 'too_many_attempts'])
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(30)
    expect(seconds).toBeLessThanOrEqual(60)
    // Another address in the header is what anybody can send.
    expect((await signIn(email, PASSWORD, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(429)
    expect([await statusOf(session), (await app.call(ME, { token })).status]).toEqual([200, 200])
    clock.ahead += seconds * SECOND_MS
    expect((await signIn(email)).status).toBe(200)
  })

  test('for an account stop it from everywhere, and no other', async () => {
    const behind = await start({ trustedProxies: ['127.0.0.0/8'] })
    const [email, other] = [await newPerson('admin', behind), await newPerson('member', behind)]
    const from = (address: string) => ({ 'x-forwarded-for': `198.51.100.1, ${address}` })
    for (let guesses = 0; guesses < 20; guesses += 1) {
      expect((await guess(email, behind, from(`203.0.113.${guesses}`))).status).toBe(401)
    }
    expect((await signIn(email, PASSWORD, from('203.0.113.99'), behind)).status).toBe(429)
    expect((await signIn(other, PASSWORD, from('203.0.113.99'), behind)).status).toBe(200)
    // One that does not exist is stopped likewise: else it would tell who exists.
    for (let guesses = 0; guesses < 20; guesses += 1) await guess('no@b', behind, from(`203.0.113.${guesses + 30}`))
    expect((await guess('no@b', behind, from('203.0.113.98'))).status).toBe(429)
  })

  test('for an account by strangers do not keep its owner out of a browser in which they signed in before', async () => {
    const behind = await start({ trustedProxies: ['127.0.0.0/8'] })
    const [email, other] = [await newPerson('admin', behind), await newPerson('member', behind)]
    const from = (address: string, cookie?: string) => ({ 'x-forwarded-for': address, ...(cookie && { cookie }) })
    const deviceOf = async (who: string, headers: Record<string, string>) =>
      (await signIn(who, PASSWORD, headers, behind)).headers.getSetCookie()[1]!.split(';')[0]!
    const [own, others] = [await deviceOf(email, from('198.51.100.7')), await deviceOf(other, from('198.51.100.7'))]
    for (let guesses = 0; guesses < 10; guesses += 1) await guess(email, behind, from('203.0.113.1'))
    // One who guesses stops nobody elsewhere.
    expect((await signIn(email, PASSWORD, from('198.51.100.8'), behind)).status).toBe(200)
    for (let guesses = 0; guesses < 20; guesses += 1) await guess(email, behind, from(`203.0.113.${guesses + 2}`))
    const status = async (headers: Record<string, string>) => (await signIn(email, PASSWORD, headers, behind)).status
    expect(await status(from('198.51.100.7'))).toBe(429)
    expect(await status(from('203.0.113.1'))).toBe(429)
    for (const cookie of [others, `${own.slice(0, -2)}xx`, 'tally_device=', 'tally_device=a.b.c']) {
      expect([cookie, await status(from('198.51.100.7', cookie))]).toEqual([cookie, 429])
    }
    // Also from where the guesses come, such as behind a proxy that tells no addresses.
    expect(await status(from('203.0.113.1', own))).toBe(200)
    expect(await status(from('192.0.2.55', own))).toBe(200)
    // It has ten failures of its own, which are nobody else's.
    for (let guesses = 0; guesses < 10; guesses += 1) await guess(email, behind, from('192.0.2.55', own))
    expect(await status(from('192.0.2.55', own))).toBe(429)
    // With a new password all earlier browsers are strangers, but the one in which it was changed.
    clock.ahead += 120 * MINUTE_MS
    const session = cookieOf(await signIn(email, PASSWORD, from('192.0.2.55', own), behind))
    const changed = await behind.call(CHANGE, {
      session,
      json: { current: PASSWORD, new: secret('another long phrase') },
    })
    const renewed = changed.headers.getSetCookie()[0]!.split(';')[0]!
    for (let guesses = 0; guesses < 20; guesses += 1) await guess(email, behind, from(`203.0.113.${guesses + 2}`))
    const again = (cookie: string) => signIn(email, 'another long phrase', from('192.0.2.55', cookie), behind)
    expect([(await again(own)).status, (await again(renewed)).status]).toEqual([429, 200])
  })

  test('are recorded for the owner once, in the audit log, and reset by unlocking in any process', async () => {
    const email = await newPerson()
    const slowed: unknown[] = []
    const errors: unknown[] = []
    app.services.people.watchSignIns(
      ({ user, mail }) => void slowed.push([user.email, mail]),
      (error) => void errors.push(error),
    )
    for (let guesses = 0; guesses < 10; guesses += 1) await guess(email)
    while (slowed.length === 0 && errors.length === 0) await Bun.sleep(5)
    expect([slowed, errors]).toEqual([[[email, undefined]], []])
    const user = (await app.services.people.findUser(email))!
    expect(await app.services.people.findSlowdown(user)).toEqual({ since: expect.any(Number) })
    expect((await signIn(email)).status).toBe(429)
    const db = await openDatabase({ ...app.location, clock })
    try {
      const { people, audit } = createServices({ db, clock })
      await people.unlockUser(email, TALLY)
      expect(await people.findSlowdown(user)).toBeUndefined()
      const { data } = await audit.listChanges({ filter: { objects: [user.uid] }, limit: 10, after: undefined })
      expect(data.map(({ action }) => action).slice(0, 2)).toEqual(['user.unlocked', 'user.sign_ins_slowed'])
    } finally {
      await db.close()
    }
    // The address has ten failures of its own.
    expect((await signIn(email)).status).toBe(429)
    clock.ahead += MINUTE_MS
    expect((await signIn(email)).status).toBe(200)
    expect(slowed).toHaveLength(1)
  })

  test('of who is signed in and changes the password are counted for them alone', async () => {
    const email = await newPerson()
    const session = await sessionOf(email)
    for (let guesses = 0; guesses < 10; guesses += 1) await guess(email)
    expect((await signIn(email)).status).toBe(429)
    const change = (current: string) =>
      app.call(CHANGE, { session, json: { current, new: secret('a phrase of one’s own') } })
    expect((await change(PASSWORD)).status).toBe(204)
  })

  test('are not reached by those that succeed', async () => {
    const email = await newPerson()
    for (let times = 0; times < 9; times += 1) await guess(email)
    for (let times = 0; times < 3; times += 1) expect((await signIn(email)).status).toBe(200)
    expect((await guess(email)).status).toBe(401)
    expect((await signIn(email)).status).toBe(429)
  })
})

describe('changing the password', () => {
  const change = (session: string, current: string, next: string) =>
    app.call(CHANGE, { session, json: { current: secret(current), new: secret(next) } })

  test('ends every other session, and the old password', async () => {
    const email = await newPerson()
    const [session, other] = [await sessionOf(email), await sessionOf(email)]
    const { status, text } = await change(session, PASSWORD, 'a new one of mine')
    expect([status, text]).toEqual([204, ''])
    expect([await statusOf(session), await statusOf(other)]).toEqual([200, 401])
    expect((await signIn(email)).status).toBe(401)
    expect((await signIn(email, 'a new one of mine')).status).toBe(200)
  })

  test('needs the current one, and a new one that is long enough; else nothing changes', async () => {
    const email = await newPerson()
    const [session, other] = [await sessionOf(email), await sessionOf(email)]
    for (const [current, next, pointer] of [
      ['not this one', 'a new one of mine', '/current'],
      [PASSWORD, 'too short', '/new'],
    ] as const) {
      const { status, json } = await change(session, current, next)
      expect([status, json.errors[0].pointer]).toEqual([422, pointer])
    }
    expect([await statusOf(other), (await signIn(email)).status]).toEqual([200, 200])
  })

  test('is no way to guess the current one', async () => {
    const session = await sessionOf(await newPerson())
    for (let times = 0; times < 10; times += 1) await change(session, 'a guess', 'a new one of mine')
    const { status, headers } = await change(session, PASSWORD, 'a new one of mine')
    expect(status).toBe(429)
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await statusOf(session)).toBe(200)
  })

  test('of two at once by the same current one takes one', async () => {
    const session = await sessionOf(await newPerson())
    const answers = await Promise.all(['first of two', 'second of two'].map((next) => change(session, PASSWORD, next)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 422])
  })

  test('requires a session, not a token', async () => {
    const { status, json } = await app.call(CHANGE, { token: await app.token('read'), json: {} })
    expect(status).toBe(403)
    expect(json.detail).toContain('a signed-in person')
  })
})

describe('a one-time link', () => {
  const CHOOSE = 'POST /api/v1/password'
  const NEW = 'chosen by a link'
  const linkFor = async (email: string, purpose: 'invitation' | 'password' = 'password', at = app) => {
    const { link } = await at.services.people.createPasswordLink(email, purpose, at.url, TALLY)
    expect(link).toStartWith(`${at.url}/password#`)
    return secret(link.split('#')[1]!)
  }
  const choose = (link_token: string, password = NEW, at = app) =>
    at.call(CHOOSE, { json: { link_token, password: secret(password) } })

  test('invites a person, who chooses a password and is signed in', async () => {
    const email = await app.person('member')
    const link = await linkFor(email, 'invitation')
    clock.ahead += 6 * DAY_MS
    const answer = await choose(link)
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ kind: 'session', person: { email, role: 'member' } })
    expect(await statusOf(cookieOf(answer))).toBe(200)
    expect((await signIn(email, NEW)).status).toBe(200)
  })

  test('works once, also for two that come while the password of the first is being hashed', async () => {
    const [hashing, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const hash = async (password: string) => {
      hashing.resolve()
      await refused.promise
      return cheapHasher.hash(password)
    }
    const own = await start({ hasher: { ...cheapHasher, hash } })
    const link = await linkFor(await newPerson('admin', own), 'password', own)
    const first = choose(link, 'first of two', own)
    await hashing.promise
    expect((await choose(link, 'second of two', own)).status).toBe(429)
    refused.resolve()
    expect((await first).status).toBe(200)
    const { status, json } = await choose(link, NEW, own)
    expect([status, json.code]).toEqual([401, 'unauthenticated'])
    expect(json.detail).toContain('already used')
  })

  test('replaces a password and ends every session begun with it', async () => {
    const email = await newPerson()
    const session = await sessionOf(email)
    const link = await linkFor(email)
    // Asking for one changes nothing: the old password works until the new one is chosen.
    expect([await statusOf(session), (await signIn(email)).status]).toEqual([200, 200])
    expect((await choose(link)).status).toBe(200)
    expect([await statusOf(session), (await signIn(email)).status]).toEqual([401, 401])
  })

  test.each([
    ['for a new password is good for a day', 'password', DAY_MS],
    ['of an invitation is good for a week', 'invitation', 7 * DAY_MS],
  ] as const)('%s', async (_what, purpose, lifetimeMs) => {
    const link = await linkFor(await app.person(), purpose)
    clock.ahead += lifetimeMs
    expect((await choose(link)).status).toBe(401)
    clock.ahead -= MINUTE_MS
    expect((await choose(link)).status).toBe(200)
  })

  test('is replaced by a newer one, by a password, and ends with the person', async () => {
    const [email, changed, disabled] = [await newPerson(), await newPerson(), await newPerson()]
    const older = await linkFor(email)
    await linkFor(email)
    const overtaken = await linkFor(changed)
    await app.services.people.setPassword(changed, PASSWORD, TALLY)
    const dead = await linkFor(disabled)
    await app.services.people.disableUser(disabled, TALLY)
    await app.services.people.enableUser(disabled, TALLY)
    for (const link of [older, overtaken, dead, 'x'.repeat(32)]) expect((await choose(link)).status).toBe(401)
  })

  test('goes on working after a password that is too short', async () => {
    const link = await linkFor(await newPerson())
    const { status, json } = await choose(link, 'too short')
    expect([status, json.errors[0].pointer]).toEqual([422, '/password'])
    expect((await choose(link)).status).toBe(200)
  })

  test('is not created for disabled people, and is no invitation for people with a password', async () => {
    const { people } = app.services
    const email = await newPerson()
    // Not by `expect(…).rejects`, which waits without letting threads answer, such as the one that syncs the log.
    const refusal = (purpose: 'invitation' | 'password') =>
      people.createPasswordLink(email, purpose, app.url, TALLY).catch((error: Error) => error.message)
    expect(await refusal('invitation')).toMatch(/already has a password/)
    await people.disableUser(email, TALLY)
    expect(await refusal('password')).toMatch(/is disabled/)
  })

  test('for the set-up chooses no password, and one for a password sets nothing up', async () => {
    const fresh = await start()
    const link = (await fresh.services.people.createSetUpLink(fresh.url)).split('#')[1]!
    const answer = await fresh.call(CHOOSE, { json: { link_token: secret(link), password: NEW } })
    expect(answer.status).toBe(401)
    const setUp = await fresh.call('POST /api/v1/setup', {
      json: {
        link_token: link,
        organization: { name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' },
        admin: { email: 'ada@example.com', name: 'Ada', password: PASSWORD },
      },
    })
    expect(setUp.status).toBe(201)
    const me = await fresh.call(ME, { session: cookieOf(setUp) })
    expect(me.json).toMatchObject({
      kind: 'session',
      person: { email: 'ada@example.com' },
      organization: { name: 'Acme', time_zone: 'Europe/Berlin' },
    })
  })
})

// Last, when everything above has left its traces.
test('nothing secret is in a database or a log', async () => {
  expect(secrets.size).toBeGreaterThan(50)
  for (const { location, log, services } of apps) {
    const kept = Object.values(await contentOf(location))
    const logged = JSON.stringify(log)
    // That what is there would be found.
    const [someone] = await services.people.everyUser()
    expect(kept.some((bytes) => bytes.includes(someone!.email))).toBe(true)
    expect(kept.some((bytes) => bytes.includes('$argon2id$'))).toBe(true)
    for (const text of secrets) {
      if (text.length < 8) continue
      expect([text, kept.some((bytes) => bytes.includes(text)), logged.includes(text)]).toEqual([text, false, false])
    }
  }
})
