import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../src/access/actor.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { rowsAt } from '../support/databases.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

test('health answers its version without credentials', async () => {
  const { status, json, headers } = await app.call('GET /health')
  expect(status).toBe(200)
  expect(json).toEqual({ status: 'ok', version: expect.any(String) })
  expect(headers.get('cache-control')).toBe('no-store')
})

test('a server with a writable database is ready', async () => {
  const { status, json } = await app.call('GET /ready')
  expect(status).toBe(200)
  expect(json.status).toBe('ready')
})

describe('after a newer Tally has upgraded the database', () => {
  const entries = async () => app.call('GET /api/v1/token-entries', { token: await read })
  let read: Promise<string>
  beforeAll(async () => {
    read = app.token('read')
    await read
    await rowsAt(app.location, "INSERT INTO migrations VALUES (9999, 'from the future', 0)")
  })
  afterAll(() => rowsAt(app.location, 'DELETE FROM migrations WHERE version = 9999'))

  test('and only added to it, a server is ready and goes on', async () => {
    expect((await app.call('GET /ready')).status).toBe(200)
    expect((await entries()).status).toBe(200)
  })

  test('and changed what a server uses, it is not ready and refuses every request', async () => {
    await rowsAt(app.location, 'UPDATE revision SET oldest_schema = 9999')
    try {
      const { people } = app.services
      const change = people.addUser({ email: 'late@example.com', name: 'Late', role: 'member' }, TALLY)
      expect(await change.catch(({ code }) => code)).toBe('database_upgraded')
      for (const { status, json, headers } of [await app.call('GET /ready'), await entries()]) {
        expect(status).toBe(503)
        expect(json.code).toBe('database_upgraded')
        expect(json.detail).toContain('9999')
        expect(headers.get('retry-after')).toBe('60')
      }
      expect((await app.call('GET /health')).status).toBe(200)
    } finally {
      await rowsAt(app.location, 'UPDATE revision SET oldest_schema = 1')
    }
    expect((await entries()).status).toBe(200)
  })
})
