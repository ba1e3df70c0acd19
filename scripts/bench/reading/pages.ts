/**
 * Every page of the web application in Chromium: the time until the last response it waits for is shown, opened by a
 * link and loaded anew without a cache, and the server's processor time for it.
 */
import type { Request } from 'playwright-core'
import { CHROMIUM, launchBrowser, type Visit, visit } from '../../../test/support/browser.ts'
import { printProgress } from '../clean-up.ts'
import { familyProcessorSeconds } from '../process-metrics.ts'
import { MONTH } from '../queries.ts'
import { kilobytes, type Line, ms, percentile, printTable, type Times, timesLine, whole } from './results.ts'
import type { Subject } from './subject.ts'

/** Things have the page of the group that a report over a month lists first. */
const THINGS = [
  { title: 'Client', by: 'client', path: '/work/clients/' },
  { title: 'Project', by: 'project', path: '/work/projects/' },
  { title: 'Ticket', by: 'ticket', path: '/work/tickets/' },
  { title: 'Person', by: 'agent_manager', path: '/usage/people/' },
  { title: 'Agent', by: 'agent_name', path: '/usage/agent?name=' },
  { title: 'Model', by: 'model', path: '/usage/model?name=' },
]

const PAGES = {
  Overview: '/',
  Inbox: '/inbox',
  Reports: '/reports',
  'Reports, a year by person': '/reports?period=12m&by=agent_manager',
  'Reports, two dimensions compared': '/reports?period=90d&by=project&then=model&compare=previous',
  Insights: '/insights',
  Entries: '/entries',
  'Entries by cost': '/entries?sort=cost&order=desc',
  Unattributed: '/unattributed',
  Work: '/work',
  Tickets: '/work?tab=tickets',
  'Token sheets': '/sheets',
  Bills: '/bills',
  'Billing run': '/bills/run',
  Prices: '/prices',
  People: '/people',
  Settings: '/settings',
}

const GOAL_MS = 500
const SIZE_GOAL_BYTES = 100_000

/** Each needs a window of its own, so that nothing is cached. */
const ROUNDS = 10

/** Asks for little, to come from and to begin with. */
const START = { path: '/account', title: 'Your account' }

interface PageTimes {
  byLink: number[]
  anew: number[]
  processorMs: number[]
  requests: number
}

export async function measurePages(subject: Subject, stack: AsyncDisposableStack): Promise<Line[]> {
  const figure = 'pages in a browser'
  if (!CHROMIUM) return [{ figure, goal: `p95 ≤ ${GOAL_MS} ms`, measured: 'skipped: Chromium is not installed' }]
  const as = await subject.signInAs()
  const browser = await launchBrowser()
  stack.defer(() => browser.close())
  const results = new Map<string, PageTimes>()
  const traffic = new Traffic()
  for (const [title, path] of Object.entries({ ...PAGES, ...(await pagesOfThings(subject)) })) {
    printProgress(`page ${title}`)
    const result: PageTimes = { byLink: [], anew: [], processorMs: [], requests: 0 }
    results.set(title, result)
    for (let round = 0; round < Math.min(ROUNDS, subject.rounds); round++) {
      const visitor = await visit(browser, { url: subject.server.url, as })
      traffic.follow(visitor)
      try {
        const protocol = await visitor.context.newCDPSession(visitor.page)
        await protocol.send('Network.setCacheDisabled', { cacheDisabled: true })
        await visitor.open(START.path)
        visitor.requests()
        const before = familyProcessorSeconds(subject.pid)
        result.byLink.push(await traffic.timeOf(() => follow(visitor, path)))
        result.processorMs.push((familyProcessorSeconds(subject.pid) - before) * 1000)
        result.requests = visitor.requests().length
        result.anew.push(await traffic.timeOf(() => visitor.open(path)))
      } finally {
        await visitor.close()
      }
    }
  }
  await browser.close()
  const sorted = (times: number[]): Times => times.sort((one, other) => one - other)
  const rows = [['page', 'requests', 'by link: p50 ms', 'p95 ms', 'anew: p50 ms', 'p95 ms', 'server CPU p50 ms']]
  for (const [title, { byLink, anew, processorMs, requests }] of results) {
    const times = [sorted(byLink), sorted(anew)].flatMap((times) => [percentile(times, 0.5), percentile(times, 0.95)])
    rows.push([title, whole(requests), ...[...times, percentile(sorted(processorMs), 0.5)].map(ms)])
  }
  printTable(rows)
  const { pathname, search } = traffic.largest.url === '' ? { pathname: '', search: '' } : new URL(traffic.largest.url)
  return [
    slowest('page by a link', results, ({ byLink }) => byLink),
    slowest('page loaded anew', results, ({ anew }) => anew),
    {
      figure: 'largest answer to a page, as transferred',
      goal: `≤ ${kilobytes(SIZE_GOAL_BYTES)}`,
      measured: `${kilobytes(traffic.largest.bytes)}: ${pathname}${search.slice(0, 80).replaceAll('|', '%7C')}`,
      isMet: traffic.largest.bytes <= SIZE_GOAL_BYTES,
    },
  ]
}

/** As a link does. The script of the page may load before it asks for anything. */
async function follow(visitor: Visit, path: string): Promise<void> {
  await visitor.go(path)
  await visitor.page.locator('#content h1').filter({ hasNotText: START.title }).waitFor()
  await visitor.settled()
}

function slowest(figure: string, results: ReadonlyMap<string, PageTimes>, timesOf: (result: PageTimes) => Times): Line {
  const [title, result] = [...results].reduce((worst, next) =>
    percentile(timesOf(next[1]), 0.95) > percentile(timesOf(worst[1]), 0.95) ? next : worst,
  )
  return timesLine(`slowest ${figure}`, timesOf(result), GOAL_MS, `of ${results.size}: ${title}`)
}

/** What a row of a report is about: null for entries without it. */
type Group = { id: string } | string | null

interface Report {
  data: { results: Record<string, Group>[] }[]
}

/** The page of each kind of thing. Throws if the data has none of a kind. */
async function pagesOfThings(subject: Subject): Promise<Record<string, string>> {
  const pages: Record<string, string> = {}
  for (const { title, by, path } of THINGS) {
    const report = await subject.json<Report>(`/api/v1/reports/usage?${MONTH}&bucket_width=all&group_by=${by}`)
    const groups = report?.data[0]?.results.map((result) => result[by])
    pages[title] = pathOf(
      path,
      title,
      groups?.find((group) => group != null),
    )
  }
  const entries = await subject.json<{ data: { session_id: string | null }[] }>('/api/v1/token-entries?limit=1')
  pages.Session = pathOf('/usage/session?name=', 'Session', entries?.data[0]?.session_id)
  return pages
}

function pathOf(path: string, title: string, thing: Group | undefined): string {
  if (thing == null) throw new Error(`There is nothing to open the page ${title} with.`)
  return path + encodeURIComponent(typeof thing === 'object' ? thing.id : thing)
}

/** The requests of pages. */
class Traffic {
  #answeredAt = 0
  largest = { url: '', bytes: 0 }

  follow({ page }: Visit): void {
    const ended = () => {
      this.#answeredAt = performance.now()
    }
    page.on('requestfailed', ended)
    page.on('requestfinished', (request) => {
      ended()
      if (new URL(request.url()).pathname.startsWith('/api/')) void this.#weigh(request)
    })
  }

  async #weigh(request: Request): Promise<void> {
    // A page that was left has no sizes any more.
    const sizes = await request.sizes().catch(() => undefined)
    if (sizes && sizes.responseBodySize > this.largest.bytes)
      this.largest = { url: request.url(), bytes: sizes.responseBodySize }
  }

  /** Milliseconds from an action, which waits for the whole page, to the last response. */
  async timeOf(navigate: () => Promise<unknown>): Promise<number> {
    const startedAt = performance.now()
    this.#answeredAt = startedAt
    await navigate()
    return this.#answeredAt - startedAt
  }
}
