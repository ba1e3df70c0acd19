import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hasTag } from '../../src/http/entity-tags.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

test.each([
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ['*', true],
  ['W/"b"', false],
  ['a', false],
  ['', false],
])('If-None-Match: %s', (header, matches) => {
  expect(hasTag(new Request('http://tally/', { headers: { 'if-none-match': header } }), 'W/"a"')).toBe(matches)
})

const LIST = 'GET /api/v1/projects'

test('an unchanged list is a 304 without a body, and a changed one is not', async () => {
  const session = await app.session('admin')
  const first = await app.call(LIST, { session })
  expect(first.headers.get('cache-control')).toBe('private, no-cache')
  const headers = { 'if-none-match': first.headers.get('etag')! }
  const unchanged = await app.call(LIST, { session, headers })
  expect([unchanged.status, unchanged.text]).toEqual([304, ''])
  expect(unchanged.headers.get('etag')).toBe(first.headers.get('etag')!)
  expect(unchanged.headers.get('cache-control')).toBe('private, no-cache')
  expect((await app.call(LIST.replace('GET', 'HEAD'), { session, headers })).status).toBe(304)
  await app.call('POST /api/v1/projects', { session, json: { key: 'NEW', name: 'New' } })
  expect((await app.call(LIST, { session, headers })).status).toBe(200)
})

test('people do not share tags, and only an authorized caller is answered with 304', async () => {
  const [one, other] = [await app.session('admin'), await app.session('admin')]
  const headers = { 'if-none-match': (await app.call(LIST, { session: one })).headers.get('etag')! }
  expect((await app.call(LIST, { session: other, headers })).status).toBe(200)
  for (const each of [headers, { 'if-none-match': '*' }]) {
    expect((await app.call(LIST, { headers: each })).status).toBe(401)
    const member = await app.session('member')
    expect((await app.call('GET /api/v1/users', { session: member, headers: each })).status).toBe(403)
    expect((await app.call('GET /api/v1/projects/none', { session: one, headers: each })).status).toBe(404)
  }
})

test('signing out removes what the browser keeps', async () => {
  const session = await app.session('member')
  const { headers } = await app.call('DELETE /api/v1/session', { session })
  expect(headers.get('clear-site-data')).toBe('"cache"')
})
