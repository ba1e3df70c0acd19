import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { PROBLEMS } from '../../src/errors.ts'
import { html, page } from '../../src/http/pages/html.ts'
import { SECTIONS } from '../../src/http/web.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

const PAGES = ['/docs/api', '/problems/', ...Object.keys(PROBLEMS).map((code) => `/problems/${code}`)]
const FILES: Record<string, string> = {
  '/assets/pages.css': 'text/css',
  '/assets/docs.js': 'text/javascript',
  '/assets/scalar.js': 'text/javascript',
  '/assets/icon.svg': 'image/svg+xml',
  '/favicon.ico': 'image/svg+xml',
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
      expect([path, policy.includes('unsafe-inline')]).toEqual([path, path === '/docs/api'])
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

  test('has no broken links', async () => {
    for (const path of PAGES) {
      const { text } = await app.call(`GET ${path}`)
      for (const [, target] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const answer = await app.call(`GET ${target}`)
        expect([path, target, answer.status]).toEqual([path, target, 200])
      }
    }
  })

  test('and every file is cached by browsers, and revalidated without being sent again', async () => {
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

test('files have their type, and are compressed for clients that accept it', async () => {
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

test('each problem has a page with its title, status and help, and one page lists them all', async () => {
  const list = textOf((await app.call('GET /problems/')).text)
  for (const [code, { title, status, help }] of Object.entries(PROBLEMS)) {
    expect(list).toContain(code)
    const text = textOf((await app.call(`GET /problems/${code}`)).text)
    for (const part of [title, String(status), code, help.replaceAll('`', '')]) expect(text).toContain(part)
  }
})

test('the set-up hears of every issue at once', async () => {
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

describe('an address where nothing exists', () => {
  const visit = (path: string, method = 'GET') =>
    fetch(app.url + path, { method, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })

  test('is a page with the way back for a browser, and a problem for a program', async () => {
    for (const path of ['/nowhere', '/nowhere/at/all', '/problems/nothing']) {
      const response = await visit(path)
      const { status, headers } = response
      const text = await response.text()
      expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8'])
      expect(text).toContain('<h1>Page not found</h1>')
      expect(text).toContain('href="/"')
      expect(headers.get('content-security-policy')).toStartWith("default-src 'none'")
      expect((await app.call(`GET ${path}`)).json).toMatchObject({ code: 'not_found' })
    }
    for (const path of ['/api/v1/settingz', '/api/v1/openapi.jsonx', '/app/old.js', '/assets/old.css']) {
      expect((await visit(path)).headers.get('content-type')).toBe('application/problem+json')
    }
    expect((await visit('/nowhere', 'POST')).headers.get('content-type')).toBe('application/problem+json')
  })
})

test('a page says whether the server is unused until somebody can sign in', async () => {
  const empty = await startApp()
  try {
    const noted = async (headers = {}) =>
      /<meta name="session" content="(\w+)"/.exec((await empty.call('GET /', { headers })).text)![1]
    expect(await noted()).toBe('unused')
    expect(await noted({ cookie: 'tally_session=old' })).toBe('unused')
    await empty.person('admin')
    expect(await noted()).toBe('none')
    expect(await noted({ cookie: 'tally_session=old' })).toBe('sent')
  } finally {
    await empty.close()
  }
})

describe('the web application', () => {
  const ADDRESSES = ['/', ...SECTIONS.flatMap((section) => [`/${section}`, `/${section}/a/b`])]

  /** Without what is new with each answer. */
  const withoutNonce = (text: string) => text.replace(/content="[A-Za-z0-9+/=]{24}"/, '')

  const page = async () => (await app.call('GET /')).text
  const filesOf = (text: string) => [...text.matchAll(/(?:href|src)="(\/app\/[^"]+)"/g)].map(([, name]) => name!)

  test('has an address for each page of its menu', async () => {
    const menu = await Bun.file('src/web/shell/navigation.ts').text()
    const paths = [...menu.matchAll(/path: '\/([a-z-]+)'/g)].map(([, path]) => path!)
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter((path) => path !== 'docs' && !SECTIONS.includes(path))).toEqual([])
  })

  test('is the same page at each of its addresses, and is not cached by browsers', async () => {
    const first = withoutNonce(await page())
    for (const address of ADDRESSES) {
      const { status, headers, text } = await app.call(`GET ${address}`)
      expect([address, status, headers.get('content-type')]).toEqual([address, 200, 'text/html; charset=utf-8'])
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(withoutNonce(text)).toBe(first)
    }
  })

  test('runs only its own files, calls no other host, and cannot be framed', async () => {
    const { headers, text } = await app.call('GET /')
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'; script-src 'self'; ")
    expect(policy).toContain("connect-src 'self'; ")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|\*|unsafe/)
    expect(
      text.match(/<style|style=|\son\w+=|<script(?! (?:type="module" )?src="\/app\/)|javascript:|https?:/g),
    ).toBeNull()
  })

  test('has a different nonce each time', async () => {
    const nonces = new Set<string>()
    for (let call = 0; call < 3; call += 1) {
      const { headers, text } = await app.call('GET /')
      const nonce = text.match(/<meta name="csp-nonce" content="([^"]+)">/)![1]!
      expect(headers.get('content-security-policy')).toContain(`style-src 'self' 'nonce-${nonce}'`)
      nonces.add(nonce)
    }
    expect(nonces.size).toBe(3)
  })

  test('contains whether a cookie was sent, and nothing about its owner', async () => {
    await app.person()
    const session = (text: string) => text.match(/<meta name="session" content="([^"]+)">/)![1]
    expect(session(await page())).toBe('none')
    const cookie = await app.session()
    const { text } = await app.call('GET /', { session: cookie })
    expect(session(text)).toBe('sent')
    expect(text).not.toContain(cookie.split('=')[1]!)
  })

  test('has files that are cached forever and use the best compression that the browser accepts', async () => {
    const files = filesOf(await page())
    expect(files.length).toBeGreaterThanOrEqual(3)
    for (const file of files) {
      const get = async (encoding: string) => {
        const answer = await fetch(`${app.url}${file}`, { decompress: false, headers: { 'accept-encoding': encoding } })
        return { answer, bytes: await answer.bytes() }
      }
      const [plain, gzip, brotli] = await Promise.all([get('identity'), get('gzip'), get('gzip, br')])
      expect(plain.answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(plain.answer.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
      expect(plain.answer.headers.get('content-encoding')).toBeNull()
      expect([gzip.answer, brotli.answer].map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', 'br'])
      expect(Buffer.compare(Bun.gunzipSync(gzip.bytes as Uint8Array<ArrayBuffer>), plain.bytes)).toBe(0)
      expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true)
    }
  })

  test('returns a problem for any other address', async () => {
    for (const path of [
      '/nope',
      '/entriesx',
      '/app/nope.js',
      '/app/__proto__',
      '/app/..%2findex.html',
      '/index.html',
    ]) {
      const { status, json } = await app.call(`GET ${path}`)
      expect([path, status, json.code]).toEqual([path, 404, 'not_found'])
    }
  })
})
