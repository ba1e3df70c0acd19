/** Every page as the other roles, for people who need more contrast or a keyboard, on a phone, on paper, and by its links. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { money } from '../../../src/web/format/money.ts'
import { CHROMIUM, SIZES, type Visit } from '../../support/browser.ts'
import { PAGES } from '../../support/pages.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'
import { type Found, figuresOf, totalsShown } from './figures.ts'
import { WALKERS } from './views.ts'
import { asPerson, ofPage, reportLongRequest, scrollThrough, unless, untilNothing, WALK_MS, walk } from './walk.ts'

/** What of axe depends on colours; all else is the same in both schemes. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']

const DARK = `document.documentElement.dataset.mantineColorScheme === 'dark'`

/** Colors change in transitions. Loaders move for ever, and are no transitions. */
const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished),
)`

const EXCESS_WIDTH = 'document.documentElement.scrollWidth - window.innerWidth'

/** The tables with more than one row that can be sorted, where they have headers. */
const SORTABLE = `[...document.querySelectorAll('main table[aria-label]:has(th[aria-sort]):has(tr[data-index="1"])')]
  .map((table) => table.getAttribute('aria-label'))`

/**
 * What screen readers list by name, and axe has no rule for: headings, tables, and buttons that open a row. What happened
 * in a row of the audit log has links of its own, and can't be such a button.
 */
const MISNAMED = `[
  ...[...document.querySelectorAll(':is(h1, h2) button:not(.mantine-Accordion-control)')]
    .map((button) => 'a heading that contains “' + (button.ariaLabel ?? button.textContent) + '”'),
  ...[...document.querySelectorAll('table:not([aria-label], [aria-labelledby], :has(caption))')]
    .map((table) => 'a table without a name: ' + table.textContent.slice(0, 80)),
  ...[...document.querySelectorAll('table:not([aria-label="Audit log"]) tr[data-opens] button:has(time)')]
    .map((button) => 'a button that is called “' + button.textContent + '”'),
].map((what) => 'has ' + what)`

/** The dark, and then the light again. */
async function barriersInTheDark({ page, barriers }: Visit): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' })
  const issues = await untilNothing(async () => unless(await page.evaluate<boolean>(DARK), 'does not become dark'))
  await page.evaluate(TRANSITIONS_END)
  issues.push(...(await barriers(OF_COLOURS)).map((barrier) => `in the dark, ${barrier}`))
  await page.emulateMedia({ colorScheme: 'light' })
  return issues
}

/** The last heading with what is below it, as it is when the page is printed. */
const PRINTED = `new Promise((resolve) => {
  window.print = () => resolve([...document.querySelectorAll('h2')].at(-1).closest('.mantine-Stack-root').textContent)
})`

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

describe.skipIf(!CHROMIUM)('every page', () => {
  const web = webStage({ demo: true })
  // The demo has none.
  beforeAll(() => reportLongRequest(web.server.url), WALK_MS)

  test(
    'has no error, no barrier in light, dark or on a phone, and figures that are those of their lists, for the admin',
    async () => {
      const found = await walk(web, WALKERS.admin!, async (visitor, figures) => [
        ...(await visitor.barriers()),
        ...(await visitor.page.evaluate<string[]>(MISNAMED)),
        ...(await barriersInTheDark(visitor)),
        ...(await issuesOnAPhone(visitor, figures)),
      ])
      expect(found.join('\n')).toBe('')
    },
    WALK_MS,
  )

  test.each(['lead', 'member'])(
    'has no error, and figures that are those of their lists, for the role %s',
    async (who) => {
      const found = await walk(web, WALKERS[who]!)
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
    // Who asks, the settings, the inbox and the state of the totals; the client, its totals with their chart and
    // those of the period before, what needs attention, and two more groups.
    expect(first.length, first.join('\n')).toBeLessThanOrEqual(12)
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
    expect(await printed).toMatch(/^History.*added client/s)
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
