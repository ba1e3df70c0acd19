/**
 * Debian's Chromium with a running Tally. A visit records everything that pages must not do: report an error, call
 * another host, or repeat a request.
 */
import AxeBuilder from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import type { Credentials } from './session.ts'

/** If there is no such program, tests of pages are skipped. */
export const CHROMIUM = Bun.which('chromium') ?? undefined

/** It runs as root in a container, on a machine without a network. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Two cores that build and test at the same time are slow; a hanging page still fails before the test does. */
const PATIENCE_MS = 15_000

/** After this time without a request, a page is complete. Playwright's own check takes half a second for each page. */
const QUIET_MS = 150

/** The first start reads 300 MB from a disk that may be slow. */
const LAUNCH_TIMEOUT_MS = 90_000

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM!, args: FLAGS, timeout: LAUNCH_TIMEOUT_MS })

export const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const

export interface VisitOptions {
  url: string
  as?: Credentials | undefined
  size?: keyof typeof SIZES
  scheme?: 'light' | 'dark'
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** Goes to a path and waits until no request is pending. */
  open(path: string): Promise<void>
  /** Goes to another page of the application as its links do, without loading the application again. */
  go(path: string): Promise<void>
  /** Waits until no request is pending. */
  settled(): Promise<void>
  /** Errors since the last call. */
  issues(): string[]
  /** Every API request since the last call, such as `GET /api/v1/me`. */
  requests(): string[]
  /** Serious and critical findings of axe on the current page, for these rules or all. */
  barriers(rules?: readonly string[]): Promise<string[]>
  close(): Promise<void>
}

/** A separate browser window that shares nothing with others. */
export async function visit(
  browser: Browser,
  { url, as, size = 'desk', scheme = 'light' }: VisitOptions,
): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: SIZES[size],
    colorScheme: scheme,
    locale: 'en-GB',
    timezoneId: 'UTC',
    // Animations end at once, so that a screenshot shows the final state.
    reducedMotion: 'reduce',
    acceptDownloads: true,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const issues: string[] = []
  const requests: string[] = []
  await context.route(
    (address) => address.origin !== url && address.protocol !== 'data:' && address.protocol !== 'blob:',
    (route) => {
      issues.push(`asks another host: ${route.request().url()}`)
      return route.abort()
    },
  )
  context.on('weberror', (error) => void issues.push(`throws: ${error.error().stack}`))
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) issues.push(`says in the console: ${message.text()}`)
  })
  context.on('response', (response) => {
    if (response.status() >= 500) issues.push(`${nameOf(response.request())} answers ${response.status()}`)
  })
  context.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api/') && request.resourceType() !== 'eventsource')
      requests.push(nameOf(request))
  })
  // The stream of changes stays open as long as the page.
  const isStream = (request: Request) => request.resourceType() === 'eventsource'
  const running = new Set<Request>()
  let changedAt = 0
  const note = (change: (request: Request) => unknown) => (request: Request) => {
    if (isStream(request)) return
    change(request)
    changedAt = performance.now()
  }
  context.on(
    'request',
    note((request) => running.add(request)),
  )
  context.on(
    'requestfinished',
    note((request) => running.delete(request)),
  )
  context.on(
    'requestfailed',
    note((request) => running.delete(request)),
  )
  if (as) await signIn(context, url, as)
  const page = await context.newPage()
  /** Pages send the next request as soon as they have rendered the last response; debounced input takes longer. */
  async function loaded(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (running.size > 0 || performance.now() - changedAt < QUIET_MS) {
      if (performance.now() > deadline) throw new Error(`Still asking for ${[...running].map(nameOf).join(', ')}`)
      await Bun.sleep(QUIET_MS / 4)
    }
  }
  return {
    page,
    context,
    settled: loaded,
    async open(path) {
      const answer = await page.goto(path)
      // Its script may still be read when nothing is asked for yet. What is no page of the application has none; to stay on a
      // page and change what follows its # has no answer.
      if (answer?.ok() ?? true) await page.locator('h1').first().waitFor()
      await loaded()
    },
    async go(path) {
      changedAt = performance.now()
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
      await loaded()
    },
    issues: () => issues.splice(0),
    requests: () => requests.splice(0),
    async barriers(rules) {
      // In legacy mode it opens no window of its own for each page; there are no frames of others to look into.
      const builder = new AxeBuilder({ page }).setLegacyMode(true)
      const { violations } = await (rules ? builder.withRules([...rules]) : builder).analyze()
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(
          ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html }) => `    ${html.slice(0, 300)}`).join('\n')}`,
        )
    },
    close: () => context.close(),
  }
}

function nameOf(request: Request): string {
  const { pathname, search } = new URL(request.url())
  return `${request.method()} ${pathname}${search}`
}

/** Signs in with the API, like the sign-in page; the cookie stays in the window. */
async function signIn(context: BrowserContext, url: string, { email, password }: Credentials): Promise<void> {
  const data = { email, password }
  const answer = await context.request.post(`${url}/api/v1/session`, { data, headers: { origin: url } })
  if (!answer.ok()) throw new Error(`${email} could not sign in: ${await answer.text()}`)
}
