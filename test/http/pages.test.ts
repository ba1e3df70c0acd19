import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PROBLEMS } from '../../src/errors.ts'
import { PASSWORD_MIN } from '../../src/features/people/rules.ts'
import { html, page } from '../../src/http/pages/html.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

const PAGES = [
  '/',
  '/docs',
  '/setup',
  '/password',
  '/problems/',
  ...Object.keys(PROBLEMS).map((code) => `/problems/${code}`),
]
const FILES: Record<string, string> = {
  '/assets/pages.css': 'text/css',
  '/assets/form.js': 'text/javascript',
  '/assets/password.js': 'text/javascript',
  '/assets/set-up.js': 'text/javascript',
  '/assets/docs.js': 'text/javascript',
  '/assets/scalar.js': 'text/javascript',
  '/assets/icon.svg': 'image/svg+xml',
}

/** What a reader sees: without tags, entities resolved. */
function textOf(page: string): string {
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
  return page.replace(/<[^>]+>/g, '').replace(/&(lt|gt|quot|#39|amp);/g, (entity) => entities[entity]!)
}

describe('every page', () => {
  test('is HTML that no other site may frame, with a policy that allows no inline script and no other host', async () => {
    for (const path of PAGES) {
      const { status, headers } = await app.call(`GET ${path}`)
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      const policy = headers.get('content-security-policy')!
      expect(policy).toContain("default-src 'none'; script-src 'self'; ")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
      // Scalar writes its styles into the page.
      expect([path, policy.includes('unsafe-inline')]).toEqual([path, path === '/docs'])
    }
  })

  test('has a language, a title and no script, style or handler of its own', async () => {
    for (const path of PAGES) {
      const { text } = await app.call(`GET ${path}`)
      expect(text).toStartWith('<!doctype html>\n<html lang="en">')
      expect(text).toMatch(/<title>[^<]+<\/title>/)
      expect([path, text.match(/<style|style=|\son\w+=|<script(?! src="\/assets\/)|javascript:/g)]).toEqual([
        path,
        null,
      ])
    }
  })

  test('links only to what is there', async () => {
    for (const path of PAGES) {
      const { text } = await app.call(`GET ${path}`)
      for (const [, target] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const answer = await app.call(`GET ${target}`)
        expect([path, target, answer.status]).toEqual([path, target, 200])
      }
    }
  })

  test('and every file is kept by browsers, and asked for again without being sent again', async () => {
    for (const path of [...PAGES, ...Object.keys(FILES)]) {
      const first = await app.call(`GET ${path}`)
      const etag = first.headers.get('etag')!
      expect(first.headers.get('cache-control')).toMatch(/no-cache|max-age=/)
      const again = await app.call(`GET ${path}`, { headers: { 'if-none-match': `"other", ${etag}` } })
      expect([path, again.status, again.text, again.headers.get('etag')]).toEqual([path, 304, '', etag])
      expect((await app.call(`GET ${path}`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    }
  })
})

test('files have the type that they are, and go compressed to who takes that', async () => {
  for (const [path, type] of Object.entries(FILES)) {
    const { headers } = await app.call(`GET ${path}`)
    expect([path, headers.get('content-type')!.split(';')[0]]).toEqual([path, type])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  const scalar = (encoding: string) =>
    fetch(`${app.url}/assets/scalar.js`, { decompress: false, headers: { 'accept-encoding': encoding } })
  expect((await (await scalar('br, gzip;q=0.8')).bytes()).byteLength).toBeLessThan(1_500_000)
  expect((await scalar('identity')).headers.get('content-encoding')).toBeNull()
  expect((await scalar('gzip;q=0, br')).headers.get('content-encoding')).toBeNull()
})

test('a page or file that does not exist is a problem, whatever its name', async () => {
  for (const path of [
    '/problems/nope',
    '/problems/__proto__',
    '/assets/nope.css',
    '/assets/__proto__',
    '/assets/..%2f..%2fpackage.json',
    '/favicon.ico',
  ]) {
    const { status, json } = await app.call(`GET ${path}`)
    expect([path, status, json.code]).toEqual([path, 404, 'not_found'])
  }
})

test('whatever is put into a page is text, never markup', () => {
  const hostile = `<script>alert(1)</script> & "quoted" 'too'`
  const written = page({
    title: hostile,
    content: html`<p title="${hostile}">${hostile} ${[html`<b>${hostile}</b>`]}</p>`,
  })
  expect(written).not.toContain('<script>')
  expect(
    written.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt; &amp; &quot;quoted&quot; &#39;too&#39;/g),
  ).toHaveLength(4)
})

describe('where one lands', () => {
  test('a line is ready to paste, and reports an entry', async () => {
    const text = textOf((await app.call('GET /')).text)
    expect(text).toContain(`curl ${app.url}/api/v1/token-entries`)
    const body = text.match(/-d '(\{.*?\n\s*\})'/s)![1]!
    const answer = await app.call('POST /api/v1/token-entries', {
      token: await app.token('svc'),
      json: JSON.parse(body),
    })
    expect(answer.status).toBe(201)
  })

  test('a Host that is no name cannot write into the page', async () => {
    const answer = await fetch(`${app.url}/`, { headers: { host: 'a"b<i>c' } })
    expect(await answer.text()).not.toContain('<i>')
  })
})

test('each problem has a page with its title, status and help, and one page lists them all', async () => {
  const list = textOf((await app.call('GET /problems/')).text)
  for (const [code, { title, status, help }] of Object.entries(PROBLEMS)) {
    expect(list).toContain(code)
    const text = textOf((await app.call(`GET /problems/${code}`)).text)
    for (const part of [title, String(status), code, help.replaceAll('`', '')]) expect(text).toContain(part)
  }
})

test('the page for choosing a password asks for what the call takes', async () => {
  const { text } = await app.call('GET /password')
  const { properties } = app.document.components.schemas!.PasswordChoice as { properties: object }
  expect([...text.matchAll(/<input [^>]*name="\/([^"]+)"/g)].map(([, name]) => name!)).toEqual(
    Object.keys(properties).filter((name) => name !== 'link_token'),
  )
  expect(text).toContain(`At least ${PASSWORD_MIN} characters`)
  expect(text).toContain('<label for="password">')
})

describe('the set-up page', () => {
  test('asks for what the call takes, each field named by where it stands in the body', async () => {
    const { text } = await app.call('GET /setup')
    const { organization, admin } = (
      app.document.components.schemas!.SetUpRequest as {
        properties: Record<string, { properties: object }>
      }
    ).properties
    const pointers = [
      ...Object.keys(organization!.properties).map((name) => `/organization/${name}`),
      ...Object.keys(admin!.properties).map((name) => `/admin/${name}`),
    ]
    const names = [...text.matchAll(/<input [^>]*name="([^"]+)"/g)].map(([, name]) => name!)
    expect(names.sort()).toEqual(pointers.sort())
    expect(text).toContain(`At least ${PASSWORD_MIN} characters`)
  })

  test('gives every field a label and a place for its fault, which it names', async () => {
    const { text } = await app.call('GET /setup')
    for (const [, id, described] of text.matchAll(/<input id="([^"]+)"[^>]*aria-describedby="([^"]+)"/g)) {
      expect(text).toContain(`<label for="${id}">`)
      for (const part of described!.split(' ')) expect(text).toContain(`id="${part}"`)
    }
  })

  test('hears of every fault at once', async () => {
    // The other one has people already, where tokens were made.
    const empty = await startApp()
    try {
      const linkToken = (await empty.services.people.createSetUpLink('')).split('#')[1]!
      const { status, json } = await empty.call('POST /api/v1/setup', {
        json: {
          link_token: linkToken,
          organization: { name: ' ', time_zone: 'Mars/Olympus', currency: 'xyz' },
          admin: { name: '', email: 'ada', password: 'short' },
        },
      })
      expect(status).toBe(422)
      expect(json.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
        '/admin/email',
        '/admin/name',
        '/admin/password',
        '/organization/currency',
        '/organization/name',
        '/organization/time_zone',
      ])
    } finally {
      await empty.close()
    }
  })
})

test('what the landing page says to paste leaves the token where its report looks for it', async () => {
  const text = textOf((await app.call('GET /')).text)
  expect(text).toMatch(/^TALLY_TOKEN=\$\(tally tokens create .*\)$/m)
  expect(text).toContain('Bearer $TALLY_TOKEN')
})
