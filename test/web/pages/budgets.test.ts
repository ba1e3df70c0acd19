/** The pages of budgets, in a browser, and what they derive from a form and from the days of a period. */
import { beforeAll, describe, expect, test } from 'bun:test'
import '../../support/page-location.ts'
import {
  changeOf,
  EMPTY_BUDGET,
  issueFieldsOf,
  newBudgetOf,
  valuesOf,
} from '../../../src/web/pages/budgets/budget-values.ts'
import { axisDays, linesOf, shownDays } from '../../../src/web/pages/budgets/burn-down-layout.ts'
import { byUse } from '../../../src/web/pages/overview/budgets.tsx'
import {
  type Budget,
  type BudgetSummary,
  entriesPageOf,
  scopeInWords,
  spanInWords,
} from '../../../src/web/parts/budgets/budget.ts'
import { AMOUNTS } from '../../../src/web/parts/charts/series.ts'
import { CHROMIUM, type Visit, type VisitOptions } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const NO_SCOPE = {
  client: null,
  project: null,
  ticket: null,
  agent_manager: null,
  agent_name: null,
  model: null,
  label: null,
}

const BUDGET: Budget = {
  id: 'bdg_1',
  name: 'Acme, monthly',
  scope: { ...NO_SCOPE, client: { id: 'cli_1', name: 'Acme' } },
  measure: 'cost',
  amount: 2_500,
  period: 'month',
  starts_on: null,
  ends_on: null,
  roll_over: false,
  thresholds: [{ percent: 80, of: 'spent', leads: true, billing: false, people: ['usr_1'], emails: [], webhooks: [] }],
  of_project: false,
  created_at: '2026-11-01T00:00:00.000Z',
  archived_at: null,
}
const PEOPLE = [{ id: 'usr_1', name: 'Ada' }]

describe('the form of a budget', () => {
  test('sends only what was changed, so that thresholds are not reached again without a reason', () => {
    const values = valuesOf(BUDGET, PEOPLE)
    expect(changeOf(values, BUDGET, PEOPLE)).toEqual({})
    expect(changeOf({ ...values, name: 'Acme ' }, BUDGET, PEOPLE)).toEqual({ name: 'Acme' })
    expect(changeOf({ ...values, client: null }, BUDGET, PEOPLE)).toEqual({ scope: NO_SCOPE })
  })

  test('names people, and sends their ids', () => {
    const values = valuesOf(BUDGET, PEOPLE)
    expect(values.thresholds[0]!.people).toEqual(['Ada'])
    const [threshold] = values.thresholds
    const changed = { ...values, thresholds: [{ ...threshold!, people: ['Ada', 'bob@example.com'] }] }
    expect(changeOf(changed, BUDGET, PEOPLE).thresholds![0]!.people).toEqual(['usr_1', 'bob@example.com'])
  })

  test('keeps people and webhooks that it cannot name', () => {
    const budget = { ...BUDGET, thresholds: [{ ...BUDGET.thresholds[0]!, webhooks: ['whk_1'] }] }
    expect(changeOf(valuesOf(budget, []), budget, [])).toEqual({})
  })

  test('leaves the name to the server, if none was typed', () => {
    expect(newBudgetOf({ ...EMPTY_BUDGET, name: ' ' })).not.toHaveProperty('name')
    expect(newBudgetOf({ ...EMPTY_BUDGET, name: ' Mine ' })).toMatchObject({ name: 'Mine' })
  })

  test('shows an issue with one recipient at the field that lists them', () => {
    const [threshold] = EMPTY_BUDGET.thresholds
    const thresholds = [{ ...threshold!, people: ['a@example.com'], emails: ['b', 'c'] }]
    expect(issueFieldsOf({ ...EMPTY_BUDGET, thresholds })).toMatchObject({
      '/scope/label': 'label',
      '/thresholds/0/people/0': 'thresholds.0.people',
      '/thresholds/0/emails/1': 'thresholds.0.emails',
    })
  })
})

test('a budget is described by what it counts and when', () => {
  expect([scopeInWords(NO_SCOPE), scopeInWords({ ...BUDGET.scope, model: 'gpt-5' })]).toEqual([
    'All entries',
    'Acme · model gpt-5',
  ])
  expect([
    spanInWords({ from: '2026-11-01', to: '2026-11-30' }),
    spanInWords({ from: '2026-11-01', to: null }),
    spanInWords({ from: null, to: '2026-11-30' }),
    spanInWords({ from: null, to: null }),
  ]).toEqual(['Nov 2026', 'From 1 Nov 2026', 'Until 30 Nov 2026', 'All time'])
})

test('the entries of a budget are those of the API, with further filters', () => {
  const month = 'starting_at=2026-11-01T00%3A00%3A00.000Z&ending_at=2026-12-01T00%3A00%3A00.000Z'
  const url = `/api/v1/token-entries?${month}`
  expect(entriesPageOf(url, 'UTC')).toBe('/entries?period=2026-11-01..2026-11-30')
  expect(entriesPageOf(url, 'UTC', { priced: 'false' })).toBe('/entries?period=2026-11-01..2026-11-30&priced=false')
  expect(entriesPageOf(url, 'Europe/Berlin')).toBe(`/entries?${month}`)
})

test('the overview shows the most used budgets first', () => {
  const budget = (name: string, spent: number, available: number): BudgetSummary => ({
    ...BUDGET,
    name,
    current: { from: null, to: null, spent, available, state: 'nearly', complete: true },
  })
  const budgets = [budget('85%', 85, 100), budget('130%', 26, 20), budget('99%', 990, 1_000)]
  expect(byUse(budgets).map(({ name }) => name)).toEqual(['130%', '99%', '85%'])
})

describe('the burn-down chart', () => {
  const days = [
    { date: '2026-11-01', spent: 10 },
    { date: '2026-11-02', spent: 25 },
  ]
  const size = { width: 464, height: 136, format: AMOUNTS.money }
  const chart = { days, from: '2026-11-01', to: '2026-11-04', available: 100, isCurrent: true }

  test('goes on to the last day of the period, or ends today if that is far away or missing', () => {
    expect(axisDays(chart)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04'])
    for (const to of [null, '2999-12-31']) expect(axisDays({ days, to })).toEqual(['2026-11-01', '2026-11-02'])
  })

  test('leads from nothing to what is spent today, and from there to the forecast and its range', () => {
    const { spent, forecast, today } = linesOf({ ...chart, forecast: { amount: 80, low: 60, high: 100 } }, size)
    expect(spent).toBe('M64 108L164 98L214 83')
    expect(forecast).toEqual({ line: 'M214 83L464 28', band: 'M214 83L464 8L464 48z' })
    expect(today).toBe(214)
  })

  test('marks neither today nor a forecast after the period', () => {
    const { forecast, today } = linesOf({ ...chart, to: '2026-11-02', isCurrent: false, forecast: null }, size)
    expect([forecast, today]).toEqual([null, null])
  })

  test('leaves out the days before anything was spent if the budget has no first day', () => {
    const quiet = ['2026-10-29', '2026-10-30', '2026-10-31'].map((date) => ({ date, spent: 0 }))
    expect(shownDays([...quiet, ...days], null)).toEqual([quiet[2]!, ...days])
    expect(shownDays([...quiet, ...days], '2026-10-29')).toHaveLength(5)
    expect(shownDays(quiet, null)).toEqual(quiet)
  })
})

const ROLES = {
  admin: 'ines.marques@meridian.example',
  billing: 'hanna.lindqvist@meridian.example',
  member: 'jonas.weber@meridian.example',
} as const

const EXCESS_WIDTH = 'document.documentElement.scrollWidth - window.innerWidth'

/** The demo data and a browser take some seconds, and several times as long on a busy machine. */
const LONG_MS = 180_000

/** A new budget is counted within seconds; two busy cores take longer. */
const COUNTED_MS = 60_000

describe.skipIf(!CHROMIUM)('the pages of budgets', () => {
  const web = webStage({ demo: true })
  let billing: Ask

  beforeAll(async () => {
    billing = await signedInAt(web.server.url, { email: ROLES.billing, password: DEMO_PASSWORD })
  })

  async function visiting(
    who: keyof typeof ROLES,
    look: (visitor: Visit) => Promise<void>,
    options: Omit<VisitOptions, 'url' | 'as'> = {},
  ) {
    const visitor = await web.visit({ as: { email: ROLES[who], password: DEMO_PASSWORD }, ...options })
    try {
      await look(visitor)
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }

  const fits = async ({ page, barriers }: Visit) => {
    expect(await barriers()).toEqual([])
    expect(await page.evaluate<number>(EXCESS_WIDTH)).toBe(0)
  }

  for (const size of ['desk', 'phone'] as const) {
    test(
      `billing adds a budget, sees it exceeded, changes it, archives it and restores it (${size})`,
      () =>
        visiting(
          'billing',
          async (visitor) => {
            const { page, open, settled } = visitor
            const name = `Everything (${size})`
            await open('/budgets')
            await page.getByRole('button', { name: 'Add budget' }).click()
            const dialog = page.getByRole('dialog')
            await dialog.getByRole('button', { name: 'Add budget' }).click()
            await dialog.getByText('Enter an amount.').waitFor()
            await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
            await dialog.getByRole('textbox', { name: 'Amount (USD)' }).fill('100')
            await dialog.getByRole('combobox', { name: 'Period' }).click()
            await page.getByRole('option', { name: 'Quarterly' }).click()
            await dialog.getByRole('textbox', { name: 'Label' }).fill('no label')
            await dialog.getByRole('button', { name: 'Add budget' }).click()
            await dialog.getByText('Must be name:value').waitFor()
            await page.locator('[placeholder="repository:acme/web"]:focus').waitFor()
            // Chromium itself says so of every answer that refuses.
            expect(visitor.issues().filter((issue) => !issue.includes('422'))).toEqual([])
            await fits(visitor)
            await dialog.getByRole('textbox', { name: 'Label' }).fill('')
            await dialog.getByRole('button', { name: 'Add budget' }).click()

            await page.getByRole('heading', { level: 1, name }).waitFor()
            await page.getByText('Exceeded', { exact: true }).waitFor({ timeout: COUNTED_MS })
            await page.getByText('Over budget').waitFor()
            const { data } = await billing('GET /budgets')
            const { id } = data.find((budget: BudgetSummary) => budget.name === name)
            const status = await billing(`GET /budgets/${id}/status`)
            expect(status).toMatchObject({ available: 100, state: 'exceeded', complete: true })
            await page.getByRole('button', { name: 'Show as table' }).click()
            expect(await page.getByRole('table', { name: 'Chart data' }).locator('tbody tr').count()).toBe(
              status.days.length,
            )
            await settled()
            await fits(visitor)

            await page.getByRole('button', { name: 'Edit' }).click()
            await page.getByRole('dialog').getByRole('textbox', { name: 'Amount (USD)' }).fill('1000000')
            await page.getByRole('dialog').getByRole('button', { name: 'Remove threshold 3' }).click()
            await page.getByRole('dialog').getByRole('button', { name: 'Save changes' }).click()
            await page.getByText('Within budget').waitFor()
            expect(await billing(`GET /budgets/${id}`)).toMatchObject({
              amount: 1_000_000,
              thresholds: [{ percent: 50 }, { percent: 80 }],
            })

            const act = async (action: string) => {
              await page.getByRole('button', { name: 'More actions' }).click()
              await page.getByRole('menuitem', { name: action }).click()
            }
            await act('Archive')
            await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
            await page.getByText('archived', { exact: true }).waitFor()
            await page.getByRole('dialog').waitFor({ state: 'detached' })
            await settled()
            await fits(visitor)
            await open('/budgets')
            expect(await page.getByText(name).count()).toBe(0)
            await page.getByRole('radiogroup', { name: 'Budgets to show' }).getByText('Archived').click()
            await page.getByText(name).click()
            await page.getByRole('heading', { level: 1, name }).waitFor()
            await act('Restore')
            await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
            await page.getByText('Within budget').waitFor({ timeout: COUNTED_MS })
          },
          { size },
        ),
      LONG_MS,
    )
  }

  test(
    'lead from what is spent to the entries that count, and from the budget of a project to its page',
    () =>
      visiting('admin', async ({ page, open, settled }) => {
        const { data } = await billing('GET /budgets?limit=100')
        const { id, name, scope } = data.find(({ of_project }: BudgetSummary) => of_project)
        await open(`/work/projects/${scope.project.id}`)
        // They are below the fold, and load for whoever tabs there.
        await page.keyboard.press('Tab')
        await page
          .getByRole('table', { name: /^Budgets of/ })
          .getByRole('button', { name })
          .click()
        await page.getByRole('heading', { level: 1, name }).waitFor()
        const { entries } = await billing(`GET /budgets/${id}/status`)
        await page.getByText(`${entries.toLocaleString('en-US')} entries`).waitFor()
        await page
          .getByRole('main')
          .getByRole('link', { name: /^\$[\d,.]+$/ })
          .click()
        await page.getByRole('heading', { level: 1, name: 'Entries' }).waitFor()
        await page.locator('main tbody tr').first().waitFor()
        await settled()
        expect(new URL(page.url()).searchParams.get('project')).toBe(scope.project.id)
      }),
    LONG_MS,
  )

  test(
    'show on the overview and on the page of a client what is nearly used up',
    () =>
      visiting('admin', async (visitor) => {
        const { page, open } = visitor
        const { data } = await billing('GET /projects?limit=100')
        const { client } = data.find((project: { client: unknown }) => project.client !== null)
        await billing('POST /budgets', {
          name: 'Small change',
          amount: 0.01,
          period: 'year',
          scope: { client: client.id },
        })
        await open(`/work/clients/${client.id}`)
        await page.keyboard.press('Tab')
        await page
          .getByRole('table', { name: `Budgets of ${client.name}` })
          .getByText('Small change')
          .waitFor()
        await page.getByText('Exceeded', { exact: true }).first().waitFor({ timeout: COUNTED_MS })
        await open('/')
        await page.getByRole('heading', { name: 'Budgets nearly used up or exceeded' }).waitFor()
        await page.getByRole('link', { name: 'Small change' }).waitFor()
        await fits(visitor)
      }),
    LONG_MS,
  )

  test(
    'offer members no changes, and say why a test alert cannot be sent without a mail server',
    async () => {
      await visiting('member', async (visitor) => {
        const { page, open } = visitor
        await open('/budgets')
        expect(await page.getByRole('button', { name: 'Add budget' }).count()).toBe(0)
        await fits(visitor)
      })
      const visitor = await web.visit({ as: { email: ROLES.admin, password: DEMO_PASSWORD } })
      const { page, open } = visitor
      const { data } = await billing('GET /budgets?limit=1')
      await open(`/budgets/${data[0].id}`)
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Send test alert' }).click()
      await page.getByText('No mail server or sender address is configured').waitFor()
      await visitor.close()
    },
    LONG_MS,
  )
})
