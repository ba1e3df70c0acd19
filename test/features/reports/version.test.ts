import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
let now = Date.parse('2026-11-22T12:00:00Z')
let session: string
let service: string
let boss: string
beforeAll(async () => {
  app = await startApp({ clock: { now: () => now } })
  session = await app.session('admin')
  boss = await app.person('admin')
  service = await app.token('svc', boss)
})
afterAll(() => app.close())

const USAGE =
  'GET /api/v1/reports/usage?starting_at=2026-11-01&ending_at=2026-11-22&group_by=project,client,ticket&bucket_width=all'
const VARIANCE = 'GET /api/v1/reports/variance?starting_at=2026-11-01&ending_at=2026-11-22'

const report = (more: object = {}) => ({
  agent_harness: 'codex',
  agent_name: 'Codex',
  model: 'gpt-5',
  started_at: '2026-11-20T09:00:00Z',
  ended_at: '2026-11-20T09:30:00Z',
  tokens: { input: 1_000, output: 1 },
  project: 'WEB',
  ticket: 'WEB-1',
  ...more,
})

async function post(json: object) {
  const { status, json: entry } = await app.call('POST /api/v1/token-entries', { token: service, json })
  expect(status).toBe(201)
  return entry.id as string
}

async function rollUp() {
  const { rollup } = app.services.reports
  // Days are rolled up once they have not changed for some seconds.
  while ((await rollup.step()) !== 'idle');
  now += 10_000
  while ((await rollup.step()) !== 'idle');
}

async function change(methodAndPath: string, json: object) {
  const { status, text } = await app.call(methodAndPath, { session, json })
  expect([methodAndPath, status < 300, status < 300 ? '' : text]).toEqual([methodAndPath, true, ''])
}

const find = async (path: string, key: string) => {
  const { json } = await app.call(`GET /api/v1/${path}`, { session })
  return json.data.find((each: Record<string, string>) => each.key === key || each.name === key).id as string
}

/** Each changes what a report shows, or might. */
const CHANGES: [string, () => Promise<unknown>][] = [
  ['an entry is reported', () => post(report())],
  [
    'an entry is reported on a day without any',
    () => post(report({ started_at: '2026-11-03T09:00:00Z', ended_at: '2026-11-03T09:01:00Z' })),
  ],
  [
    'an entry is assigned to another project',
    async () => {
      const id = await post(report({ started_at: '2026-11-19T09:00:00Z', ended_at: '2026-11-19T09:01:00Z' }))
      await rollUp()
      await app.call(USAGE, { session })
      await change('POST /api/v1/token-entries/actions', { action: 'place', ids: [id], project: 'API' })
    },
  ],
  [
    'entries are approved',
    async () => change('POST /api/v1/token-entries/actions', { action: 'approve', ids: [await post(report())] }),
  ],
  [
    'a project is renamed',
    async () => change(`PATCH /api/v1/projects/${await find('projects', 'WEB')}`, { name: 'Renamed' }),
  ],
  [
    'a project gets a client',
    async () => {
      const { json } = await app.call('POST /api/v1/clients', { session, json: { name: 'Acme' } })
      await change(`PATCH /api/v1/projects/${await find('projects', 'WEB')}`, { client: json.id })
    },
  ],
  [
    'a client is renamed',
    async () => change(`PATCH /api/v1/clients/${await find('clients', 'Acme')}`, { name: 'Acme Ltd' }),
  ],
  ['a ticket moves', () => change('PATCH /api/v1/tickets/WEB-1', { project: 'API' })],
  ['the time zone of the organization changes', () => change('PATCH /api/v1/settings', { time_zone: 'Asia/Tokyo' })],
  ['the first day of the week changes', () => change('PATCH /api/v1/settings', { week_start: 'sunday' })],
  ['a price is set', () => change('POST /api/v1/prices', { model: 'some-model', input: 1, output: 1 })],
]

test('a report of rolled-up days that has not changed is a 304, without being calculated', async () => {
  await post(report())
  await post(report({ project: 'API', ticket: 'API-1' }))
  await rollUp()
  for (const path of [USAGE, VARIANCE]) {
    const first = await app.call(path, { session })
    const headers = { 'if-none-match': first.headers.get('etag')! }
    const { usageJson, variance } = app.services.reports
    const fail = () => Promise.reject(new Error('calculated'))
    Object.assign(app.services.reports, { usageJson: fail, variance: fail })
    const unchanged = await app.call(path, { session, headers })
    const other = await app.call(`${path}&model=gpt-5`, { session, headers })
    Object.assign(app.services.reports, { usageJson, variance })
    expect([unchanged.status, unchanged.text, other.status]).toEqual([304, '', 500])
    expect((await app.call(path, { session: await app.session('admin'), headers })).status).toBe(200)
    expect((await app.call(path, { headers })).status).toBe(401)
  }
})

test.each(CHANGES)('a report is sent again after %s', async (_, make) => {
  await rollUp()
  const first = await app.call(USAGE, { session })
  const headers = { 'if-none-match': first.headers.get('etag')! }
  expect((await app.call(USAGE, { session, headers })).status).toBe(304)
  await make()
  expect((await app.call(USAGE, { session, headers })).status).toBe(200)
  await rollUp()
  expect((await app.call(USAGE, { session, headers })).status).toBe(200)
})

test('a report of days that are not rolled up is compared with what the client has', async () => {
  await post(report())
  const first = await app.call(USAGE, { session })
  const headers = { 'if-none-match': first.headers.get('etag')! }
  expect((await app.call(USAGE, { session, headers })).status).toBe(304)
  await post(report())
  expect((await app.call(USAGE, { session, headers })).status).toBe(200)
})

test('a person who begins to lead a project gets its report', async () => {
  await post(report({ project: 'LED', ticket: 'LED-1' }))
  await rollUp()
  const email = await app.person('member')
  const token = await app.token('read', email)
  const first = await app.call(USAGE, { token })
  const headers = { 'if-none-match': first.headers.get('etag')! }
  expect((await app.call(USAGE, { token, headers })).status).toBe(304)
  const { json } = await app.call('GET /api/v1/users', { session })
  const user = json.data.find((each: { email: string }) => each.email === email).id
  await change(`PATCH /api/v1/projects/${await find('projects', 'LED')}`, { leads: [user] })
  const after = await app.call(USAGE, { token, headers })
  expect(after.status).toBe(200)
  expect(after.json.totals.entries).toBeGreaterThan(0)
})
