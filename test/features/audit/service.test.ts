import { Database as Connection } from 'bun:sqlite'
import { beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Actor, commandLineActor, TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { DATABASE_FILE } from '../../../src/database/open.ts'
import { Problem } from '../../../src/errors.ts'
import { readAuditQuery } from '../../../src/features/audit/service.ts'
import { EVERYBODYS_TOKENS } from '../../../src/features/people/service.ts'
import { createServices, type Services } from '../../../src/services.ts'
import { forEachEngine, locationOf } from '../../support/databases.ts'
import { clientFor } from '../../support/postgres-server.ts'

const START = Date.parse('2026-11-20T12:00:00Z')
const MINUTE_MS = 60_000
const PASSWORD = 'correct horse battery'

forEachEngine('the audit trail', (open, engine) => {
  let db: Database
  let services: Services
  let clock: { now(): number; at: number }
  let ada: Actor

  beforeEach(async () => {
    clock = { at: START, now: () => clock.at }
    db = await open()
    services = createServices({ db, clock })
    const { people } = services
    const { id } = await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
    ada = { userId: id, tokenId: null, origin: '192.0.2.7' }
  })

  const read = async (texts: Parameters<typeof readAuditQuery>[0] = {}) =>
    (await services.audit.listChanges(readAuditQuery(texts, 'UTC'))).data
  const actionsOf = async (texts: Parameters<typeof readAuditQuery>[0] = {}) =>
    (await read(texts)).map(({ action }) => action)

  /** What a statement failed with, on a connection of its own. */
  async function besides(statement: string): Promise<string> {
    const { dataDir, databaseUrl } = locationOf(db)
    try {
      if (databaseUrl) {
        const client = clientFor(databaseUrl)
        await client.unsafe(statement).finally(() => client.end())
      } else {
        using connection = new Connection(join(dataDir, DATABASE_FILE))
        connection.run(statement)
      }
      return 'it was done'
    } catch (error) {
      return String(error)
    }
  }

  test('can be neither changed nor shortened, whoever has the database', async () => {
    for (const attempt of [
      () => db.write((tx) => tx.update(tx.tables.audit).set({ origin: 'nobody' })),
      () => db.write((tx) => tx.delete(tx.tables.audit)),
    ]) {
      const failure = await attempt().then(
        () => 'it was done',
        (error) => Bun.inspect(error),
      )
      expect(failure).toContain('audit rows are kept as they are')
    }
    expect(await read()).toMatchObject([{ action: 'user.added', origin: 'tally' }])
  })

  test('is not replaced or emptied either, by whoever speaks SQL', async () => {
    const row = "INSERT INTO entry_history (entry_id, at, action, details) VALUES (1, 1, 'placed', '{}')"
    if (engine === 'sqlite') expect(await besides(row)).toBe('it was done')
    for (const table of ['audit', 'entry_history']) {
      const statement =
        engine === 'sqlite' ? `INSERT OR REPLACE INTO ${table} SELECT * FROM ${table}` : `TRUNCATE ${table}`
      expect(await besides(statement)).toContain('rows are kept as they are')
    }
    expect(await read()).toMatchObject([{ action: 'user.added', origin: 'tally' }])
  })

  test('names who did it, from where, what, and what of it changed', async () => {
    const { people } = services
    const grace = await people.addUser({ email: 'grace@example.com', name: 'Grace', role: 'member' }, ada)
    clock.at += MINUTE_MS
    await people.changeUser('grace@example.com', { role: 'billing', name: 'Grace' }, ada)
    const [changed, added] = await read()
    expect(changed).toMatchObject({
      at: START + MINUTE_MS,
      user: { email: 'ada@example.com', name: 'Ada' },
      token: null,
      origin: '192.0.2.7',
      action: 'user.changed',
      objectId: grace.uid,
      objectName: 'grace@example.com',
    })
    // Only what differs.
    expect([changed!.before, changed!.after]).toEqual([{ role: 'member' }, { role: 'billing' }])
    expect(added).toMatchObject({
      action: 'user.added',
      before: null,
      after: { email: 'grace@example.com', name: 'Grace', role: 'member', has_password: false },
    })
  })

  test('names the user of the command line', async () => {
    await services.organization.changeSettings({ name: 'Acme' }, commandLineActor())
    const [change] = await read()
    expect(change).toMatchObject({ user: null, token: null, action: 'organization.changed', objectId: 'organization' })
    expect(change!.origin).toMatch(/^command line of (user )?\S+$/)
    expect([change!.before, change!.after]).toEqual([{ name: 'Tally' }, { name: 'Acme' }])
  })

  test('names the token by which it was done', async () => {
    const { people, audit } = services
    const { token } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'month-end' }, ada)
    await db.write((tx) => audit.record(tx, { ...ada, tokenId: token.id }, { action: 'bill.sent' }))
    expect((await read())[0]).toMatchObject({ token: { uid: token.uid, name: 'month-end' } })
  })

  test('has every change of people, tokens, sign-in and settings, each once', async () => {
    const { people } = services
    const grace = 'grace@example.com'
    await people.inviteUser({ email: grace, name: 'Grace', role: 'admin' }, 'http://tally', ada)
    await people.createPasswordLink(grace, 'invitation', 'http://tally', ada)
    const { link } = await people.createPasswordLink(grace, 'password', 'http://tally', ada)
    await people.choosePassword({ linkToken: link.split('#')[1]!, password: PASSWORD, address: '192.0.2.8' })
    const { caller } = await people.signIn({ email: grace, password: PASSWORD, address: '192.0.2.8' })
    await people.changePassword(caller, { current: PASSWORD, next: 'of another kind', address: '192.0.2.8' })
    await people.setPassword(grace, PASSWORD, ada)
    await people.signOut(caller, { everywhere: true, by: ada })
    const { token } = await people.createToken({ kind: 'org', user: grace, name: 'push' }, ada)
    await people.revokeToken(EVERYBODYS_TOKENS, token.uid, ada)
    await people.changeUser(grace, { role: 'member' }, ada)
    await people.disableUser(grace, ada)
    await people.enableUser(grace, ada)
    await services.organization.changeSettings({ unknownProjects: 'hold' }, ada)
    expect((await actionsOf()).reverse()).toEqual([
      'user.added',
      'user.added',
      'user.invited',
      'user.invited',
      'user.password_link_made',
      'user.password_chosen',
      'session.begun',
      'user.password_changed',
      'user.password_set',
      'user.signed_out_everywhere',
      'token.created',
      'token.revoked',
      'user.changed',
      'user.disabled',
      'user.enabled',
      'organization.changed',
    ])
    const own = await read({ user: grace })
    expect(own.map(({ action, origin }) => [action, origin])).toEqual([
      ['user.password_changed', '192.0.2.8'],
      ['session.begun', '192.0.2.8'],
      ['user.password_chosen', '192.0.2.8'],
    ])
  })

  test('does not have what changed nothing, was refused, or was rolled back', async () => {
    const { people } = services
    const { token } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, ada)
    await people.revokeToken(EVERYBODYS_TOKENS, token.uid, ada)
    const before = await actionsOf()
    await people.revokeToken(EVERYBODYS_TOKENS, token.uid, ada)
    await people.changeUser('ada@example.com', { role: 'admin' }, ada)
    await people.changeUser('ada@example.com', {}, ada)
    await people.enableUser('ada@example.com', ada)
    await services.organization.changeSettings({ name: 'Tally' }, ada)
    for (const refused of [
      () => people.changeUser('ada@example.com', { role: 'member' }, ada),
      () => people.disableUser('ada@example.com', ada),
      () => people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, ada),
      () => services.organization.changeSettings({ currency: 'euro' }, ada),
      () => people.signIn({ email: 'ada@example.com', password: PASSWORD, address: '::1' }),
    ]) {
      await expect(refused()).rejects.toBeInstanceOf(Problem)
    }
    expect(await actionsOf()).toEqual(before)
  })

  test('has the set-up, by the admin whom it makes', async () => {
    const empty = await open()
    const { people, audit } = createServices({ db: empty, clock })
    const link = await people.createSetUpLink('')
    await people.setUp({
      linkToken: link.split('#')[1]!,
      organization: { name: 'Acme', timeZone: 'Europe/Berlin', currency: 'EUR' },
      admin: { email: 'ada@example.com', name: 'Ada', password: PASSWORD },
      address: '192.0.2.9',
    })
    const { data: changes } = await audit.listChanges(readAuditQuery({}, 'UTC'))
    expect(changes.map(({ action, user, origin }) => [action, user?.email, origin])).toEqual([
      ['user.added', 'ada@example.com', '192.0.2.9'],
      ['organization.set_up', 'ada@example.com', '192.0.2.9'],
    ])
  })

  test('has every change of prices, with counts where it is of many', async () => {
    const { prices } = services
    await prices.loadDefaultPrices()
    await prices.load(await prices.planTable('model,provider,input,output\nx,y,1,2\nz,y,1,2\n', {}), ada)
    const row = { model: 'our-coder', input: 0.5, output: 2 }
    const { price } = await prices.setPrice(row, ada)
    await prices.setPrice(row, ada)
    await prices.setPrice({ ...row, input: 1 }, ada)
    await prices.withdraw({ model: 'our-coder', provider: '' }, ada)
    await prices.setAlias({ alias: 'coder', provider: null, model: 'our-coder' }, ada)
    await prices.setAlias({ alias: 'coder', provider: null, model: 'gpt-5' }, ada)
    await prices.removeAlias('coder', ada)
    const changes = (await read({ user: 'ada@example.com' })).reverse()
    expect(changes.map(({ action, before, after }) => [action, before, after])).toEqual([
      [
        'prices.loaded',
        null,
        expect.objectContaining({ format: 'tally', new: 2, changed: 0, older: 0, refused: 0, aliases: 0 }),
      ],
      ['price.set', null, expect.objectContaining({ model: 'our-coder', input: 0.5, output: 2 })],
      ['price.set', expect.objectContaining({ input: 0.5 }), expect.objectContaining({ input: 1 })],
      [
        'price.withdrawn',
        { provider: '', effective_until: null },
        { provider: '', effective_until: '2026-11-20T00:00:00.000Z' },
      ],
      ['price_alias.set', null, { alias: 'coder', model: 'our-coder', provider: null }],
      [
        'price_alias.set',
        { alias: 'coder', model: 'our-coder', provider: null },
        { alias: 'coder', model: 'gpt-5', provider: null },
      ],
      ['price_alias.removed', { alias: 'coder', model: 'gpt-5', provider: null }, null],
    ])
    expect(changes[1]).toMatchObject({ objectId: price.uid, objectName: 'our-coder' })
    // The table that Tally carries comes from nobody.
    expect(await read({ action: 'prices.loaded', search: 'default' })).toMatchObject([{ user: null, origin: 'tally' }])
  })

  describe('is found', () => {
    let graceId: string
    beforeEach(async () => {
      const { people } = services
      graceId = (await people.addUser({ email: 'grace@example.com', name: '100 % Grace', role: 'member' }, ada)).uid
      clock.at += MINUTE_MS
      await people.createToken({ kind: 'svc', user: 'grace@example.com', name: 'ci' }, TALLY)
      clock.at += MINUTE_MS
      await people.disableUser('grace@example.com', ada)
    })

    const at = (minutes: number) => new Date(START + minutes * MINUTE_MS).toISOString()
    test.each([
      ['all, the newest first', () => ({}), ['user.disabled', 'token.created', 'user.added', 'user.added']],
      [
        'by the id of the object, or of one that it refers to',
        () => ({ object: graceId }),
        ['user.disabled', 'token.created', 'user.added'],
      ],
      ['by its name', () => ({ object: 'grace@example.com' }), ['user.disabled', 'token.created', 'user.added']],
      ['by several of them', () => ({ object: [graceId, 'ci'] }), ['user.disabled', 'token.created', 'user.added']],
      ['by who did it', () => ({ user: 'ADA@example.com' }), ['user.disabled', 'user.added']],
      ['by nobody of that name', () => ({ user: 'nobody@example.com' }), []],
      ['by action', () => ({ action: 'token.created' }), ['token.created']],
      ['by what an action begins with', () => ({ action: ['token', 'use'] }), ['token.created']],
      ['from a moment', () => ({ starting_at: at(1) }), ['user.disabled', 'token.created']],
      ['until before a moment', () => ({ ending_at: at(1) }), ['user.added', 'user.added']],
      ['by a text of what changed', () => ({ search: '100 %' }), ['user.added']],
      ['by a text of the origin', () => ({ search: '192.0.2' }), ['user.disabled', 'user.added']],
      ['by a text that nothing has', () => ({ search: '_%_' }), []],
      [
        'by all of these',
        () => ({ object: graceId, user: 'ada@example.com', action: 'user', ending_at: at(1) }),
        ['user.added'],
      ],
    ])('%s', async (_what, texts, expected) => {
      expect(await actionsOf(texts())).toEqual(expected)
    })

    test('page by page, stable while more is added', async () => {
      const { people, audit } = services
      const first = await audit.listChanges(readAuditQuery({ limit: '2' }, 'UTC'))
      await people.enableUser('grace@example.com', ada)
      const second = await audit.listChanges(readAuditQuery({ limit: '2', page: first.next_page! }, 'UTC'))
      const actions = [...first.data, ...second.data].map(({ action }) => action)
      expect(actions).toEqual(['user.disabled', 'token.created', 'user.added', 'user.added'])
      expect(second.next_page).toBeNull()
      expect(await Array.fromAsync(audit.everyChange({}), ({ action }) => action)).toEqual(['user.enabled', ...actions])
    })

    test.each([
      [{ starting_at: 'yesterday' }, '/query/starting_at'],
      [{ limit: '0' }, '/query/limit'],
      [{ page: 'x' }, '/query/page'],
      [{ format: 'xml' }, '/query/format'],
    ])('but not with %j', (texts, pointer) => {
      expect(() => readAuditQuery(texts, 'UTC')).toThrow(pointer)
    })
  })

  test('of two who take an address at once one has it, and one is told', async () => {
    const { people } = services
    for (const email of ['one@example.com', 'two@example.com']) {
      await people.addUser({ email, name: email, role: 'member' }, ada)
    }
    const other = createServices({ db: await open({ sharing: db }), clock }).people
    const taken = await Promise.allSettled([
      people.changeUser('one@example.com', { email: 'same@example.com' }, ada),
      other.changeUser('two@example.com', { email: 'same@example.com' }, ada),
    ])
    expect(taken.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = taken.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect((refused.reason as Problem).code).toBe('already_exists')
    expect(await actionsOf({ action: 'user.changed' })).toHaveLength(1)
  })
})
