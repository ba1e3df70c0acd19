import { beforeEach, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { Problem } from '../../../src/errors.ts'
import { createOrganizationService, type OrganizationService } from '../../../src/features/organization/service.ts'
import { EVERYBODYS_TOKENS, type PeopleService } from '../../../src/features/people/service.ts'
import { auditServiceOf } from '../../support/audit.ts'
import { forEachEngine } from '../../support/databases.ts'
import { peopleServiceOf } from '../../support/people-service.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const START = Date.parse('2026-11-20T12:00:30Z')

forEachEngine('people', (open) => {
  let db: Database
  let people: PeopleService
  let organization: OrganizationService
  let clock: { now(): number; at: number }

  beforeEach(async () => {
    clock = { at: START, now: () => clock.at }
    db = await open()
    const audit = auditServiceOf({ db, clock })
    organization = createOrganizationService({ db, audit })
    people = peopleServiceOf({ db, clock })
  })

  const add = (email: string, role: 'admin' | 'billing' | 'member' = 'member') =>
    people.addUser({ email, name: email.split('@')[0]!, role }, TALLY)

  const refusalOf = (attempt: Promise<unknown>): Promise<Problem> =>
    attempt.then(
      () => {
        throw new Error('it was not refused')
      },
      (error) => {
        if (error instanceof Problem) return error
        throw error
      },
    )

  const lastUsedOf = async (name: string) =>
    (await people.everyToken(EVERYBODYS_TOKENS)).find(({ token }) => token.name === name)?.token.lastUsedAt

  test('an e-mail address is one whatever its case, and belongs to one person', async () => {
    const ada = await add(' Ada@Example.COM ')
    expect(ada.email).toBe('ada@example.com')
    expect((await refusalOf(add('ADA@example.com'))).code).toBe('already_exists')
    expect(await people.findUser('aDa@example.com')).toEqual(ada)
    expect(await people.findUser(ada.uid)).toEqual(ada)
    expect(await people.findUser('grace@example.com')).toBeUndefined()
    expect(await people.findUser('usr_0')).toBeUndefined()
  })

  test('of two who add the same address at once one is refused', async () => {
    const added = await Promise.allSettled([add('ada@example.com'), add('Ada@example.com')])
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await people.everyUser()).toHaveLength(1)
  })

  test('all validation issues of a person are returned', async () => {
    const { more } = await refusalOf(
      people.addUser({ email: 'ada', name: ' ', role: 'boss' as never, password: 'short' }, TALLY),
    )
    expect(more.issues?.map(({ pointer }) => pointer)).toEqual(['/email', '/name', '/role', '/password'])
    expect(await people.everyUser()).toEqual([])
  })

  test.each([
    ['is empty', ' '],
    ['holds a control character', 'a\u0000b'],
    ['is longer than 200 characters', 'x'.repeat(201)],
    ['holds half a character', '\ud800'],
  ])('a name that %s is refused', async (_what, name) => {
    expect((await refusalOf(people.addUser({ email: 'a@b', name, role: 'member' }, TALLY))).code).toBe(
      'validation_failed',
    )
  })

  test('a password is kept as argon2id and nothing else', async () => {
    const ada = await people.addUser({ email: 'a@b', name: 'Ada', role: 'admin', password: 'correct horse' }, TALLY)
    expect(ada.hasPassword).toBe(true)
    expect(JSON.stringify(ada)).not.toContain('correct horse')
    const hashes = async () => db.read.select({ hash: db.read.tables.users.passwordHash }).from(db.read.tables.users)
    const [before] = await hashes()
    expect(before!.hash).toStartWith('$argon2id$')
    await people.setPassword('a@b', 'battery staple', TALLY)
    const [after] = await hashes()
    expect(await Bun.password.verify('battery staple', after!.hash!)).toBe(true)
    expect(await Bun.password.verify('correct horse', after!.hash!)).toBe(false)
  })

  test('the last active admin can be neither demoted nor disabled', async () => {
    await add('ada@example.com', 'admin')
    await add('grace@example.com', 'admin')
    await people.disableUser('grace@example.com', TALLY)
    expect((await refusalOf(people.changeUser('ada@example.com', { role: 'member' }, TALLY))).code).toBe('last_admin')
    expect((await refusalOf(people.disableUser('ada@example.com', TALLY))).code).toBe('last_admin')
    expect(await people.findUser('ada@example.com')).toMatchObject({ role: 'admin', disabledAt: null })
    await people.enableUser('grace@example.com', TALLY)
    expect((await people.changeUser('ada@example.com', { role: 'member' }, TALLY)).role).toBe('member')
  })

  test('two admins who demote each other at once leave one', async () => {
    await add('ada@example.com', 'admin')
    await add('grace@example.com', 'admin')
    const demoted = await Promise.allSettled([
      people.changeUser('ada@example.com', { role: 'member' }, TALLY),
      people.disableUser('grace@example.com', TALLY),
    ])
    expect(demoted.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('where there never was an admin, roles can still change', async () => {
    await add('ada@example.com', 'member')
    expect((await people.changeUser('ada@example.com', { role: 'billing' }, TALLY)).role).toBe('billing')
  })

  test('what does not change keeps its moment', async () => {
    await add('ada@example.com', 'admin')
    await add('grace@example.com')
    await people.disableUser('grace@example.com', TALLY)
    clock.at += DAY_MS
    expect((await people.disableUser('grace@example.com', TALLY)).user.disabledAt).toBe(START)
    const { token } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)
    await people.revokeToken(EVERYBODYS_TOKENS, token.uid, TALLY)
    const { revokedAt } = await people.revokeToken(EVERYBODYS_TOKENS, token.uid, TALLY)
    expect(revokedAt).toBe(clock.at)
    clock.at += DAY_MS
    expect((await people.revokeToken(EVERYBODYS_TOKENS, token.uid, TALLY)).revokedAt).toBe(revokedAt)
  })

  test('a secret is not in the database, its hash is', async () => {
    await add('ada@example.com', 'admin')
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)
    const [row] = await db.read.select().from(db.read.tables.tokens)
    expect(Buffer.from(row!.hash).toString('hex')).toBe(new Bun.CryptoHasher('sha256').update(secret).digest('hex'))
    expect(Object.values(row!).map(String).join(' ')).not.toContain(secret.slice(-20))
  })

  test('a token identifies the caller from the first call after it was created', async () => {
    const ada = await add('ada@example.com', 'billing')
    const expiresAt = START + DAY_MS
    for (const [kind, known] of [
      ['svc', 'service'],
      ['read', 'read'],
    ] as const) {
      const { token, secret } = await people.createToken({ kind, user: ada.uid, name: kind, expiresAt }, TALLY)
      expect(await people.authenticate(`Bearer ${secret}`)).toEqual({
        kind: known,
        token: {
          id: token.id,
          uid: token.uid,
          name: kind,
          hint: token.hint,
          allowBills: false,
          expiresAt,
          scopes: null,
          networks: null,
          limit: null,
        },
        person: { id: ada.id, uid: ada.uid, email: 'ada@example.com', name: 'ada', role: 'billing' },
      })
    }
  })

  test('a change by another process holds from the next call on', async () => {
    await add('ada@example.com', 'admin')
    await add('grace@example.com', 'admin')
    const { token, secret } = await people.createToken({ kind: 'read', user: 'ada@example.com', name: 'ci' }, TALLY)
    await people.authenticate(`Bearer ${secret}`)
    const other = peopleServiceOf({
      db: await open({ sharing: db }),
      clock,
    })

    await other.changeUser('ada@example.com', { role: 'member' }, TALLY)
    expect((await people.authenticate(`Bearer ${secret}`)).person.role).toBe('member')

    await other.disableUser('ada@example.com', TALLY)
    expect((await refusalOf(Promise.try(() => people.authenticate(`Bearer ${secret}`)))).detail).toContain('disabled')
    await other.enableUser('ada@example.com', TALLY)
    expect((await people.authenticate(`bearer  ${secret}`)).token.uid).toBe(token.uid)

    await other.revokeToken(EVERYBODYS_TOKENS, token.uid, TALLY)
    expect((await refusalOf(Promise.try(() => people.authenticate(`Bearer ${secret}`)))).detail).toContain('revoked')
  })

  test('a token expires by the clock, without anything being written', async () => {
    await add('ada@example.com')
    const expiresAt = START + DAY_MS
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci', expiresAt }, TALLY)
    clock.at = expiresAt - 1
    expect((await people.authenticate(`Bearer ${secret}`)).kind).toBe('service')
    clock.at = expiresAt
    const refusal = await refusalOf(Promise.try(() => people.authenticate(`Bearer ${secret}`)))
    expect(refusal.detail).toContain('expired at 2026-11-21T12:00:30.000Z')
  })

  test('an organization token goes on when the person who made it is disabled', async () => {
    await add('ada@example.com', 'admin')
    await add('grace@example.com', 'admin')
    const { secret } = await people.createToken({ kind: 'org', user: 'ada@example.com', name: 'push' }, TALLY)
    await people.disableUser('ada@example.com', TALLY)
    expect((await people.authenticate(`Bearer ${secret}`)).kind).toBe('organization')
  })

  test('the last use is kept to the minute, written when flushed and not before', async () => {
    await add('ada@example.com')
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)
    await people.authenticate(`Bearer ${secret}`)
    clock.at += 10_000
    await people.authenticate(`Bearer ${secret}`)
    expect(await lastUsedOf('ci')).toBeNull()
    await people.flushLastUsed()
    const minute = START - (START % MINUTE_MS)
    expect(await lastUsedOf('ci')).toBe(minute)

    clock.at += 5 * MINUTE_MS
    await people.authenticate(`Bearer ${secret}`)
    await people.flushLastUsed()
    expect(await lastUsedOf('ci')).toBe(minute + 5 * MINUTE_MS)
  })

  test('a late flush of another server does not move the last use back', async () => {
    await add('ada@example.com')
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)
    const late = peopleServiceOf({ db, clock })
    await late.authenticate(`Bearer ${secret}`)
    clock.at += 10 * MINUTE_MS
    await people.authenticate(`Bearer ${secret}`)
    await people.flushLastUsed()
    const newest = await lastUsedOf('ci')
    await late.flushLastUsed()
    expect(await lastUsedOf('ci')).toBe(newest!)
  })

  test('noting the last use does not make anybody read the tokens again', async () => {
    await add('ada@example.com')
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)
    await people.authenticate(`Bearer ${secret}`)
    const before = await db.read.revision()
    await people.flushLastUsed()
    expect(await db.read.revision()).toBe(before)
  })

  test('disabling a person lists the tokens of theirs that were in use', async () => {
    await add('root@example.com', 'admin')
    await add('ada@example.com', 'admin')
    const make = (kind: 'svc' | 'read' | 'org', name: string) =>
      people.createToken({ kind, user: 'ada@example.com', name }, TALLY)
    const use = async ({ secret }: { secret: string }) => void (await people.authenticate(`Bearer ${secret}`))
    await use(await make('svc', 'long ago'))
    await people.flushLastUsed()
    clock.at += 31 * DAY_MS
    await use(await make('svc', 'used'))
    await use(await make('org', 'of the organization'))
    const revoked = await make('read', 'revoked')
    await use(revoked)
    await people.revokeToken(EVERYBODYS_TOKENS, revoked.token.uid, TALLY)
    await make('read', 'never used')
    await people.flushLastUsed()
    const { tokensInUse } = await people.disableUser('ada@example.com', TALLY)
    expect(tokensInUse.map(({ name }) => name)).toEqual(['used'])
  })

  test.each([
    ['an organization token for a member', { kind: 'org', user: 'member@example.com' }, 'forbidden'],
    ['an organization token for billing', { kind: 'org', user: 'billing@example.com' }, 'forbidden'],
    ['bills for a member', { kind: 'svc', user: 'member@example.com', allowBills: true }, 'forbidden'],
    ['bills by a read token', { kind: 'read', user: 'billing@example.com', allowBills: true }, 'validation_failed'],
    ['an expiry in the past', { kind: 'svc', user: 'member@example.com', expiresAt: START }, 'validation_failed'],
    ['a name of spaces', { kind: 'svc', user: 'member@example.com', name: '  ' }, 'validation_failed'],
    ['a token for nobody', { kind: 'svc', user: 'nobody@example.com' }, 'not_found'],
    ['a token for a disabled person', { kind: 'svc', user: 'disabled@example.com' }, 'validation_failed'],
  ] as const)('%s is refused', async (_what, given, code) => {
    await add('member@example.com')
    await add('billing@example.com', 'billing')
    await add('disabled@example.com')
    await people.disableUser('disabled@example.com', TALLY)
    expect((await refusalOf(people.createToken({ name: 'x', ...given }, TALLY))).code).toBe(code)
    expect(await people.everyToken(EVERYBODYS_TOKENS)).toEqual([])
  })

  test('billing may have a token that sends bills', async () => {
    await add('billing@example.com', 'billing')
    const { token } = await people.createToken(
      {
        kind: 'svc',
        user: 'billing@example.com',
        name: 'x',
        allowBills: true,
      },
      TALLY,
    )
    expect(token.allowBills).toBe(true)
  })

  test('tokens are listed newest first with their states, all or one person’s', async () => {
    await add('ada@example.com')
    await add('grace@example.com')
    const first = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'first' }, TALLY)
    await people.createToken({ kind: 'svc', user: 'grace@example.com', name: 'second', expiresAt: START + 1 }, TALLY)
    await people.revokeToken(EVERYBODYS_TOKENS, first.token.uid, TALLY)
    clock.at += 1
    const states = (await people.everyToken(EVERYBODYS_TOKENS)).map(({ token, state }) => [token.name, state])
    expect(states).toEqual([
      ['second', 'expired'],
      ['first', 'revoked'],
    ])
    expect(
      (await people.everyToken(EVERYBODYS_TOKENS, { users: ['ada@example.com'] })).map(({ token }) => token.name),
    ).toEqual(['first'])
    expect(await people.everyToken(EVERYBODYS_TOKENS, { users: ['nobody@example.com'] })).toEqual([])
    expect((await refusalOf(people.getUser('nobody@example.com'))).code).toBe('not_found')
  })

  test('only a token’s id revokes it', async () => {
    for (const id of ['tok_01a1fa172a0277f3983322718874f2ef', 'usr_01a1fa172a0277f3983322718874f2ef', 'ci', '']) {
      expect((await refusalOf(people.revokeToken(EVERYBODYS_TOKENS, id, TALLY))).code).toBe('not_found')
    }
  })

  const setUpWith = (linkToken: string) =>
    people.setUp({
      linkToken,
      organization: { name: 'Acme', timeZone: 'Europe/Berlin', currency: 'EUR' },
      admin: { email: 'Ada@example.com', name: 'Ada', password: 'correct horse' },
      address: '::1',
    })
  const tokenOf = (link: string) => link.split('#')[1]!

  test('a set-up link makes the first admin and names the organization, once', async () => {
    expect(await people.isSetUp()).toBe(false)
    expect((await organization.settings()).name).toBe('Tally')
    const link = await people.createSetUpLink('http://tally.lan')
    expect(link).toMatch(/^http:\/\/tally\.lan\/setup#[0-9A-Za-z]{32}$/)
    const { user } = await setUpWith(tokenOf(link))
    expect(user).toMatchObject({ email: 'ada@example.com', role: 'admin', hasPassword: true })
    expect(await organization.settings()).toEqual({
      name: 'Acme',
      timeZone: 'Europe/Berlin',
      currency: 'EUR',
      weekStart: 'monday',
      locale: null,
      publicUrl: null,
      unknownProjects: 'create',
      sameSession: 'hold',
      approvalRequired: false,
      apiTokens: false,
      shareLinks: false,
      leadRules: false,
      telemetryByEmail: false,
      costBasis: 'cost',
      leadsSeeFees: false,
      retentionTexts: null,
      retentionSessionIds: null,
      retentionHistory: null,
      retentionAudit: null,
      retentionEvents: 3,
      hashedSessionIds: false,
      internedVersion: 0,
      compactedAt: null,
      sheetRequiredFields: [],
      email: null,
      address: null,
      taxId: null,
      markupPpm: null,
      dueDays: 30,
      reminderDays: null,
      billNumberFormat: '{year}-{sequence:4}',
      billFooter: null,
      logoType: null,
      demoAt: null,
    })
    expect(await people.isSetUp()).toBe(true)
    expect((await refusalOf(setUpWith(tokenOf(link)))).code).toBe('already_set_up')
  })

  test('of two who follow the link at once one comes in', async () => {
    const link = await people.createSetUpLink('')
    const made = await Promise.allSettled([setUpWith(tokenOf(link)), setUpWith(tokenOf(link))])
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await people.everyUser()).toHaveLength(1)
  })

  test('a newer link replaces the older, a day ends it, and a guess is refused', async () => {
    const older = await people.createSetUpLink('')
    const newer = await people.createSetUpLink('')
    expect((await refusalOf(setUpWith(tokenOf(older)))).code).toBe('unauthenticated')
    expect((await refusalOf(setUpWith('x'.repeat(32)))).code).toBe('unauthenticated')
    clock.at += DAY_MS
    expect((await refusalOf(setUpWith(tokenOf(newer)))).code).toBe('unauthenticated')
    expect(await people.everyUser()).toEqual([])
  })

  test('a link is of no use once somebody was added on the command line', async () => {
    const link = await people.createSetUpLink('')
    await add('ada@example.com', 'admin')
    expect((await refusalOf(setUpWith(tokenOf(link)))).code).toBe('already_set_up')
  })

  test('all validation issues of a set-up are returned, and the link still works', async () => {
    const link = await people.createSetUpLink('')
    const { more } = await refusalOf(
      people.setUp({
        linkToken: tokenOf(link),
        organization: { name: ' ', timeZone: '+01:00', currency: 'EURO' },
        admin: { email: 'ada', name: '', password: 'short' },
        address: '::1',
      }),
    )
    expect(more.issues?.map(({ pointer }) => pointer)).toEqual([
      '/organization/name',
      '/organization/time_zone',
      '/organization/currency',
      '/admin/email',
      '/admin/name',
      '/admin/password',
    ])
    expect((await setUpWith(tokenOf(link))).user.name).toBe('Ada')
  })
})
