/** A visit to every page as one person, on the real executable with three months of data. */
import { expect } from 'bun:test'
import type { Visit } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import type { WebPage } from '../../support/pages.ts'
import { until } from '../../support/processes.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { isLong } from '../../support/tier.ts'
import type { WebStage } from '../../support/web-stage.ts'
import { type Found, figuresOf, type Totals, totalsOf, totalsShown } from './figures.ts'
import { VIEWS, WALKERS, type Walker } from './views.ts'

/** All pages as one person, on two cores that do other things as well. */
export const WALK_MS = 1_000_000

/** A page is rendered some time after its last response, or after its window or colors changed; many seconds on a busy machine. */
const RENDERED_MS = 45_000

/** What `found` returns, again until it is nothing. Not `waitForFunction`, which the content security policy forbids. */
export async function untilNothing(found: () => Promise<string[]>): Promise<string[]> {
  const startedAt = performance.now()
  let issues = await found()
  while (issues.length > 0 && performance.now() - startedAt < RENDERED_MS) {
    await Bun.sleep(20)
    issues = await found()
  }
  return issues
}

export const unless = (condition: boolean, issue: string): string[] => (condition ? [] : [issue])

/**
 * These send requests before they are rendered, which only a load of the application shows to be made once. It takes
 * several times as long as to follow a link, so the default tier leaves it to the loads of the journey.
 */
const LOADED_ANEW = [
  'overview',
  'reports',
  'entries',
  'unattributed',
  'work-project',
  'ticket',
  'person-usage',
  'session',
]

/** Without the number of things that wait, which is in the menu of every page. */
export const ofPage = (figures: readonly Found[]) => figures.filter(({ href }) => href !== '/inbox')

/** The path of a view; undefined if the database has no such thing that the person sees. */
async function pathOf({ path }: WebPage, ask: Ask): Promise<string | undefined> {
  if (typeof path === 'string') return path
  try {
    return await path(ask)
  } catch {
    return undefined
  }
}

/** Comes near each part that waits for that, until there is none. */
const NEXT_DEFERRED = `(() => {
  if (!document.querySelector('h1')) return ['has no heading']
  const next = document.querySelector('[data-deferred]')
  if (next) next.scrollIntoView({ block: 'center' })
  else scrollTo(0, 0)
  return next ? ['has a part that does not load'] : []
})()`

/** All of a page, as somebody sees it who scrolls to its end. */
export async function scrollThrough({ page, settled }: Visit): Promise<string[]> {
  const deferred = await untilNothing(() => page.evaluate<string[]>(NEXT_DEFERRED))
  await settled()
  return deferred
}

export const asPerson = ({ email }: Pick<Walker, 'email'>) => ({ email, password: DEMO_PASSWORD })

/** An entry at the price of long requests. */
export async function reportLongRequest(url: string): Promise<void> {
  const ask = await signedInAt(url, asPerson(WALKERS.admin!))
  const tiers = [{ from_tokens: 200_001, input: 6 }]
  await ask('POST /prices', { model: 'long-context', input: 3, output: 15, tiers, effective_from: 'always' })
  const { token } = await ask('POST /tokens', { kind: 'svc', name: 'Long requests' })
  const [started_at, ended_at] = [2, 1].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString())
  const usage = { model: 'long-context', requests: 1, tokens: { input: 300_000, output: 1_000 } }
  const response = await fetch(`${url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ agent_harness: 'house', agent_name: 'builder', started_at, ended_at, ...usage }),
  })
  expect(response.status).toBe(201)
  // Pages ask again and again until all totals are made.
  expect(await until(async () => (await ask('GET /reports/sums')).complete === true, WALK_MS)).toBe(true)
}

/** @param look finds issues of a page that is open, with the figures on it */
export async function walk(
  web: WebStage,
  { email, role, least }: Walker,
  look = async (_visitor: Visit, _figures: readonly Found[]): Promise<string[]> => [],
): Promise<string[]> {
  const as = asPerson({ email })
  const ask = await signedInAt(web.server.url, as)
  const { time_zone, name: organization } = await ask('GET /settings')
  const visitor = await web.visit({ as })
  const { page } = visitor
  await visitor.open('/account')
  const lists = new Map<string, Promise<Totals>>()
  const found: string[] = []
  for (const { name, ...view } of VIEWS) {
    if (view.isOutside) continue
    const path = await pathOf({ name, ...view }, ask)
    if (path === undefined) continue
    if (view.roles && !view.roles.includes(role)) {
      // A tab that one may not see is left out, and a thing shows as much of it as its role may see.
      if (path !== view.path || path.includes('?')) continue
      await visitor.go(path)
      const missing = await untilNothing(async () =>
        unless((await page.locator('h1').allTextContents()).join() === 'Page not found', 'is shown to this role'),
      )
      found.push(...[...visitor.issues(), ...missing].map((issue) => `${name} ${issue}`))
      continue
    }
    // Lists that renew themselves have gone on while the page before was looked at.
    visitor.requests()
    await (isLong && LOADED_ANEW.includes(name) ? visitor.open(path) : visitor.go(path))
    const deferred = await scrollThrough(visitor)
    const asked = visitor.requests()
    const twice = asked.filter((request, index) => asked.indexOf(request) !== index)
    let figures: Found[] = []
    const wrongNow = async () => {
      figures = await figuresOf(page)
      const headings = await page.locator('h1').count()
      const title = await page.title()
      return [
        ...unless(headings === 1, `has ${headings} headings`),
        ...unless(title.includes(organization), `is called “${title}”`),
        ...unless(ofPage(figures).length >= (least[name] ?? 0), `has ${ofPage(figures).length} figures`),
        ...(await issuesOf(figures)),
      ]
    }
    let wrong = await untilNothing(wrongNow)
    if (wrong.length > 0) {
      // After midnight, the lists of the last days are others.
      lists.clear()
      wrong = await wrongNow()
    }
    found.push(
      ...[
        ...visitor.issues(),
        ...deferred,
        ...twice.map((request) => `asks twice for ${request}`),
        ...wrong,
        ...(await look(visitor, figures)),
      ].map((issue) => `${name} ${issue}`),
    )
  }
  found.push(...(await wrongTotals(visitor, [...lists.keys()], (href) => totalsOf(href, ask, time_zone))))
  await visitor.close()
  return found

  async function issuesOf(figures: readonly Found[]): Promise<string[]> {
    const issues: string[] = []
    for (const { figure, value, href } of figures) {
      if (!lists.has(href)) lists.set(href, totalsOf(href, ask, time_zone))
      const total = (await lists.get(href)!)[figure]
      if (total !== value) issues.push(`shows ${figure} ${value}, but it is ${total} on ${href}`)
    }
    return issues
  }
}

/** Lists show the totals that their requests return: one of each kind, and the one with the most filters. */
async function wrongTotals(
  { page, go }: Visit,
  hrefs: readonly string[],
  totalsNow: (href: string) => Promise<Totals>,
): Promise<string[]> {
  const samples = ['/entries?', '/unattributed?'].map((start) => hrefs.find((href) => href.startsWith(start)))
  const found: string[] = []
  for (const href of new Set([...samples, hrefs.toSorted((one, other) => other.length - one.length)[0]])) {
    if (href === undefined) continue
    await go(href)
    found.push(
      ...(await untilNothing(async () => {
        const [shown, expected] = [await totalsShown(page), await totalsNow(href)]
        const issue = `${href} shows ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`
        return unless(Bun.deepEquals(shown, expected), issue)
      })),
    )
  }
  return found
}
