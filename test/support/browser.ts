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

/** Without these, screen readers show no outline of a page; axe does not call them serious. */
const OF_OUTLINE = [
  'empty-heading',
  'heading-order',
  'landmark-main-is-top-level',
  'landmark-no-duplicate-banner',
  'landmark-no-duplicate-main',
  'landmark-one-main',
  'landmark-unique',
  'page-has-heading-one',
]

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

/** Of every server; it is a few bytes and loads nothing. */
const EMPTY_PAGE = '/ready'

/** Addresses that contain what they name. */
const INLINE = ['data:', 'blob:']

export const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const

export interface VisitOptions {
  url: string
  as?: Credentials | undefined
  size?: keyof typeof SIZES
  scheme?: 'light' | 'dark'
  /** What visits share: those who have not signed in yet sign in and are added. */
  kept?: Kept
  /** Whether the window has never been used. */
  fresh?: boolean
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

/** What the visits of a server share: a password takes the server as long as a page, and so does a new window. */
export interface Kept {
  /** By e-mail address. */
  sessions: Map<string, Cookies>
  /** Windows that were closed, as if they were new, by who and how. */
  windows: Map<string, Window[]>
}

export const nothingKept = (): Kept => ({ sessions: new Map(), windows: new Map() })

/** Closes the windows that no visit has taken. */
export async function closeAll({ windows }: Kept): Promise<void> {
  for (const window of [...windows.values()].flat()) await window.context.close()
  windows.clear()
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** Goes to a path and waits until no request is pending. */
  open(path: string): Promise<void>
  /** Goes to another page of the application as its links do, without loading the application again. */
  go(path: string): Promise<void>
  /** Waits until no request is pending, nor has been for a moment, and nothing is left to render. */
  settled(): Promise<void>
  /** Waits until nothing is left to render, whatever is pending. */
  rendered(): Promise<void>
  /** Errors since the last call. */
  issues(): string[]
  /** Every API request since the last call, such as `GET /api/v1/me`. */
  requests(): string[]
  /** Serious and critical findings of axe on the current page, and those of its outline, for these rules or all. */
  barriers(rules?: readonly string[]): Promise<string[]>
  close(): Promise<void>
}

/** A window, and what its pages did since they were last asked. */
interface Window {
  context: BrowserContext
  page: Page
  issues: string[]
  requests: string[]
  /** Requests without a response so far, and when the last one began or ended. */
  running: Set<Request>
  changedAt: number
}

async function newWindow(
  browser: Browser,
  { url, size, scheme }: { url: string } & Required<Pick<VisitOptions, 'size' | 'scheme'>>,
): Promise<Window> {
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
  // On a busy machine, reports take longer than a server lets them: it answers 503 and pages ask again, which is no issue.
  const refused = new Set<string>()
  context.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type()) || refused.has(message.location().url)) return
    issues.push(`says in the console: ${message.text()} (${message.location().url})`)
  })
  context.on('response', (response) => {
    const request = response.request()
    if (response.status() === 503 && request.method() === 'GET') {
      refused.add(request.url())
      const at = requests.indexOf(nameOf(request))
      if (at >= 0) requests.splice(at, 1)
    } else if (response.status() >= 500) issues.push(`${nameOf(request)} answers ${response.status()}`)
  })
  context.on('request', (request) => {
    const { origin, protocol, pathname } = new URL(request.url())
    if (origin !== url && !INLINE.includes(protocol)) issues.push(`asks another host: ${request.url()}`)
    else if (pathname.startsWith('/api/') && request.resourceType() !== 'eventsource') requests.push(nameOf(request))
  })
  const running = new Set<Request>()
  const window = { context, page: await context.newPage(), issues, requests, running, changedAt: 0 }
  // The stream of changes stays open as long as the page.
  const isStream = (request: Request) => request.resourceType() === 'eventsource'
  const note = (change: (request: Request) => unknown) => (request: Request) => {
    if (isStream(request)) return
    change(request)
    window.changedAt = performance.now()
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
  return window
}

/** Leaves nothing of a visit in a window but the scripts that it has read. */
async function emptied(
  window: Window,
  { size, scheme }: Required<Pick<VisitOptions, 'size' | 'scheme'>>,
): Promise<Window> {
  const { context, page } = window
  for (const other of context.pages()) if (other !== page) await other.close()
  await context.unrouteAll({ behavior: 'ignoreErrors' })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.setOffline(false)
  page.removeAllListeners()
  // An answer of the same server, so that the page stays in its process and its storage can be emptied.
  await page.goto(EMPTY_PAGE)
  await page.evaluate('localStorage.clear(), sessionStorage.clear()')
  await page.emulateMedia({ media: null, colorScheme: scheme, reducedMotion: 'reduce' })
  await page.setViewportSize(SIZES[size])
  await page.mouse.move(0, 0)
  await context.clearCookies()
  window.running.clear()
  window.issues.length = 0
  window.requests.length = 0
  return window
}

/** A separate browser window that shares nothing with others. */
export async function visit(
  browser: Browser,
  { url, as, size = 'desk', scheme = 'light', kept, fresh = false }: VisitOptions,
): Promise<Visit> {
  const kind = JSON.stringify([as?.email, size, scheme])
  const window = (!fresh && kept?.windows.get(kind)?.pop()) || (await newWindow(browser, { url, size, scheme }))
  const { context, page, issues, requests, running } = window
  const session = as && kept?.sessions.get(as.email)
  if (session) await context.addCookies(session)
  else if (as) {
    await signIn(context, url, as)
    kept?.sessions.set(as.email, await context.cookies())
  }
  async function quietFor(quietMs: number): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (running.size > 0 || performance.now() - window.changedAt < quietMs) {
      if (performance.now() > deadline) throw new Error(`Still asking for ${[...running].map(nameOf).join(', ')}`)
      await Bun.sleep(quietMs / 4)
    }
  }
  const rendered = async () => void (await page.evaluate(IDLE))
  /** Pages send the next request as soon as they have rendered the last response. */
  async function shown(quietMs = IDLE_QUIET_MS): Promise<void> {
    let before: number
    do {
      await quietFor(quietMs)
      before = window.changedAt
      await rendered()
    } while (running.size > 0 || window.changedAt !== before)
  }
  return {
    page,
    context,
    settled: () => shown(QUIET_MS),
    rendered,
    async open(path) {
      const answer = await page.goto(path)
      // Its script may still be read when nothing is asked for yet. What is no page of the application has none; to stay on a
      // page and change what follows its # has no answer.
      if (answer?.ok() ?? true) await page.locator('h1').first().waitFor()
      await shown()
    },
    async go(path) {
      window.changedAt = performance.now()
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
        .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || OF_OUTLINE.includes(id))
        .map(
          ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html }) => `    ${html.slice(0, 300)}`).join('\n')}`,
        )
    },
    async close() {
      if (!kept || fresh || page.isClosed()) return context.close()
      const { windows } = kept
      windows.set(kind, [...(windows.get(kind) ?? []), await emptied(window, { size, scheme })])
    },
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
