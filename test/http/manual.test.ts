import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CHAPTERS } from '../../docs/.vitepress/chapters.ts'
import { manual } from '../../src/http/manual.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

const PAGES = CHAPTERS.flatMap(({ pages }) => pages).map((page) => `/docs/${page}`)

/** Where the links of a page lead, apart from those in its examples, without the section. */
function linksIn(markdown: string): string[] {
  const text = markdown.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!.replace(/(?<=.)#.*/, ''))
}

describe('the manual', () => {
  test('begins at /docs/', async () => {
    const { status, headers } = await fetch(`${app.url}/docs`, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([308, '/docs/'])
    expect((await app.call('GET /docs/')).text).toContain('<title>Tally')
  })

  test('has every page of the table of contents, with what a browser may do there', async () => {
    for (const path of PAGES) {
      const { status, headers, text } = await app.call(`GET ${path}`)
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      const policy = headers.get('content-security-policy')!
      expect(policy).toContain("default-src 'none'; script-src 'self'; ")
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
      expect([path, text.match(/<script(?![^>]* src="\/docs\/)|\son\w+="|javascript:/g)]).toEqual([path, null])
    }
  })

  test('has every page as Markdown as well, whose links lead to others, and which llms.txt lists', async () => {
    const list = await app.call('GET /llms.txt')
    expect([list.status, list.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const listed = linksIn(list.text)
    expect(listed).toEqual(['/api/v1/openapi.json', ...PAGES.map((path) => `${path}.md`)])
    for (const path of ['/docs/index', ...PAGES]) {
      const alternate = (await app.call(`GET ${path}`)).headers.get('link')
      expect([path, alternate]).toEqual([path, `<${path}.md>; rel="alternate"; type="text/markdown"`])
      const { status, headers, text } = await app.call(`GET ${path}.md`)
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8'])
      expect([path, text.slice(0, 2)]).toEqual([path, '# '])
      expect([path, text.match(/^:::|<!--|^```\w+ .*$/gm)]).toEqual([path, null])
      const links = linksIn(text).filter((link) => !/^(https?:|#)/.test(link))
      expect([path, links.filter((link) => !listed.includes(link) && link !== '/docs/index.md')]).toEqual([path, []])
    }
  })

  test('loads nothing but its own files, which are kept by browsers', async () => {
    const { text } = await app.call('GET /docs/')
    const files = new Set([...text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, path]) => path!))
    expect(files.size).toBeGreaterThan(3)
    for (const path of files) {
      const { status, headers } = await app.call(`GET ${path}`)
      expect([path, status]).toEqual([path, 200])
      if (path.startsWith('/docs/assets/')) expect(headers.get('cache-control')).toContain('immutable')
      const etag = headers.get('etag')!
      expect((await app.call(`GET ${path}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
    }
  })

  test('answers an unknown page with a page that leads back, and an unknown file with a problem', async () => {
    // Not an operation of the API, whose answers `app.call` checks.
    const page = await fetch(`${app.url}/docs/nope`)
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect((await fetch(`${app.url}/docs/..%2f..%2fpackage.json`)).status).toBe(404)
    for (const path of ['/docs/assets/nope.js', '/docs/assets/__proto__']) {
      expect([path, (await app.call(`GET ${path}`)).status]).toEqual([path, 404])
    }
  })

  test('answers with a page that reloads while it is being built', async () => {
    const unbuilt = manual({ files: { pack: async () => undefined, respond: async () => undefined } })
    for (const path of ['/docs/', '/docs/billing']) {
      const { status, headers } = await unbuilt.handle(new Request(`http://127.0.0.1${path}`))
      expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
      expect([headers.get('refresh'), headers.get('retry-after')]).toEqual(['2', '2'])
    }
  })
})
