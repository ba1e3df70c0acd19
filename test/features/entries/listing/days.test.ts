import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../../support/app.ts'
import { reportBody } from '../../../support/reports.ts'

let app: TestApp
let session: string

const NOVEMBER = 'starting_at=2026-11-01&ending_at=2026-12-01'

/** In Berlin, the first session is of November and the second one of December; in UTC, of the months before. */
beforeAll(async () => {
  app = await startApp({ clock: { now: () => Date.parse('2026-12-10T12:00:00Z') } })
  session = await app.session('admin')
  await app.call('PATCH /api/v1/settings', { session, json: { time_zone: 'Europe/Berlin' } })
  const token = await app.token('svc')
  for (const [index, started_at] of ['2026-10-31T23:30:00Z', '2026-11-30T23:30:00Z'].entries()) {
    const json = reportBody({ started_at, ended_at: started_at, session_id: `s-${index}`, model: 'unpriced' })
    expect((await app.call('POST /api/v1/token-entries', { token, json })).status).toBe(201)
  }
})
afterAll(() => app.close())

test('a day means the same in lists, actions, reports, rules and bills: that of the organization', async () => {
  const get = async (path: string) => (await app.call(`GET /api/v1/${path}`, { session })).json
  const post = async (path: string, json: object) => (await app.call(`POST /api/v1/${path}`, { session, json })).json
  const found = {
    list: (await get(`token-entries?${NOVEMBER}`)).data.map((entry: { started_at: string }) => entry.started_at),
    usage: (await get(`reports/usage?${NOVEMBER}&bucket_width=all`)).totals.entries,
    unpriced: (await get(`reports/unpriced?${NOVEMBER}`)).data[0].entries,
    unattributed: (await get(`reports/unattributed?${NOVEMBER}`)).totals.entries,
    completeness: (await get(`reports/completeness?${NOVEMBER}`)).data[0].entries,
    approvals: (await get(`approvals?${NOVEMBER}`)).entries.entries,
    approve: (await post(`token-entries/actions?${NOVEMBER}`, { action: 'approve', dry_run: true })).results.length,
    rules: (await post(`placement-rules/test/entries?${NOVEMBER}`, {})).data.length,
    bill: (await post('bills/preview', { month: '2026-11', leave_unpriced: true })).document.left_out.unpriced.entries,
  }
  expect(found).toEqual({
    list: ['2026-10-31T23:30:00.000Z'],
    usage: 1,
    unpriced: 1,
    unattributed: 1,
    completeness: 1,
    approvals: 1,
    approve: 1,
    rules: 1,
    bill: 1,
  })
})

test('a link of a report leads to exactly what it counted', async () => {
  const { json } = await app.call(`GET /api/v1/reports/completeness?${NOVEMBER}`, { session })
  for (const { check, entries, list } of json.data) {
    if (list === null) continue
    const listed = await app.call(`GET ${list}`, { session })
    expect([check, listed.json.data.length]).toEqual([check, entries])
  }
})

test('a timestamp stays exact, in every form', async () => {
  for (const starting_at of ['2026-10-31T23:30:00Z', '20261101T003000+0100', '2026-11-01 00:30+01:00']) {
    const query = new URLSearchParams({ starting_at, ending_at: '2026-10-31T23:30:00.001Z' })
    const { json } = await app.call(`GET /api/v1/token-entries?${query}`, { session })
    expect([starting_at, json.data.length]).toEqual([starting_at, 1])
  }
  const unencoded = 'starting_at=2026-11-01T00:30:00+01:00&ending_at=2026-11-01T00:30:01+0100'
  expect((await app.call(`GET /api/v1/token-entries?${unencoded}`, { session })).json.data).toHaveLength(1)
})
