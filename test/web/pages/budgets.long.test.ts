/** The pages of budgets, in a browser. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Budget } from '../../../src/web/parts/budgets/budget.ts'
import { CHROMIUM, type SIZES, type Visit, type VisitOptions } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

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

  /** Parts of a page are the same at both sizes. */
  const fits = async ({ page, barriers }: Visit, size: keyof typeof SIZES = 'desk') => {
    if (size === 'desk') expect(await barriers()).toEqual([])
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
            await page.getByRole('button', { name: 'New budget' }).click()
            const dialog = page.getByRole('dialog')
            await dialog.getByRole('button', { name: 'Create budget' }).click()
            await dialog.getByText('Enter an amount.').waitFor()
            await dialog.getByRole('button', { name: 'More', exact: true }).click()
            await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
            await dialog.getByRole('textbox', { name: 'Amount (USD)' }).fill('100')
            await dialog.getByRole('combobox', { name: 'Period' }).click()
            await page.getByRole('option', { name: 'Quarterly' }).click()
            await dialog.getByRole('textbox', { name: 'Label' }).fill('no label')
            // An issue opens what is folded.
            await dialog.getByRole('button', { name: 'More', exact: true }).click()
            await dialog.getByRole('button', { name: 'Create budget' }).click()
            await dialog.getByText('Must be name:value').waitFor()
            await page.locator('[placeholder="repository:acme/web"]:focus').waitFor()
            // Chromium itself says so of every answer that refuses.
            expect(visitor.issues().filter((issue) => !issue.includes('422'))).toEqual([])
            await fits(visitor, size)
            await dialog.getByRole('textbox', { name: 'Label' }).fill('')
            await dialog.getByRole('button', { name: 'Create budget' }).click()

            await page.getByRole('heading', { level: 1, name }).waitFor()
            await page.getByText('Exceeded', { exact: true }).waitFor({ timeout: COUNTED_MS })
            await page.getByText('Over budget').waitFor()
            const { data } = await billing('GET /budgets')
            const { id } = data.find((budget: Budget) => budget.name === name)
            const status = await billing(`GET /budgets/${id}/status`)
            expect(status).toMatchObject({ available: 100, state: 'exceeded', complete: true })
            await page.getByRole('button', { name: 'Show as table' }).click()
            expect(await page.getByRole('table', { name: 'Chart data' }).locator('tbody tr').count()).toBe(
              status.days.length,
            )
            await settled()
            await fits(visitor, size)

            await page.getByRole('button', { name: 'Edit' }).click()
            await page.getByRole('dialog').getByRole('textbox', { name: 'Amount (USD)' }).fill('1000000')
            await page.getByRole('dialog').getByRole('button', { name: 'More', exact: true }).click()
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
            await fits(visitor, size)
            await open('/budgets')
            expect(await page.getByText(name).count()).toBe(0)
            await page.getByRole('radiogroup', { name: 'Budgets to show' }).getByText('Archived').click()
            // Rows that are just being replaced take no click.
            await page.getByText(name).waitFor()
            await settled()
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
        const { id, name, scope } = data.find(({ of_project }: Budget) => of_project)
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
        const { page, open, go } = visitor
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
        await go('/')
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
        expect(await page.getByRole('button', { name: 'New budget' }).count()).toBe(0)
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
