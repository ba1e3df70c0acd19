/** One number, one definition: the figures of all pages are the totals of the lists that they lead to. */
import { describe, expect, test } from 'bun:test'
import { readAddress } from '../../src/web/address.ts'
import { money } from '../../src/web/format/money.ts'
import { type EntryQuery, entryQuery, FILTERS } from '../../src/web/parts/entries/filters.ts'
import { sumsQuery } from '../../src/web/parts/entries/sums-query.ts'
import type { Figure } from '../../src/web/parts/figure-link.tsx'
import { CHROMIUM } from '../support/browser.ts'
import { PAGES, type WebPage } from '../support/pages.ts'
import { type Ask, signedInAt } from '../support/session.ts'
import { webStage } from '../support/web-stage.ts'

const PASSWORD = 'correct horse battery'

/** All pages as four people, on two cores that do other things as well. */
const WALK_MS = 300_000

interface Walker {
  email: string
  role: 'member' | 'billing' | 'admin'
  /** The least number of figures on pages that must have some, so that no page passes because none is found. */
  least: Record<string, number>
}

const EVERYTHING = {
  overview: 25,
  'overview of a client': 25,
  reports: 15,
  'reports by model': 9,
  entries: 1,
  'entries without a price': 0,
  unattributed: 3,
  'work-project': 12,
  'work-client': 12,
  ticket: 12,
  'person-usage': 12,
  model: 12,
  session: 8,
  'sheets to approve': 3,
  'models without a price': 1,
  budget: 1,
}
const WALKERS: Record<string, Walker> = {
  admin: { email: 'ines.marques@meridian.example', role: 'admin', least: EVERYTHING },
  billing: { email: 'hanna.lindqvist@meridian.example', role: 'billing', least: EVERYTHING },
  lead: {
    email: 'mara.vogel@meridian.example',
    role: 'member',
    least: { overview: 20, reports: 6, 'work-project': 3, 'sheets to approve': 3 },
  },
  member: { email: 'jonas.weber@meridian.example', role: 'member', least: { overview: 15, reports: 6 } },
}

/** Views of pages that have other figures than the page as it is opened first. */
const VIEWS: readonly WebPage[] = [
  ...PAGES,
  { name: 'overview of tokens', path: '/?measure=tokens&period=last-month' },
  { name: 'overview of a client', path: '/?client=Fable+Foods&by=model' },
  { name: 'reports by model', path: '/reports?by=model&period=90d' },
  { name: 'reports by provider', path: '/reports?by=provider' },
  { name: 'entries without a price', path: '/entries?priced=false' },
  { name: 'sheets to approve', path: '/sheets?tab=waiting' },
  { name: 'models without a price', path: '/prices?tab=unpriced' },
  {
    name: 'a project at any time',
    path: async (ask) => `/work/projects/${(await ask('GET /projects?limit=1')).data[0].id}?period=any`,
  },
]

interface Found {
  figure: Figure
  value: string
  href: string
}

const FIGURES = `[...document.querySelectorAll('[data-figure]')].map((shown) => ({
  figure: shown.dataset.figure,
  value: shown.dataset.value,
  href: shown.closest('a[href]')?.getAttribute('href') ?? 'no link',
}))`

const TOTALS = `Object.fromEntries(
  [...document.querySelectorAll('[data-total]')].map((shown) => [shown.dataset.total, shown.dataset.value]),
)`

type Totals = Partial<Record<Figure, string>>

/** As pages write them. */
const exactly = (value: number | null): string => (value === null ? 'unknown' : String(value))

const parametersOf = (query: EntryQuery | ReturnType<typeof sumsQuery>) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  )

/** The totals of the list on a page, from the request that the page makes for them. */
async function totalsOf(href: string, ask: Ask, timeZone: string): Promise<Totals> {
  const [path, search = ''] = href.split('?')
  const query = entryQuery(readAddress(search, FILTERS), timeZone)
  if (path === '/entries') {
    const { totals } = await ask(`GET /reports/usage?${parametersOf(sumsQuery(query))}`)
    return {
      entries: exactly(totals.entries),
      cost: exactly(totals.cost),
      list_value: exactly(totals.list_value),
      tokens: exactly(totals.tokens.total),
    }
  }
  if (path === '/unattributed') {
    const { totals } = await ask(`GET /reports/unattributed?${parametersOf(query)}`)
    return { entries: exactly(totals.entries), cost: exactly(totals.cost) }
  }
  throw new Error(`${href} is no list with totals: add the request that it makes for them`)
}

/** The path of a view; undefined if the database has no such thing that the person sees. */
async function pathOf({ path }: WebPage, ask: Ask): Promise<string | undefined> {
  if (typeof path === 'string') return path
  try {
    return await path(ask)
  } catch {
    return undefined
  }
}

/** A page has rendered its figures soon after its last response; one that never has the right ones fails the test. */
const RENDERED_MS = 5_000

describe.skipIf(!CHROMIUM)('the figures of every page', () => {
  const web = webStage({ demoPassword: PASSWORD })

  test.each(Object.entries(WALKERS))(
    'are the totals of the lists that they lead to, for the %s',
    async (_who, { email, role, least }) => {
      const as = { email, password: PASSWORD }
      const ask = await signedInAt(web.server.url, as)
      const { time_zone } = await ask('GET /settings')
      const visitor = await web.visit({ as })
      await visitor.open('/account')
      const wrong: string[] = []
      const lists = new Map<string, Promise<Totals>>()
      async function check({ name }: WebPage): Promise<string[]> {
        const found = await visitor.page.evaluate<Found[]>(FIGURES)
        const issues = found.length < (least[name] ?? 0) ? [`${name} has ${found.length} figures`] : []
        for (const { figure, value, href } of found) {
          if (!lists.has(href)) lists.set(href, totalsOf(href, ask, time_zone))
          const total = (await lists.get(href)!)[figure]
          if (total !== value) issues.push(`${name}: ${figure} ${value}, but ${total} on ${href}`)
        }
        return issues
      }
      for (const view of VIEWS) {
        if (view.isOutside || (view.roles && !view.roles.includes(role))) continue
        const path = await pathOf(view, ask)
        if (path === undefined) continue
        await visitor.go(path)
        const begun = performance.now()
        let issues = await check(view)
        while (issues.length > 0 && performance.now() - begun < RENDERED_MS) {
          await Bun.sleep(50)
          issues = await check(view)
        }
        wrong.push(...issues)
      }
      // Lists show the totals that their requests return: one of each kind, and one with many filters.
      const hrefs = [...lists.keys()]
      const samples = ['/entries?', '/unattributed?'].map((start) => hrefs.find((href) => href.startsWith(start)))
      for (const href of new Set([...samples, hrefs.toSorted((one, other) => other.length - one.length)[0]])) {
        if (href === undefined) continue
        await visitor.open(href)
        const expected = await lists.get(href)!
        expect(await visitor.page.evaluate<Totals>(TOTALS), href).toEqual(expected)
      }
      await visitor.close()
      expect(wrong).toEqual([])
    },
    WALK_MS,
  )

  test('of the overview are of the client that it is filtered by, and its bars and days lead to their entries', async () => {
    const { open, page, settled, barriers, close } = await web.visit({
      as: { email: 'ines.marques@meridian.example', password: PASSWORD },
    })
    await open('/?client=Fable+Foods')
    const found = await page.evaluate<Found[]>(FIGURES)
    expect(found.filter(({ href }) => !href.includes('client=Fable+Foods'))).toEqual([])
    const costOfList = async () => {
      await page.locator('[data-total=cost]').waitFor()
      await settled()
      const { cost } = await page.evaluate<Totals>(TOTALS)
      return money(Number(cost))
    }
    const chart = page.getByRole('slider', { name: 'Cost over time by project' })
    await chart.press('End')
    const bar = (await chart.getAttribute('aria-valuetext'))!
    await chart.press('Enter')
    expect(bar).toContain(`total ${await costOfList()}`)
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
