/** Filters by bills, token sheets and price loads, by people who see all of them and by others. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../../src/database/database.ts'
import { newId } from '../../../src/lib/id.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

forEachEngine('a filter', (open) => {
  let db: Database
  let app: TestApp
  let admin: string
  let mia: string
  let leo: string
  let bill: { id: string; number: string }
  let sheet: string

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => Date.parse('2026-11-20T19:30:00Z') } })
    const signIn = async (email: string) =>
      `tally_session=${(await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })).secret}`
    const email = await app.person('member', { password: true })
    admin = await app.session('admin')
    mia = await signIn(email)
    leo = await signIn(await app.person('member', { password: true }))
    const token = await app.token('svc', email)
    const at = { started_at: '2026-10-05T10:00:00Z', ended_at: '2026-10-05T11:00:00Z' }
    const json = reportBody({ ...at, reported_cost: 10, project: 'acme' })
    expect((await app.call('POST /api/v1/token-entries', { token, json })).status).toBe(201)
    const sending = { json: { month: '2026-10', project: 'acme', exchange_rate: 1 }, session: admin }
    const sent = await app.call('POST /api/v1/bills', sending)
    expect(sent.status).toBe(201)
    bill = sent.json
    sheet = (await app.call('POST /api/v1/token-sheets', { session: mia, json: { month: '2026-11' } })).json.id
  })
  afterAll(() => app.close())

  const list = async (session: string, filter: string) => {
    const listed = await app.call(`GET /api/v1/token-entries?${filter}`, { session })
    const reported = await app.call(`GET /api/v1/reports/usage?starting_at=2026-10-01&${filter}`, { session })
    expect(reported.status).toBe(listed.status)
    return listed.status === 200 ? listed.json.data.length : listed.json.errors[0].message
  }

  test('by a bill that does not exist is refused with the nearest number', async () => {
    expect([await list(admin, `bill=${bill.id}`), await list(admin, `bill=${bill.number},none`)]).toEqual([1, 1])
    expect(await list(admin, `bill=${bill.number}0`)).toBe(
      `there is no bill '${bill.number}0'; did you mean '${bill.number}'?`,
    )
    expect(await list(admin, `bill=${newId('bil')}`)).toContain('there is no bill')
  })

  test('by a bill tells somebody who does not see it nothing about it', async () => {
    const asked = [bill.number, bill.id, '9999-1', newId('bil')]
    expect(await Promise.all(asked.map((each) => list(leo, `bill=${each}`)))).toEqual([0, 0, 0, 0])
    expect(await list(mia, `bill=${bill.number}`)).toBe(1)
  })

  test('by a sheet that somebody does not see is refused like one that does not exist', async () => {
    expect([await list(mia, `sheet=${sheet}`), await list(admin, `sheet=${sheet}`)]).toEqual([0, 0])
    for (const session of [admin, mia])
      expect(await list(session, 'sheet=sht_1')).toBe("there is no token sheet 'sht_1'")
    const unknown = newId('sht')
    expect(await list(leo, `sheet=${sheet}`)).toBe(`there is no token sheet '${sheet}'`)
    expect(await list(leo, `sheet=${unknown}`)).toBe(`there is no token sheet '${unknown}'`)
  })

  test('by a load of prices that does not exist is refused', async () => {
    expect(await list(admin, 'price_load=pld_1')).toBe("there is no price load 'pld_1'")
    expect(await list(mia, 'price_load=pld_1')).toBe(0)
  })
})
