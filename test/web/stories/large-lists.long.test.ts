/** Pages with more rows, names and groups than fit: sorting, searches that pause, choices and reports. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { CHROMIUM, type Visit } from '../../support/browser.ts'
import { until } from '../../support/processes.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const

/** A day of this month, unless it has just begun. */
function startOfSessions(): number {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), Math.max(1, now.getUTCDate() - 1))
}

/** More than a chart shows. */
const PROJECTS = 60

describe.skipIf(!CHROMIUM)('large lists', () => {
  const web = webStage({ people: [ADA] })

  beforeAll(async () => {
    const { token } = await web.installation.createToken('svc', ADA.email)
    const entries = Array.from({ length: PROJECTS }, (_, index) => ({
      agent_harness: 'codex',
      agent_name: 'builder',
      model: `model-${index}`,
      project: `P${String(index).padStart(3, '0')}`,
      summary: `Session ${index}`,
      session_id: `session-${index}`,
      started_at: new Date(startOfSessions() + index * 1_000).toISOString(),
      ended_at: new Date(startOfSessions() + 600_000).toISOString(),
      tokens: { input: 1_000 + ((index * 7) % PROJECTS), output: 1 },
      // Ten cents each, of which binary fractions make no whole dollars.
      reported_cost: index === 17 ? 99 : 0.1,
    }))
    for (const entry of entries) {
      const answer = await fetch(`${web.server.url}/api/v1/token-entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(entry),
      })
      if (answer.status !== 201) throw new Error(await answer.text())
    }
  })

  async function visiting(look: (visitor: Visit) => Promise<void>): Promise<void> {
    const visitor = await web.visit({ as: ADA })
    try {
      await look(visitor)
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }

  const firstRow = ({ page }: Visit) => page.locator('main tbody tr[data-index="0"]')

  test('sort entries by cost, tokens, duration and start, with the keyboard, in the address', async () => {
    await visiting(async (visitor) => {
      const { page, open, go } = visitor
      await open('/entries')
      const header = (name: string) => page.getByRole('columnheader', { name })
      expect(await header('Started').getAttribute('aria-sort')).toBe('descending')
      expect(await header('Cost').getAttribute('aria-sort')).toBe('none')
      await header('Cost').getByRole('button').focus()
      await page.keyboard.press('Enter')
      await firstRow(visitor).getByText('Session 17').waitFor()
      expect(await header('Cost').getAttribute('aria-sort')).toBe('descending')
      expect(new URL(page.url()).search).toBe('?sort=cost')
      await page.keyboard.press('Enter')
      await header('Cost').and(page.locator('[aria-sort="ascending"]')).waitFor()
      expect(new URL(page.url()).search).toBe('?sort=cost&order=asc')
      await go('/entries?sort=duration')
      // The column that sorts the list is shown, chosen or not.
      expect(await header('Duration').getAttribute('aria-sort')).toBe('descending')
      await firstRow(visitor).getByText('Session 0', { exact: true }).waitFor()
    })
  }, 180_000)

  test('show the most expensive entries of a period one click from the overview and from the entries', async () => {
    await visiting(async (visitor) => {
      const { page, open, go } = visitor
      await open('/?period=month')
      await page.getByRole('link', { name: 'Most expensive entries' }).click()
      await firstRow(visitor).getByText('Session 17').waitFor()
      expect(new URL(page.url()).search).toBe('?period=month&sort=cost')
      await go('/entries')
      await page.getByRole('link', { name: 'Most expensive this month' }).click()
      await firstRow(visitor).getByText('Session 17').waitFor()
    })
  }, 180_000)

  test('say how far a search got that paused, and continue it', async () => {
    await visiting(async ({ page, context, open, requests }) => {
      await context.route(
        (url) => url.pathname === '/api/v1/token-entries' && url.searchParams.has('q'),
        async (route) => {
          const isSecond = new URL(route.request().url()).searchParams.has('page')
          const { data } = await (await context.request.get(`${web.server.url}/api/v1/token-entries?limit=1`)).json()
          await route.fulfill({
            json: isSecond
              ? { data, has_more: false, next_page: null, searched_to: null }
              : { data: [], has_more: true, next_page: 'more', searched_to: '2026-03-03T12:00:00Z' },
          })
        },
      )
      requests()
      await open('/entries?q=rare')
      await page.getByText('No matches yet, searched back to 3 Mar 2026').waitFor()
      expect(await page.getByText('No matching entries').count()).toBe(0)
      // Totals would read everything that the search left out.
      expect(requests().filter((request) => request.includes('/reports/usage'))).toEqual([])
      await page.getByRole('button', { name: 'Search further' }).click()
      await page.getByText('1 total').waitFor()
      expect(await page.getByText('Search further').count()).toBe(0)
    })
  }, 180_000)

  test('show that reports are being prepared, and those that failed meanwhile once they are', async () => {
    await visiting(async ({ page, context, issues }) => {
      let percent = 63
      await context.route('**/api/v1/reports/sums', (route) =>
        route.fulfill({
          json: { time_zone: 'UTC', days: 100, days_made: percent, percent, complete: percent === 100 },
        }),
      )
      // Reports that take too long meanwhile.
      await context.route('**/api/v1/reports/overview?*', (route) =>
        percent === 100 ? route.continue() : route.fulfill({ status: 422, json: { code: 'validation_failed' } }),
      )
      await page.goto('/')
      const progress = page.getByRole('progressbar', { name: 'Preparing reports' })
      await progress.getByText('Preparing reports, 63%').waitFor()
      await page.getByRole('alert').waitFor()
      percent = 100
      await progress.waitFor({ state: 'detached' })
      await page.getByRole('alert').waitFor({ state: 'detached' })
      // The browser itself notes the refusal.
      issues()
    })
  }, 180_000)

  test('list every group in a report, whose chart shows the largest ones and the exact rest', async () => {
    await visiting(async ({ page, open, rendered }) => {
      await open('/')
      await page.getByRole('button', { name: 'Show as table' }).click()
      const chart = page.getByRole('table', { name: 'Chart data' })
      const day = chart.getByRole('row').filter({ hasText: '$104.90' })
      // 99 and five of ten cents are in segments of their own.
      expect(await chart.getByRole('columnheader').last().textContent()).toBe('Total')
      expect(await day.getByRole('cell').nth(-2).textContent()).toBe('$5.40')
      const plot = page.getByRole('slider', { name: 'Cost over time by project' })
      const others = plot.getByText('Others$5.40')
      const { x, y, width, height } = (await plot.boundingBox())!
      for (let right = 2; right < width && (await others.count()) === 0; right += 10) {
        await page.mouse.move(x + width - right, y + height / 2)
        await rendered()
      }
      expect(await others.count()).toBe(1)
      await page
        .getByRole('link', { name: `Show all ${PROJECTS} in reports` })
        .first()
        .click()
      await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor()
      const report = page.getByRole('table', { name: 'Usage by project' })
      await report.waitFor()
      expect(await report.getAttribute('aria-rowcount')).toBe(String(PROJECTS))
      expect(await report.locator('tfoot').textContent()).toContain('$104.90')
      await page.getByRole('searchbox', { name: 'Search names' }).fill('p05')
      await page.getByText('10 of 60').waitFor()
    })
  }, 180_000)

  test('show the first rows of a preview, and all of them in a dialog that scrolls below its header', async () => {
    const ask = await signedInAt(web.server.url, ADA)
    const { id } = await ask('POST /token-sheets', { month: new Date().toISOString().slice(0, 7) })
    await visiting(async ({ page, open, barriers }) => {
      await open(`/sheets/${id}`)
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Import CSV…' }).click()
      const start = new Date(startOfSessions()).toISOString()
      const rows = Array.from({ length: 80 }, (_, index) => `codex,builder,model-${index},${start},${start},${index},0`)
      const csv = ['agent_harness,agent_name,model,started_at,ended_at,input,output', ...rows].join('\n')
      await page.getByLabel('CSV rows').fill(csv)
      await page.getByRole('button', { name: 'Preview import' }).click()
      const table = page.getByRole('table', { name: 'Entries to import' })
      await table.waitFor()
      expect(await table.locator('tbody tr[data-key]').count()).toBe(10)
      await table.getByRole('button', { name: 'Tokens' }).click()
      await table.getByRole('row', { name: /model-79/ }).waitFor()
      await page.getByRole('button', { name: 'Show all 80' }).click()
      await table.hover()
      const last = table.getByRole('row', { name: /model-0/ })
      await until(async () => {
        await page.mouse.wheel(0, 400)
        return (await last.count()) === 1
      })
      const head = (await table.getByRole('columnheader', { name: 'Model' }).boundingBox())!
      const title = (await page.getByRole('heading', { name: 'Import CSV' }).boundingBox())!
      expect(head.y).toBeGreaterThan(title.y)
      expect(head.y).toBeLessThan((await last.boundingBox())!.y)
      expect(await barriers()).toEqual([])
    })
  }, 180_000)

  test('offer the first of many choices of a filter, and all of them by typing', async () => {
    await visiting(async ({ page, context, open }) => {
      const named = (index: number) => `someone ${String(index).padStart(3, '0')}`
      await context.route(
        (url) => url.pathname === '/api/v1/reports/usage' && url.searchParams.getAll('group_by').includes('agent_name'),
        (route) =>
          route.fulfill({
            json: { data: [{ results: Array.from({ length: 500 }, (_, index) => ({ agent_name: named(index) })) }] },
          }),
      )
      await open('/entries')
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('listbox', { name: 'Filters' }).getByRole('option', { name: 'Agent', exact: true }).click()
      await page.getByRole('option', { name: named(0) }).waitFor()
      expect(await page.getByRole('option', { name: /^someone / }).count()).toBe(100)
      await page.getByText('Type to find others').waitFor()
      await page.getByLabel('Agent: search').fill('499')
      await page.getByRole('option', { name: named(499) }).click()
      await page.waitForURL(/agent_name=someone\+499/)
    })
  }, 180_000)
})
