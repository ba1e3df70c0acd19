/** Requests whose answers nobody waits for anymore are aborted, so that the server can stop working on them. */
import { describe, expect, test } from 'bun:test'
import type { Request } from 'playwright-core'
import { CHROMIUM } from '../../support/browser.ts'
import { PAGES } from '../../support/pages.ts'
import { until } from '../../support/processes.ts'
import { webStage } from '../../support/web-stage.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const

/** What every page needs, and what it needs before it knows the person. */
const OF_EVERY_PAGE = /\/api\/v1\/(?:me|settings|session|inbox|changes.*|reports\/sums|projects\?lead=.*)$/

/**
 * Pages that ask for nothing more: the inbox asks for what the menu of every page asks for, the form of a new bill for
 * nothing until it is filled in, and there are no links while they are turned off.
 */
const SILENT = ['inbox', 'bill-new', 'share-links']

/** Two busy cores ask and abort within it. */
const PATIENCE_MS = 45_000

/** Some thirty pages, each of which is waited for. */
const ALL_PAGES_MS = 240_000

describe.skipIf(!CHROMIUM)('abandoned requests', () => {
  const web = webStage({ people: [ADA] })

  /** A page whose questions are never answered, and the ones that it still waits for. */
  async function unanswered() {
    const visitor = await web.visit({ as: ADA })
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
    return { ...visitor, waiting, until: (isSo: () => boolean) => until(isSo, PATIENCE_MS), asked: () => asked }
  }

  test(
    'are aborted when the page is left, on every page',
    async () => {
      const { page, rendered, waiting, until, asked, close } = await unanswered()
      // As links do; nothing that is asked for becomes quiet, which `go` waits for.
      const goTo = (path: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
      await page.goto('/account')
      const silent: string[] = []
      const kept: string[] = []
      for (const { name, path, isOutside } of PAGES) {
        if (isOutside || typeof path !== 'string' || name === 'settings') continue
        const before = asked()
        await goTo(path)
        if (!SILENT.includes(name)) await until(() => asked() > before)
        // What the page asks for together.
        await rendered()
        if (asked() === before) silent.push(name)
        await goTo('/settings')
        await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
        await until(() => waiting.size === 0)
        kept.push(...[...waiting].map((request) => `${name}: ${request.url()}`))
        waiting.clear()
      }
      expect(kept).toEqual([])
      expect(silent).toEqual(SILENT)
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
