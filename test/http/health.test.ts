import { afterAll, beforeAll, expect, test } from 'bun:test'
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

test('a server is not ready after a newer Tally has upgraded its database', async () => {
  await rowsAt(app.location, "INSERT INTO migrations VALUES (9999, 'from the future', 0)")
  try {
    const { status, json, headers } = await app.call('GET /ready')
    expect(status).toBe(503)
    expect(json.code).toBe('database_upgraded')
    expect(json.detail).toContain('9999')
    expect(headers.get('retry-after')).toBe('60')
    expect((await app.call('GET /health')).status).toBe(200)
  } finally {
    await rowsAt(app.location, 'DELETE FROM migrations WHERE version = 9999')
  }
})
