import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../../support/app.ts'
import { reportBody } from '../../../support/reports.ts'

let app: TestApp
let admin: string

beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  const token = await app.token('svc')
  const json = reportBody({ model: 'gpt-5', tokens: { input: 1, output: 1 } })
  expect((await app.call('POST /api/v1/token-entries', { token, json })).status).toBe(201)
})
afterAll(() => app.close())

/** As a script asks whose variables are not set. */
const EMPTY = ['project=', 'project=&status=submitted', 'label=&status=submitted', 'model=gpt-5,', 'q=%20&priced=true']

test('a change of what filters let through is refused where one of them is empty', async () => {
  for (const query of EMPTY) {
    for (const [path, json] of [
      ['token-entries/actions', { action: 'approve' }],
      ['placement-rules/apply', { scope: 'unattributed' }],
    ] as const) {
      const answer = await app.call(`POST /api/v1/${path}?${query}`, { session: admin, json })
      const empty = query.split('=', 1)[0]
      expect([path, query, answer.status, answer.json.errors?.[0]?.pointer]).toEqual([
        path,
        query,
        422,
        `/query/${empty}`,
      ])
      expect(answer.json.errors[0].message).toContain('leave it out')
    }
  }
  const { json } = await app.call('GET /api/v1/token-entries', { session: admin })
  expect(json.data).toMatchObject([{ status: 'submitted' }])
})
