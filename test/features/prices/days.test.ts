import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

/** 00:30 on the 9th in Berlin, when it is still the 8th in UTC. */
const NOW = Date.UTC(2026, 10, 8, 23, 30)

let now = NOW
let app: TestApp
let admin: string
let reports: string
/** Of one test. */
let name: { model: string; provider: string }

beforeAll(async () => {
  app = await startApp({ clock: { now: () => now } })
  reports = await app.token('svc')
})
afterAll(() => app.close())

beforeEach(async () => {
  await at(NOW)
  name = { model: `coder-${crypto.randomUUID()}`, provider: 'acme' }
  await moveTo('Europe/Berlin')
})

async function call(path: string, json: unknown) {
  const response = await app.call(path, { session: admin, json })
  expect([path, response.status]).toEqual([path, response.status < 300 ? response.status : response.json])
  return response.json
}

const moveTo = (time_zone: string) => call('PATCH /api/v1/settings', { time_zone })

const set = (input: number, more = {}) => call('POST /api/v1/prices', { ...name, input, output: 1, ...more })

async function load(query: string, input: number, more = '') {
  const [columns, cells] = more === '' ? ['', ''] : [',effective_from', `,${more}`]
  const response = await app.call(`POST /api/v1/prices/load?${query}`, {
    session: admin,
    body: `provider,model,input,output${columns}\nacme,${name.model},${input},1${cells}\n`,
    headers: { 'content-type': 'text/csv' },
  })
  expect(response.status).toBe(200)
  return response.json
}

/** What a million tokens of a session that starts then cost. */
async function costAt(started_at: string): Promise<number> {
  const tokens = { input: 1_000_000, output: 0 }
  const { json } = await app.call('POST /api/v1/token-entries', {
    token: reports,
    json: reportBody({ ...name, started_at, ended_at: started_at, session_id: crypto.randomUUID(), tokens }),
  })
  return json.list_value
}

/** Reports are not accepted from the future. A session ends meanwhile. */
async function at(moment: number) {
  now = moment
  admin = await app.session('admin')
}

const afterwards = () => at(Date.UTC(2026, 10, 20))

describe('a day given by hand is one of the organization', () => {
  test('when a price takes effect, ends and is withdrawn', async () => {
    await set(1, { effective_from: 'always' })
    const made = await set(5, { effective_from: '2026-11-10', effective_until: '2026-11-12' })
    expect(made.price).toMatchObject({
      effective_from: '2026-11-09T23:00:00.000Z',
      effective_until: '2026-11-11T23:00:00.000Z',
    })
    await set(7, { effective_from: '2026-11-14' })
    const withdrawn = await call('POST /api/v1/prices/withdraw', { ...name, effective_until: '2026-11-16' })
    expect(withdrawn.effective_until).toBe('2026-11-15T23:00:00.000Z')
    await afterwards()
    const costs = ['09T23:59', '10T00:00', '10T00:30', '11T23:59', '12T00:00', '14T00:30', '15T23:59'].map((time) =>
      costAt(`2026-11-${time}:00+01:00`),
    )
    expect(await Promise.all(costs)).toEqual([1, 5, 5, 5, 1, 7, 7])
    expect(await costAt('2026-11-16T00:00:00+01:00')).toBeNull()
  })

  test('when there is none: today', async () => {
    await set(1, { effective_from: 'always' })
    expect((await set(5)).price.effective_from).toBe('2026-11-08T23:00:00.000Z')
    expect((await load('', 6)).changed).toMatchObject([{ after: { effective_from: '2026-11-08T23:00:00.000Z' } }])
    const withdrawn = await call('POST /api/v1/prices/withdraw', name)
    expect(withdrawn.effective_until).toBe('2026-11-08T23:00:00.000Z')
  })

  test('which a load dates its rows with, but not in the table itself', async () => {
    await load('effective_from=always', 1)
    await load('effective_from=2026-11-10', 5)
    await load('', 7, '2026-11-12')
    await afterwards()
    const costs = ['09T23:59', '10T00:00', '12T00:59', '12T01:00'].map((time) => costAt(`2026-11-${time}:00+01:00`))
    expect(await Promise.all(costs)).toEqual([1, 5, 5, 7])
  })

  test('for which a price is looked up', async () => {
    await set(1, { effective_from: 'always' })
    await set(5, { effective_from: '2026-11-10' })
    const { json } = await app.call(`GET /api/v1/prices/resolve?model=${name.model}&provider=acme&at=2026-11-10`, {
      session: admin,
    })
    expect(json).toMatchObject({ at: '2026-11-09T23:00:00.000Z', price: { input: 5 } })
    expect(json.steps[0].detail).toContain('in effect from 2026-11-10,')
  })
})

describe('the date of a table that is loaded', () => {
  test('may be today where that is tomorrow in UTC', async () => {
    expect((await load('as_of=2026-11-09', 1)).as_of).toBe('2026-11-09')
    expect((await load('', 2)).as_of).toBe('2026-11-09')
    const tomorrow = await app.call('POST /api/v1/prices/load?as_of=2026-11-10', {
      session: admin,
      body: 'provider,model,input,output\nacme,x,1,1\n',
      headers: { 'content-type': 'text/csv' },
    })
    expect(tomorrow.json.errors).toMatchObject([{ pointer: '/query/as_of', code: 'in_the_future' }])
  })

  test('is today where it is already tomorrow in UTC: a table of today is not older then', async () => {
    await moveTo('America/Los_Angeles')
    await at(Date.UTC(2026, 10, 9, 2))
    expect((await set(1)).price.as_of).toBe('2026-11-08')
    expect((await load('', 2)).as_of).toBe('2026-11-08')
    expect(await load('as_of=2026-11-08', 3)).toMatchObject({ counts: { changed: 1, older: 0 } })
  })
})

describe('of the prices that begin on the same day, the last one for that day holds on all of it', () => {
  test('also if an earlier version, another time zone or a table dated one in UTC', async () => {
    await set(1, { effective_from: 'always' })
    await set(2, { effective_from: '2026-11-10T00:00:00Z' })
    await load('', 3, '2026-11-10')
    const planned = await set(5, { effective_from: '2026-11-10', dry_run: true })
    expect(planned).toMatchObject({ before: { input: 1 }, after: { effective_from: '2026-11-09T23:00:00.000Z' } })
    const made = await set(5, { effective_from: '2026-11-10' })
    expect(made.price).toMatchObject({ input: 5, effective_from: '2026-11-09T23:00:00.000Z' })
    expect((await set(5, { effective_from: '2026-11-10' })).added).toBe(false)
    await afterwards()
    const costs = ['09T23:59', '10T00:00', '10T01:00', '11T00:00'].map((time) => costAt(`2026-11-${time}:00+01:00`))
    expect(await Promise.all(costs)).toEqual([1, 5, 5, 5])
  })

  test('also today, and in a table that is loaded again', async () => {
    await load('effective_from=always', 1)
    await load('effective_from=2026-11-09T00:00:00Z', 2)
    await load('effective_from=2026-11-09', 3)
    await set(4, { effective_from: '2026-11-09T06:00:00Z' })
    await afterwards()
    const times = ['09T00:30', '09T02:00', '09T08:00'].map((time) => `2026-11-${time}:00+01:00`)
    expect(await Promise.all(times.map(costAt))).toEqual([3, 3, 4])
    await at(NOW)
    await set(6)
    await afterwards()
    expect(await Promise.all(times.map(costAt))).toEqual([6, 6, 6])
  })
})

test('a change of the time zone moves no price and no value', async () => {
  await set(1, { effective_from: 'always' })
  await set(5, { effective_from: '2026-11-10' })
  await afterwards()
  const prices = () =>
    app.call(`GET /api/v1/prices?model=${name.model}`, { session: admin }).then(({ json }) => json.data)
  const entries = () =>
    app.call(`GET /api/v1/token-entries?model=${name.model}`, { session: admin }).then(({ json }) => json.data)
  await costAt('2026-11-10T00:30:00+01:00')
  const [rows, valued] = [await prices(), await entries()]
  expect(valued).toMatchObject([{ list_value: 5 }])
  await moveTo('America/New_York')
  await call('POST /api/v1/prices/reprice', {})
  expect(await prices()).toEqual(rows)
  expect(await entries()).toEqual(valued)
  expect(await costAt('2026-11-10T00:30:00+01:00')).toBe(5)
  expect((await set(8, { effective_from: '2026-11-10' })).price.effective_from).toBe('2026-11-10T05:00:00.000Z')
})
