/** Pages of the web application in Chromium: the time until their content is shown. */
import type { Page, Request } from 'playwright-core'
import { CHROMIUM, launchBrowser, visit } from '../../../test/support/browser.ts'
import { printProgress } from '../clean-up.ts'
import { kilobytes, type Line, timesLine } from './results.ts'
import type { Subject } from './subject.ts'

/** The menu's pages and, since reports are a view of the overview, a year of it by its largest group. */
const PAGES = [
  { title: 'Overview', path: '/', isInMenu: true },
  { title: 'Entries', path: '/entries', isInMenu: true },
  { title: 'Reports (Overview, 12 months by person)', path: '/?period=12m&by=agent_manager', isInMenu: false },
]

const GOAL_MS = 500
const SIZE_GOAL_BYTES = 100_000

/** Each needs a window of its own, so that nothing is cached. */
const ROUNDS = 10

/** After this time without a request, the page is complete. It is not part of the result. */
const QUIET_MS = 300
const COMPLETE_LIMIT_MS = 60_000

export async function measurePages(subject: Subject, stack: AsyncDisposableStack): Promise<Line[]> {
  const figure = 'pages Overview, Entries, Reports in a browser'
  if (!CHROMIUM) return [{ figure, goal: `p95 ≤ ${GOAL_MS} ms`, measured: 'skipped: Chromium is not installed' }]
  const as = await subject.signInAs()
  const browser = await launchBrowser()
  stack.defer(() => browser.close())
  const lines: Line[] = []
  let largest = { url: '', bytes: 0 }
  for (const { title, path, isInMenu } of PAGES) {
    printProgress(`page ${title}`)
    const navigated: number[] = []
    const loaded: number[] = []
    for (let round = 0; round < Math.min(ROUNDS, subject.rounds); round++) {
      const visitor = await visit(browser, { url: subject.server.url, as })
      const traffic = new Traffic(visitor.page)
      try {
        const { page, context } = visitor
        const protocol = await context.newCDPSession(page)
        await protocol.send('Network.setCacheDisabled', { cacheDisabled: true })
        await page.goto('/account')
        await traffic.complete()
        if (isInMenu) navigated.push(await traffic.timeOf(() => page.locator(`nav a[href="${path}"]`).first().click()))
        loaded.push(await traffic.timeOf(() => page.goto(path, { waitUntil: 'commit' })))
        if (traffic.largest.bytes > largest.bytes) largest = traffic.largest
      } finally {
        await visitor.close()
      }
    }
    const sorted = (times: number[]) => (times.length > 0 ? times.sort((one, other) => one - other) : undefined)
    if (isInMenu) lines.push(timesLine(`page ${title}, by its link`, sorted(navigated), GOAL_MS))
    lines.push(timesLine(`page ${title}, loaded anew`, sorted(loaded), GOAL_MS))
  }
  await browser.close()
  const { pathname, search } = largest.url === '' ? { pathname: '', search: '' } : new URL(largest.url)
  return [
    ...lines,
    {
      figure: 'largest answer to a page, as transferred',
      goal: `≤ ${kilobytes(SIZE_GOAL_BYTES)}`,
      measured: `${kilobytes(largest.bytes)}: ${pathname}${search.slice(0, 80).replaceAll('|', '%7C')}`,
      isMet: largest.bytes <= SIZE_GOAL_BYTES,
    },
  ]
}

/** The requests of a page. */
class Traffic {
  readonly #running = new Set<Request>()
  #changedAt = 0
  largest = { url: '', bytes: 0 }

  constructor(readonly page: Page) {
    page.on('request', (request) => {
      this.#running.add(request)
      this.#changedAt = performance.now()
    })
    const end = (request: Request) => {
      this.#running.delete(request)
      this.#changedAt = performance.now()
    }
    page.on('requestfailed', end)
    page.on('requestfinished', (request) => {
      end(request)
      if (new URL(request.url()).pathname.startsWith('/api/')) void this.#weigh(request)
    })
  }

  async #weigh(request: Request): Promise<void> {
    // A page that was left has no sizes any more.
    const sizes = await request.sizes().catch(() => undefined)
    if (sizes && sizes.responseBodySize > this.largest.bytes)
      this.largest = { url: request.url(), bytes: sizes.responseBodySize }
  }

  /** Waits until no request was pending for a while, and returns when the last one ended. */
  async complete(): Promise<number> {
    const limit = performance.now() + COMPLETE_LIMIT_MS
    await this.page.locator('h1').first().waitFor()
    const shownAt = performance.now()
    while (performance.now() < limit) {
      const lastAt = Math.max(shownAt, this.#changedAt)
      if (this.#running.size === 0 && performance.now() - lastAt >= QUIET_MS) return lastAt
      await Bun.sleep(10)
    }
    return performance.now()
  }

  /** Milliseconds from an action until its content is on the screen: one frame after the last response. */
  async timeOf(navigate: () => Promise<unknown>): Promise<number> {
    const begun = performance.now()
    await navigate()
    const completeAt = await this.complete()
    return completeAt - begun
  }
}
