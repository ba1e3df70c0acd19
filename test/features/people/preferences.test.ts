import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createServices } from '../../../src/services.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

async function signedIn() {
  const email = await app.person('member', { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  return { email, session: `tally_session=${secret}` }
}

const change = (session: string, json: unknown) => app.call('PATCH /api/v1/me/preferences', { session, json })
const preferences = async (session: string) => (await app.call('GET /api/v1/me', { session })).json.preferences

describe('preferences', () => {
  test('follow the person to other sessions, table by table, and are nobody else’s', async () => {
    const { email, session } = await signedIn()
    const usual = { locale: null, week_start: null, density: 'comfortable', tables: {} }
    expect(await preferences(session)).toEqual(usual)
    const entries = { columns: ['summary', 'cost'], widths: { cost: 120 } }
    await change(session, { locale: 'de-CH', tables: { entries, people: { columns: ['name'] } } })
    expect((await change(session, { density: 'compact', tables: { people: null } })).status).toBe(200)
    const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    expect(await preferences(`tally_session=${secret}`)).toEqual({
      ...usual,
      locale: 'de-CH',
      density: 'compact',
      tables: { entries },
    })
    expect(await preferences((await signedIn()).session)).toEqual(usual)
  })

  test('are limited to what pages can show, and in size', async () => {
    const { session } = await signedIn()
    for (const wrong of [
      { locale: 'de-u-nu-arab' },
      { locale: 'x'.repeat(40) },
      { week_start: 'someday' },
      { density: 'huge' },
      { colour: 'red' },
      { tables: { entries: { order: 'x' } } },
      { tables: { entries: { widths: { cost: 1e9 } } } },
      { tables: { '<b>': {} } },
      { tables: { entries: { columns: ['constructor', 'constructor'] } } },
    ]) {
      const { status } = await change(session, wrong)
      expect([wrong, status]).toEqual([wrong, 422])
    }
    const columns = Array.from({ length: 40 }, (_, at) => `column_${at}`.padEnd(40, 'x'))
    const many = (from: number) =>
      Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`table-${from + at}`, { columns }]))
    expect((await change(session, { tables: many(0) })).status).toBe(200)
    expect((await change(session, { tables: many(15) })).status).toBe(422)
    expect(Object.keys((await preferences(session)).tables)).toHaveLength(15)
  })
})

forEachEngine('preferences of a person', (open) => {
  test('change no revision, so they empty no cache, and an erasure removes them', async () => {
    const db = await open()
    const { people, personalData } = createServices({ db, clock: systemClock })
    await people.addUser({ email: 'keeper@example.com', name: 'Keeper', role: 'admin' }, TALLY)
    const { id, email } = await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'member' }, TALLY)
    const before = await db.read.revision()
    await people.changePreferences(id, { density: 'compact' })
    expect(await db.read.revision()).toBe(before)
    expect(await people.preferencesOf(id)).toMatchObject({ density: 'compact' })
    await personalData.erasure.erase(email, [], TALLY)
    expect(await db.read.select().from(db.read.tables.preferences)).toEqual([])
  })
})
