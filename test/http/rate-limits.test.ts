import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'

const clock = { moment: Date.parse('2026-11-20T12:00:00Z'), now: () => clock.moment }

let app: TestApp
beforeAll(async () => {
  app = await startApp({ rateLimit: 3, clock })
})
afterAll(() => app.close())

const me = (token: string) => app.call('GET /api/v1/me', { token })

test('a token that calls too often hears 429 and when to come back, while others and people go on', async () => {
  const [wild, calm] = [await app.token('svc'), await app.token('svc')]
  for (let call = 0; call < 3; call += 1) expect((await me(wild)).status).toBe(200)
  const refused = await me(wild)
  expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '20'])
  expect(refused.json.detail).toContain('3 requests per minute')
  expect((await me(calm)).status).toBe(200)
  const session = await app.session()
  for (let call = 0; call < 9; call += 1) expect((await app.call('GET /api/v1/me', { session })).status).toBe(200)

  // Refusals cost nothing: after the pause it works.
  clock.moment += 20_000
  expect((await me(wild)).status).toBe(200)
  expect((await me(wild)).status).toBe(429)
  clock.moment += 3_600_000
  for (let call = 0; call < 3; call += 1) expect((await me(wild)).status).toBe(200)
  expect((await me(wild)).status).toBe(429)
})

test('a wrong token is answered as wrong, however often it calls', async () => {
  for (let call = 0; call < 9; call += 1) expect((await me('tally_svc_nonsense')).status).toBe(401)
})
