import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
let billing: string
beforeAll(async () => {
  app = await startApp()
  billing = await app.session('billing')
})
afterAll(() => app.close())

test('a bill is sent without a mail server, but delivering it is refused', async () => {
  const agent = await app.token('svc')
  const report = {
    agent_harness: 'codex',
    agent_name: 'builder',
    model: 'no-such-model',
    started_at: '2026-10-20T10:00:00Z',
    ended_at: '2026-10-20T11:00:00Z',
    tokens: { input: 10, output: 5 },
    reported_cost: 1,
  }
  await app.call('POST /api/v1/token-entries', { token: agent, json: report })
  const sending = { month: '2026-10', deliver_to: ['ada@acme.example'] }
  const { status, json } = await app.call('POST /api/v1/bills', { session: billing, json: sending })
  expect([status, json.delivery, json.deliveries]).toEqual([201, 'none', []])
  const deliver = (body: unknown, session = billing) =>
    app.call(`POST /api/v1/bills/${json.number}/deliver`, { session, json: body })
  expect(await deliver({ to: ['ada@acme.example'] })).toMatchObject({ status: 409, json: { code: 'mail_not_set_up' } })
  const wrong = await deliver({ to: ['ada@acme.example', 'Ada <ada@acme.example>'] })
  expect([wrong.status, wrong.json.errors[0].pointer]).toEqual([422, '/to/1'])
  expect((await deliver({}, await app.session('member'))).status).toBe(403)
  const refused = await app.call('POST /api/v1/bills', { session: billing, json: { ...sending, deliver_to: ['ada'] } })
  expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, '/deliver_to/0'])
})
