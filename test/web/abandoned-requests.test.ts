/** Requests whose answers nobody waits for anymore are aborted, so that the server can stop working on them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Request } from 'playwright-core'
import { Installation, type Server } from '../support/binary.ts'
import { CHROMIUM, launchBrowser, visit } from '../support/browser.ts'
import { PAGES } from '../support/pages.ts'

const ADA = { email: 'ada@example.com', password: 'correct horse battery' }

/** What every page needs, and what it needs before it knows the person. */
const OF_EVERY_PAGE = /\/api\/v1\/(?:me|settings|session|reports\/sums|projects\?lead=.*)$/

/** Some twenty pages, each of which is waited for. */
const ALL_PAGES_MS = 120_000

describe.skipIf(!CHROMIUM)('abandoned requests', () => {
  let installation: Installation
  let server: Server
  let browser: Browser

  beforeAll(async () => {
    installation = await Installation.make()
    const add = ['users', 'add', '--email', ADA.email, '--name', 'Ada', '--role', 'admin', '--password-stdin']
    const { code, stderr } = await installation.run(add, ADA.password)
    if (code !== 0) throw new Error(stderr)
    server = await installation.serve(['--log-level', 'warn'])
    browser = await launchBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await installation?.remove()
  })

  /** A page whose questions are never answered, and the ones that it still waits for. */
  async function unanswered() {
    const visitor = await visit(browser, { url: server.url, as: ADA })
    const waiting = new Set<Request>()
    let asked = 0
    await visitor.context.route(
      (url) => url.pathname.startsWith('/api/') && !OF_EVERY_PAGE.test(`${url.pathname}${url.search}`),
      (route) => {
        asked += 1
        waiting.add(route.request())
      },
    )
    visitor.context.on('requestfailed', (request) => waiting.delete(request))
    const until = async (condition: () => boolean) => {
      for (let turn = 0; turn < 100 && !condition(); turn++) await Bun.sleep(50)
    }
    return { ...visitor, waiting, until, asked: () => asked }
  }

  test(
    'are aborted when the page is left, on every page',
    async () => {
      const { page, waiting, until, asked, close } = await unanswered()
      const silent: string[] = []
      const kept: string[] = []
      for (const { name, path, isOutside } of PAGES) {
        if (isOutside || typeof path !== 'string' || name === 'settings') continue
        const before = asked()
        await page.goto(path)
        await page.locator('h1').first().waitFor()
        await until(() => asked() > before)
        // What the page asks for together.
        await Bun.sleep(100)
        if (asked() === before) silent.push(name)
        await page.getByRole('link', { name: 'Settings' }).click()
        await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
        await until(() => waiting.size === 0)
        kept.push(...[...waiting].map((request) => `${name}: ${request.url()}`))
        waiting.clear()
      }
      expect(kept).toEqual([])
      // The form of a new bill asks for nothing until it is filled in.
      expect(silent).toEqual(['bill-new'])
      await close()
    },
    ALL_PAGES_MS,
  )

  test('are aborted when filters change while a list loads', async () => {
    const { page, waiting, until, close } = await unanswered()
    await page.goto('/entries')
    await until(() => waiting.size === 2)
    const first = [...waiting]
    const search = page.getByLabel('Search summaries')
    await search.fill('some')
    await until(() => !first.some((request) => waiting.has(request)))
    expect(first.filter((request) => waiting.has(request)).map((request) => request.url())).toEqual([])
    await until(() => waiting.size > 0)
    await search.fill('something')
    const searches = () => new Set([...waiting].map((request) => new URL(request.url()).searchParams.get('q')))
    await until(() => searches().size === 1 && searches().has('something'))
    expect([...searches()]).toEqual(['something'])
    await close()
  })
})
