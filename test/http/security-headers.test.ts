import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../src/access/actor.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let overTls: TestApp
beforeAll(async () => {
  app = await startApp()
  overTls = await startApp({ publicUrl: 'https://tally.example.com' })
})
afterAll(async () => {
  await app.close()
  await overTls.close()
})

const everyGet = () => Object.keys(app.document.paths).map((path) => path.replaceAll(/\{\w+\}/g, 'none'))

test('every answer of the API, refusals among them, may be neither run, framed nor guessed at, and is kept by its reader only', async () => {
  const session = await app.session('admin')
  const paths = [...everyGet(), '/api/v1/nothing', '/nothing']
  for (const path of paths) {
    for (const call of [{}, { session }]) {
      const { headers, status, json } = await app.call(`GET ${path}`, call)
      const fixed = path.endsWith('openapi.json') || path.endsWith('token-entry-schema')
      const isRead = 'session' in call && status === 200 && json !== undefined && headers.has('etag')
      expect([path, headers.get('content-security-policy')]).toEqual([
        path,
        "default-src 'none'; frame-ancestors 'none'",
      ])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect([path, headers.get('cache-control')]).toEqual([
        path,
        fixed ? 'no-cache' : isRead ? 'private, no-cache' : 'no-store',
      ])
    }
  }
})

test('so are an exported list and created objects', async () => {
  const session = await app.session('admin')
  const exported = await app.call('GET /api/v1/token-entries?format=csv', { session })
  expect(exported.headers.get('x-content-type-options')).toBe('nosniff')
  expect(exported.headers.get('cache-control')).toBe('no-store')
  const refused = await app.call('POST /api/v1/session', { json: { email: 'nobody@example.com', password: 'x' } })
  expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('pages run only their own scripts, and cannot be framed', async () => {
  for (const path of ['/', '/setup', '/password', '/problems', '/problems/not_found', '/docs/', '/docs/api']) {
    const { headers } = await app.call(`GET ${path}`)
    const policy = headers.get('content-security-policy')!
    expect([path, policy]).toEqual([path, expect.stringContaining("script-src 'self'")])
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("default-src 'none'")
    expect(policy.match(/default-src/g)).toHaveLength(1)
  }
})

test('browsers are told to stay with TLS only if people use Tally over TLS', async () => {
  const header = async (of: TestApp) => (await of.call('GET /health')).headers.get('strict-transport-security')
  expect(await header(overTls)).toBe('max-age=31536000')
  expect(await header(app)).toBeNull()
})

test('the public URL that is set is made the only way over TLS by pages that are opened there, and by no others', async () => {
  const { host } = new URL(app.url)
  const told = async (host: string) =>
    (await app.call('GET /', { headers: { host } })).headers.get('strict-transport-security')
  expect(await told(host)).toBeNull()
  for (const publicUrl of [`https://${host}`, 'https://wrong.example', `http://${host}`, null]) {
    await app.services.organization.changeSettings({ publicUrl }, TALLY)
    expect([publicUrl, await told(host)]).toEqual([
      publicUrl,
      publicUrl === `https://${host}` ? 'max-age=31536000' : null,
    ])
    expect(await told('other.example')).toBeNull()
  }
})
