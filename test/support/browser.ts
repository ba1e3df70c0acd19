/**
 * Debian's Chromium with a running Tally. A visit records everything that pages must not do: report an error, call
 * another host, or repeat a request.
 */
import AxeBuilder from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import type { Credentials } from './session.ts'

/** Chromium without windows and extensions takes a third less processor time. If there is neither, tests of pages are skipped. */
export const CHROMIUM = Bun.which('chromium-headless-shell') ?? Bun.which('chromium') ?? undefined

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
const PATIENCE_MS = 45_000

/** After this time without a request, a page has reacted to what was done. Playwright's own check takes half a second. */
const QUIET_MS = 150

/** After this time, a page that has nothing else to do either is complete. */
const IDLE_QUIET_MS = 40

/** Nothing is left to render, twice in a row: what is rendered may ask for more. Idle callbacks come a second late. */
const IDLE = `scheduler
  .postTask(() => scheduler.postTask(() => {}, { priority: 'background' }), { priority: 'background' })`

/** Instead of axe's own, where that has run already. */
const NO_SCRIPT = ';'

/** The first start reads 300 MB from a disk that may be slow. */
const LAUNCH_TIMEOUT_MS = 90_000

/**
 * Reaches no other host than this one, which may have other names. To intercept requests would turn off the browser's
 * cache.
 */
export const launchBrowser = (host = '127.0.0.1', names: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM!,
    args: [
      ...FLAGS,
      `--host-resolver-rules=${names.map((name) => `MAP ${name} ${host}, `).join('')}MAP * ~NOTFOUND, EXCLUDE ${host}`,
    ],
    timeout: LAUNCH_TIMEOUT_MS,
  })

/** Addresses that contain what they name. */
const INLINE = ['data:', 'blob:']

export const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const

export interface VisitOptions {
  url: string
  as?: Credentials | undefined
  size?: keyof typeof SIZES
  scheme?: 'light' | 'dark'
  /** By e-mail address, of those who have signed in; the others sign in and are added. */
  sessions?: Map<string, Cookies>
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

export interface Visit {
  page: Page
  context: BrowserContext
  /** Goes to a path and waits until no request is pending. */
  open(path: string): Promise<void>
  /** Goes to another page of the application as its links do, without loading the application again. */
  go(path: string): Promise<void>
  /** Waits until no request is pending, nor has been for a moment. */
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
  { url, as, size = 'desk', scheme = 'light', sessions }: VisitOptions,
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
  context.on('weberror', (error) => void issues.push(`throws: ${error.error().stack}`))
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      issues.push(`says in the console: ${message.text()} (${message.location().url})`)
  })
  context.on('response', (response) => {
    if (response.status() >= 500) issues.push(`${nameOf(response.request())} answers ${response.status()}`)
  })
  context.on('request', (request) => {
    const { origin, protocol, pathname } = new URL(request.url())
    if (origin !== url && !INLINE.includes(protocol)) issues.push(`asks another host: ${request.url()}`)
    else if (pathname.startsWith('/api/') && request.resourceType() !== 'eventsource') requests.push(nameOf(request))
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
  const session = as && sessions?.get(as.email)
  if (session) await context.addCookies(session)
  else if (as) {
    await signIn(context, url, as)
    sessions?.set(as.email, await context.cookies())
  }
  const page = await context.newPage()
  async function quietFor(quietMs: number): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (running.size > 0 || performance.now() - changedAt < quietMs) {
      if (performance.now() > deadline) throw new Error(`Still asking for ${[...running].map(nameOf).join(', ')}`)
      await Bun.sleep(quietMs / 4)
    }
  }
  /** Pages send the next request as soon as they have rendered the last response. */
  async function shown(): Promise<void> {
    let before: number
    do {
      await quietFor(IDLE_QUIET_MS)
      before = changedAt
      await page.evaluate(IDLE)
    } while (running.size > 0 || changedAt !== before)
  }
  return {
    page,
    context,
    settled: () => quietFor(QUIET_MS),
    async open(path) {
      const answer = await page.goto(path)
      // Its script may still be read when nothing is asked for yet. What is no page of the application has none; to stay on a
      // page and change what follows its # has no answer.
      if (answer?.ok() ?? true) await page.locator('h1').first().waitFor()
      await shown()
    },
    async go(path) {
      changedAt = performance.now()
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
      await shown()
    },
    issues: () => issues.splice(0),
    requests: () => requests.splice(0),
    async barriers(rules) {
      // The script stays in the document: it takes as long to read as a page takes to examine.
      const isThere = await page.evaluate<boolean>('window.axe !== undefined')
      const builder = new AxeBuilder({ page, ...(isThere && { axeSource: NO_SCRIPT }) })
      const { violations } = await builder
        // In legacy mode it opens no window of its own for each page; there are no frames of others to look into.
        .setLegacyMode(true)
        // What passes is not described: that would be most of the page.
        .options({ resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: [...rules] } }) })
        .analyze()
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
