/**
 * One visit to every page, as each role, on the real executable with three months of data. It checks all that is true of
 * every page: no errors, no request to others or made twice, no barriers in light and in the dark, no scrolling sideways on
 * a phone, and figures that are the totals of the lists that they lead to.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { money } from '../../../src/web/format/money.ts'
import { CHROMIUM, SIZES, type Visit } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { PAGES, type WebPage } from '../../support/pages.ts'
import { until } from '../../support/processes.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'
import { type Found, figuresOf, type Totals, totalsOf, totalsShown } from './figures.ts'
import { VIEWS, WALKERS, type Walker } from './views.ts'

/** All pages as one person, on two cores that do other things as well. */
const WALK_MS = 600_000

/** What of axe depends on colours; all else is the same in both schemes. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']

const DARK = `document.documentElement.dataset.mantineColorScheme === 'dark'`

/** Colors change in transitions. Loaders move for ever, and are no transitions. */
const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished),
)`

const EXCESS_WIDTH = 'document.documentElement.scrollWidth - window.innerWidth'

/** A page is rendered some time after its last response, or after its window or colors changed; seconds on a busy machine. */
const RENDERED_MS = 20_000

/** What `found` returns, again until it is nothing. Not `waitForFunction`, which the content security policy forbids. */
async function untilNothing(found: () => Promise<string[]>): Promise<string[]> {
  const begun = performance.now()
  let issues = await found()
  while (issues.length > 0 && performance.now() - begun < RENDERED_MS) {
    await Bun.sleep(20)
    issues = await found()
  }
  return issues
}

/** The tables with more than one row that can be sorted, where they have headers. */
const SORTABLE = `[...document.querySelectorAll('main table[aria-label]:has(th[aria-sort]):has(tr[data-index="1"])')]
  .map((table) => table.getAttribute('aria-label'))`

const unless = (condition: boolean, issue: string): string[] => (condition ? [] : [issue])

/** These send requests before they are rendered, which only a load of the application shows to be made once. */
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
const ofPage = (figures: readonly Found[]) => figures.filter(({ href }) => href !== '/inbox')

/** The path of a view; undefined if the database has no such thing that the person sees. */
async function pathOf({ path }: WebPage, ask: Ask): Promise<string | undefined> {
  if (typeof path === 'string') return path
  try {
    return await path(ask)
  } catch {
    return undefined
  }
}

/** The dark, and then the light again. */
async function barriersInTheDark({ page, barriers }: Visit): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' })
  const issues = await untilNothing(async () => unless(await page.evaluate<boolean>(DARK), 'does not become dark'))
  await page.evaluate(TRANSITIONS_END)
  issues.push(...(await barriers(OF_COLOURS)).map((barrier) => `in the dark, ${barrier}`))
  await page.emulateMedia({ colorScheme: 'light' })
  return issues
}

/** Comes near each part that waits for that, until there is none. */
const NEXT_DEFERRED = `(() => {
  if (!document.querySelector('h1')) return ['has no heading']
  const next = document.querySelector('[data-deferred]')
  if (next) next.scrollIntoView({ block: 'center' })
  else scrollTo(0, 0)
  return next ? ['has a part that does not load'] : []
})()`

/** The last heading with what is below it, as it is when the page is printed. */
const PRINTED = `new Promise((resolve) => {
  window.print = () => resolve([...document.querySelectorAll('h2')].at(-1).closest('.mantine-Stack-root').textContent)
})`

/** All of a page, as somebody sees it who scrolls to its end. */
async function scrollThrough({ page, settled }: Visit): Promise<string[]> {
  const deferred = await untilNothing(() => page.evaluate<string[]>(NEXT_DEFERRED))
  await settled()
  return deferred
}

/** The same page on a phone: all figures of a screen, except the rows of a list that are not in sight. */
async function issuesOnAPhone({ page }: Visit, figures: readonly Found[]): Promise<string[]> {
  const sortable = await page.evaluate<string[]>(SORTABLE)
  await page.setViewportSize(SIZES.phone)
  const tooWide = await untilNothing(async () => {
    const excess = await page.evaluate<number>(EXCESS_WIDTH)
    return unless(excess <= 0, `is ${excess} pixels too wide on a phone`)
  })
  const kinds = (of: readonly Found[]) => new Set(of.map(({ figure }) => figure))
  const missing = await untilNothing(async () => {
    const shown = kinds(await figuresOf(page))
    return [...kinds(figures)].filter((kind) => !shown.has(kind)).map((kind) => `shows no ${kind} on a phone`)
  })
  const unsorted = await untilNothing(async () => {
    const isShown = (label: string) =>
      page
        .getByRole('combobox', { name: `Sort ${label}`, exact: true })
        .first()
        .isVisible()
    const shown = await Promise.all(sortable.map(isShown))
    return sortable.filter((_, index) => !shown[index]).map((label) => `cannot sort “${label}” on a phone`)
  })
  await page.setViewportSize(SIZES.desk)
  return [...tooWide, ...missing, ...unsorted]
}

const asPerson = ({ email }: Pick<Walker, 'email'>) => ({ email, password: DEMO_PASSWORD })

/** An entry at the price of long requests. */
async function reportLongRequest(url: string): Promise<void> {
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

describe.skipIf(!CHROMIUM)('every page', () => {
  const web = webStage({ demo: true })
  // The demo has none.
  beforeAll(() => reportLongRequest(web.server.url), WALK_MS)

  async function walk({ email, role, least }: Walker, look: (visitor: Visit, figures: Found[]) => Promise<string[]>) {
    const as = asPerson({ email })
    const ask = await signedInAt(web.server.url, as)
    const { time_zone, name: organization } = await ask('GET /settings')
    const visitor = await web.visit({ as })
    await visitor.open('/account')
    const lists = new Map<string, Promise<Totals>>()
    const found: string[] = []
    for (const { name, ...view } of VIEWS) {
      if (view.isOutside || (view.roles && !view.roles.includes(role))) continue
      const path = await pathOf({ name, ...view }, ask)
      if (path === undefined) continue
      // Lists that renew themselves have gone on while the page before was looked at.
      visitor.requests()
      await (LOADED_ANEW.includes(name) ? visitor.open(path) : visitor.go(path))
      const deferred = await scrollThrough(visitor)
      const asked = visitor.requests()
      const twice = asked.filter((request, index) => asked.indexOf(request) !== index)
      let figures: Found[] = []
      const wrong = await untilNothing(async () => {
        figures = await figuresOf(visitor.page)
        const headings = await visitor.page.locator('h1').count()
        const title = await visitor.page.title()
        return [
          ...unless(headings === 1, `has ${headings} headings`),
          ...unless(title.includes(organization), `is called “${title}”`),
          ...unless(ofPage(figures).length >= (least[name] ?? 0), `has ${ofPage(figures).length} figures`),
          ...(await issuesOf(figures)),
        ]
      })
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
    await showTotals(visitor, lists)
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
  async function showTotals({ page, go }: Visit, lists: ReadonlyMap<string, Promise<Totals>>): Promise<void> {
    const hrefs = [...lists.keys()]
    const samples = ['/entries?', '/unattributed?'].map((start) => hrefs.find((href) => href.startsWith(start)))
    for (const href of new Set([...samples, hrefs.toSorted((one, other) => other.length - one.length)[0]])) {
      if (href === undefined) continue
      await go(href)
      const expected = await lists.get(href)!
      const shown = await untilNothing(async () => {
        const totals = await totalsShown(page)
        return unless(Bun.deepEquals(totals, expected), `${href} shows ${JSON.stringify(totals)}`)
      })
      expect(shown, JSON.stringify(expected)).toEqual([])
    }
  }

  test(
    'has no error, no barrier in light, dark or on a phone, and figures that are those of their lists, for the admin',
    async () => {
      const found = await walk(WALKERS.admin!, async (visitor, figures) => [
        ...(await visitor.barriers()),
        ...(await barriersInTheDark(visitor)),
        ...(await issuesOnAPhone(visitor, figures)),
      ])
      expect(found.join('\n')).toBe('')
    },
    WALK_MS,
  )

  test.each(['billing', 'lead', 'member'])(
    'has no error, and figures that are those of their lists, for the role %s',
    async (who) => {
      const found = await walk(WALKERS[who]!, async () => [])
      expect(found.join('\n')).toBe('')
    },
    WALK_MS,
  )

  test(
    'can be read in both schemes before one is signed in',
    async () => {
      const visitor = await web.visit()
      const found: string[] = []
      for (const { name, path } of PAGES.filter(({ isOutside }) => isOutside)) {
        await visitor.open(path as string)
        found.push(...(await visitor.barriers()).map((barrier) => `${name} ${barrier}`))
        found.push(...(await barriersInTheDark(visitor)).map((barrier) => `${name} ${barrier}`))
      }
      await visitor.close()
      expect(found.join('\n')).toBe('')
    },
    WALK_MS,
  )

  test('of a thing asks for what is in sight, and for the rest on paper, or once somebody tabs or scrolls there', async () => {
    const as = asPerson(WALKERS.admin!)
    const ask = await signedInAt(web.server.url, as)
    const visitor = await web.visit({ as })
    const { page } = visitor
    const path = `/work/clients/${(await ask('GET /clients?limit=1')).data[0].id}`
    const further = ['/token-entries', '/budgets', '/projects', '/bills', '/audit']
    const isOf = (start: string) => (request: string) => request.startsWith(`GET /api/v1${start}?`)
    const isFurther = (request: string) => further.some((start) => isOf(start)(request))
    const missing = () => {
      const asked: string[] = []
      return untilNothing(async () => {
        asked.push(...visitor.requests())
        return further.filter((start) => !asked.some(isOf(start)))
      })
    }
    await visitor.open(path)
    // Some are repeated until the server has counted everything.
    const first = [...new Set(visitor.requests())]
    // Who asks, the settings, the inbox and the state of the totals; the client, its totals with their chart, what needs
    // attention, and two more groups.
    expect(first.length, first.join('\n')).toBeLessThanOrEqual(11)
    expect(first.filter(isFurther)).toEqual([])
    await page.keyboard.press('Tab')
    expect(await missing()).toEqual([])
    await visitor.open(path)
    const note = page.getByText('Parts of this page were not loaded when it was printed.')
    visitor.requests()
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    expect(await note.isVisible()).toBe(true)
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    expect(await missing()).toEqual([])
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    expect(await note.count()).toBe(0)
    await page.emulateMedia({ media: 'screen' })
    await visitor.open(path)
    visitor.requests()
    const printed = page.evaluate<string | null>(PRINTED)
    await page.keyboard.press('Control+p')
    expect(await printed).toMatch(/^History.*client added/s)
    expect(await missing()).toEqual([])
    await visitor.open(path)
    visitor.requests()
    expect(await scrollThrough(visitor)).toEqual([])
    expect(await missing()).toEqual([])
    expect(visitor.issues()).toEqual([])
    await visitor.close()
  })

  test('has bars, cells of a chart’s table and days whose amounts are those of the entries that they lead to', async () => {
    const { open, page, settled, barriers, close } = await web.visit({
      as: asPerson(WALKERS.admin!),
    })
    await open('/?client=Fable+Foods')
    const found = ofPage(await figuresOf(page))
    expect(found.filter(({ href }) => !href.includes('client=Fable+Foods'))).toEqual([])
    const costOfList = async () => {
      await page.locator('[data-total=cost]').waitFor()
      await settled()
      return money(Number((await totalsShown(page)).cost))
    }
    const chart = page.getByRole('slider', { name: 'Cost over time by project' })
    await chart.press('End')
    const valueText = async () => (await chart.getAttribute('aria-valuetext'))!
    // Soon after midnight, the last day has no entries yet.
    while ((await valueText()).endsWith('total $0.00')) await chart.press('ArrowLeft')
    const bar = await valueText()
    await chart.press('Enter')
    expect(bar).toContain(`total ${await costOfList()}`)
    await page.goBack()
    await page.getByRole('button', { name: 'Show as table' }).click()
    const cell = page.getByRole('table', { name: 'Chart data' }).getByRole('link').first()
    const amount = await cell.getAttribute('data-value')
    await cell.click()
    await page.locator('[data-total=cost]').waitFor()
    await settled()
    expect((await totalsShown(page)).cost).toBe(amount!)
    await page.goBack()
    await page.getByText('Harnesses', { exact: true }).scrollIntoViewIfNeeded()
    const days = page.getByRole('region', { name: 'Cost by day in the last year' })
    await days.getByRole('link').last().press('ArrowLeft')
    const day = page.locator(':focus')
    expect(await barriers()).toEqual([])
    const label = (await day.getAttribute('aria-label'))!
    await day.press('Enter')
    expect(label).toEndWith(`: ${await costOfList()}`)
    await close()
  })
})
