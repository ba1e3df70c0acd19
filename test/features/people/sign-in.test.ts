import { beforeEach, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { Problem } from '../../../src/errors.ts'
import { createMailer } from '../../../src/features/bills/delivery-mailer.ts'
import type { PeopleService } from '../../../src/features/people/service.ts'
import { cheapHasher } from '../../support/cheap-hasher.ts'
import { forEachEngine } from '../../support/databases.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { peopleServiceOf } from '../../support/people-service.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const START = Date.parse('2026-11-20T12:00:30Z')
const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'

forEachEngine('sessions', (open) => {
  let db: Database
  let people: PeopleService
  let clock: { now(): number; at: number }

  beforeEach(async () => {
    clock = { at: START, now: () => clock.at }
    db = await open()
    people = peopleServiceOf({ db, clock })
    await people.addUser({ email: EMAIL, name: 'Ada', role: 'admin', password: PASSWORD }, TALLY)
  })

  const signIn = (at = people, password = PASSWORD) => at.signIn({ email: EMAIL, password, address: '192.0.2.1' })
  const rows = () => db.read.select().from(db.read.tables.signIns)

  /** The code of what is thrown; undefined where nothing is. */
  const refusal = async (attempt: () => unknown): Promise<string | undefined> => {
    try {
      await attempt()
      return undefined
    } catch (error) {
      if (error instanceof Problem) return error.code
      throw error
    }
  }

  test('are known by their secret, of which only the hash is kept', async () => {
    const { secret, caller } = await signIn()
    expect(await people.authenticateSession(secret)).toEqual(caller)
    expect(caller).toEqual({
      kind: 'session',
      session: { id: expect.any(Number), signedInAt: START, expiresAt: START + 30 * DAY_MS },
      person: expect.objectContaining({ email: EMAIL, name: 'Ada', role: 'admin' }),
    })
    const [row] = await rows()
    expect(Buffer.from(row!.hash).toString('hex')).toBe(new Bun.CryptoHasher('sha256').update(secret).digest('hex'))
    expect(Object.values(row!).map(String).join(' ')).not.toContain(secret)
    expect(await refusal(() => people.authenticateSession(secret.toLowerCase()))).toBe('unauthenticated')
  })

  test('is refused with an address that no database can be asked for, as with any wrong one', async () => {
    const attempt = people.signIn({ email: 'ada\0@example.com', password: 'x', address: '::1' })
    expect(await refusal(() => attempt)).toBe('sign_in_failed')
    expect(await people.findUser('ada\0@example.com')).toBeUndefined()
  })

  test('begun, used and ended by another server hold from the next call on', async () => {
    const other = peopleServiceOf({
      db: await open({ sharing: db }),
      clock,
    })
    const { secret, caller } = await signIn(other)
    expect((await people.authenticateSession(secret)).person.email).toBe(EMAIL)
    await other.changeUser(EMAIL, { role: 'admin' }, TALLY)
    await other.addUser({ email: 'grace@example.com', name: 'Grace', role: 'admin' }, TALLY)
    await other.changeUser(EMAIL, { role: 'member' }, TALLY)
    expect((await people.authenticateSession(secret)).person.role).toBe('member')
    await other.signOut(caller, { everywhere: false, by: TALLY })
    expect(await refusal(() => people.authenticateSession(secret))).toBe('unauthenticated')
  })

  test('move the revision when they end, and not when they begin or are used', async () => {
    const before = await db.read.revision()
    const { secret, caller } = await signIn()
    await people.authenticateSession(secret)
    clock.at += 5 * MINUTE_MS
    await people.authenticateSession(secret)
    await people.flushLastUsed()
    expect((await rows())[0]!.lastSeenAt).toBe(START - (START % MINUTE_MS) + 5 * MINUTE_MS)
    expect(await db.read.revision()).toBe(before)
    await people.signOut(caller, { everywhere: false, by: TALLY })
    expect(await db.read.revision()).toBeGreaterThan(before)
  })

  test('are not moved back by a late flush of another server', async () => {
    const late = peopleServiceOf({ db, clock })
    const { secret } = await signIn()
    await late.authenticateSession(secret)
    clock.at += 10 * MINUTE_MS
    await people.authenticateSession(secret)
    await people.flushLastUsed()
    const [newest] = await rows()
    await late.flushLastUsed()
    expect(await rows()).toEqual([newest!])
  })

  test('that have expired are forgotten when the person signs in again', async () => {
    const { secret } = await signIn()
    clock.at += 30 * DAY_MS
    expect(await refusal(() => people.authenticateSession(secret))).toBe('unauthenticated')
    await signIn()
    expect(await rows()).toHaveLength(1)
  })

  test.each([
    ['replaced', (other: PeopleService) => other.setPassword(EMAIL, 'battery staple', TALLY)],
    ['of somebody disabled', (other: PeopleService) => other.disableUser(EMAIL, TALLY)],
  ])('do not begin with a password that was %s since it was checked', async (_what, change) => {
    await people.addUser({ email: 'grace@example.com', name: 'Grace', role: 'admin' }, TALLY)
    const other = peopleServiceOf({ db, clock })
    const slow = peopleServiceOf({
      db,
      clock,
      hasher: {
        ...cheapHasher,
        async verify(password, hash) {
          const fits = await cheapHasher.verify(password, hash)
          await change(other)
          return fits
        },
      },
    })
    expect(await refusal(() => signIn(slow))).toBe('sign_in_failed')
    expect(await rows()).toEqual([])
  })

  test('begun with a password while it is replaced are over when it is', async () => {
    const signedIn = await Promise.allSettled([
      signIn(),
      people.setPassword(EMAIL, 'battery staple', TALLY),
      signIn(),
      signIn(),
    ])
    expect(signedIn[1].status).toBe('fulfilled')
    for (const attempt of signedIn) {
      if (attempt.status === 'rejected') expect(attempt.reason.code).toBe('sign_in_failed')
      else if ('secret' in attempt.value) {
        const { secret } = attempt.value
        expect(await refusal(() => people.authenticateSession(secret))).toBe('unauthenticated')
      }
    }
    expect(await refusal(() => signIn(people, 'battery staple'))).toBeUndefined()
  })

  test('begin once by a link that two follow at once', async () => {
    const { link } = await people.createPasswordLink(EMAIL, 'password', 'http://tally', TALLY)
    const linkToken = link.split('#')[1]!
    const chosen = await Promise.allSettled(
      ['first of two', 'second of two'].map((password) =>
        people.choosePassword({ linkToken, password, address: '::1' }),
      ),
    )
    expect(chosen.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const winner = chosen[0]!.status === 'fulfilled' ? 'first of two' : 'second of two'
    expect(await refusal(() => signIn(people, winner))).toBeUndefined()
    // Nothing of the link is left.
    expect(await db.read.select().from(db.read.tables.oneTimeLinks)).toEqual([])
  })

  test('all end with the person', async () => {
    const sessions = [await signIn(), await signIn()]
    await people.addUser({ email: 'grace@example.com', name: 'Grace', role: 'admin' }, TALLY)
    await people.disableUser(EMAIL, TALLY)
    await people.enableUser(EMAIL, TALLY)
    for (const { secret } of sessions) {
      expect(await refusal(() => people.authenticateSession(secret))).toBe('unauthenticated')
    }
    expect((await rows()).map(({ endedAt }) => endedAt)).toEqual([START, START])
  })

  test('that strangers guess are reported to their owner by e-mail, once an episode and a day, with advice', async () => {
    const mail = await startMailServer()
    try {
      // Fast: what is seen here is what follows from failures, not that they are slow.
      const hasher = { hash: async () => '', verify: async () => false }
      const noticeMail = { mailer: createMailer(mail.address), from: 'tally@example.com' }
      const stranger = peopleServiceOf({ db, clock, hasher, mail: noticeMail })
      const slowed: string[] = []
      const errors: unknown[] = []
      stranger.watchSignIns(
        ({ user, mail: outcome }) => void slowed.push(`${user.email} ${outcome?.result}`),
        (error) => void errors.push(error),
      )
      const guess = async (email: string) => {
        for (let times = 0; times < 20; times += 1) {
          const from = `2001:db8:${times.toString(16)}:${clock.at % 65_536}::1`
          await refusal(() => stranger.signIn({ email, password: 'a guess', address: from }))
        }
      }
      await guess('nobody@example.com')
      await guess(EMAIL)
      while (slowed.length === 0 && errors.length === 0) await Bun.sleep(5)
      expect([slowed, errors]).toEqual([[`${EMAIL} sent`], []])
      clock.at += 2 * 3_600_000
      await guess(EMAIL)
      clock.at += DAY_MS
      await guess(EMAIL)
      while (slowed.length < 2 && errors.length === 0) await Bun.sleep(5)
      expect(mail.letters.map(({ to }) => to)).toEqual([[EMAIL], [EMAIL]])
      expect(mail.letters[0]!.text).toContain(`tally users unlock ${EMAIL}`)
      expect(mail.letters[0]!.text).not.toContain('a guess')
      const actions = (await db.read.select().from(db.read.tables.audit)).map(({ action }) => action)
      expect(actions.filter((action) => action === 'user.sign_ins_slowed')).toHaveLength(2)
    } finally {
      await mail.close()
    }
  })
})
