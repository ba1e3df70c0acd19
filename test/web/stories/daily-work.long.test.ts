/** What people do every day, on data as they have: dialogs, reports and the overview. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const of = (user: string) => ({ email: `${user}@meridian.example`, password: DEMO_PASSWORD })
const ADMIN = of('ines.marques')
const BILLING = of('hanna.lindqvist')
const LEAD = of('mara.vogel')
const MEMBER = of('jonas.weber')

const TEST_MS = 180_000

describe.skipIf(!CHROMIUM)('the day of', () => {
  const web = webStage({ demo: true })

  test(
    'an admin: a project suggests the repositories of its entries',
    async () => {
      const ask = await signedInAt(web.server.url, ADMIN)
      const [project] = (await ask('GET /projects?search=PORTAL')).data
      const { page, open, issues, close } = await web.visit({ as: ADMIN })
      try {
        await open(`/work/projects/${project.id}`)
        await page.getByRole('button', { name: 'Edit', exact: true }).click()
        await page.getByRole('button', { name: 'Add lumen/portal' }).click()
        await page.getByRole('button', { name: 'Add lumen/portal' }).waitFor({ state: 'detached' })
        expect(issues()).toEqual([])
      } finally {
        await close()
      }
    },
    TEST_MS,
  )

  test(
    'an admin: a viewer who was invited is shown what they may see',
    async () => {
      const { page, open, barriers, issues, close } = await web.visit({ as: ADMIN })
      try {
        await open('/people?invite=true')
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Name').fill('Nora')
        await dialog.getByLabel('E-mail address').fill('nora@kestrel.example')
        await dialog.getByRole('radio', { name: 'Viewer' }).check()
        await dialog.getByRole('button', { name: 'Invite' }).click()
        await dialog.getByText('This viewer can’t see anything yet.').waitFor()
        expect(await barriers()).toEqual([])
        await dialog.getByRole('button', { name: 'Share something with Nora…' }).click()
        const share = page.getByRole('dialog', { name: 'Share with Nora' })
        await share.getByRole('textbox', { name: 'Client' }).fill('Kestrel')
        await page.getByRole('option', { name: 'Kestrel Logistics' }).click()
        await share.getByRole('button', { name: 'Share', exact: true }).click()
        await share.waitFor({ state: 'detached' })
        await dialog.getByRole('button', { name: 'Change Kestrel Logistics' }).waitFor()
        // What was entered is saved, so that nothing asks.
        await dialog.getByRole('button', { name: 'Close' }).click()
        await dialog.waitFor({ state: 'detached' })
        expect(issues()).toEqual([])
      } finally {
        await close()
      }
    },
    TEST_MS,
  )

  test(
    'billing: a payment begins with its amount, and a period without entries cost nothing',
    async () => {
      const ask = await signedInAt(web.server.url, BILLING)
      const [bill] = (await ask('GET /bills?state=sent')).data
      const { page, open, go, issues, close } = await web.visit({ as: BILLING })
      try {
        await open(`/bills/${bill.id}`)
        await page.getByRole('button', { name: 'Record payment…' }).click()
        const dialog = page.getByRole('dialog')
        await dialog
          .getByLabel(/^Amount in/)
          .and(page.locator(':focus'))
          .waitFor()
        // No calendar covers the form, until somebody wants one.
        const calendar = page.locator('[data-dates-dropdown]')
        expect(await calendar.count()).toBe(0)
        const day = dialog.getByLabel('Paid on')
        await page.keyboard.press('Tab')
        await day.and(page.locator(':focus')).waitFor()
        const today = await day.inputValue()
        await page.keyboard.press('Control+A')
        await page.keyboard.type(today)
        expect(await calendar.count()).toBe(0)
        await page.keyboard.press('ArrowDown')
        await calendar.locator('button[data-selected]').click()
        await calendar.waitFor({ state: 'detached' })
        expect(await day.inputValue()).toBe(today)
        await day.click()
        await calendar.waitFor()
        await page.keyboard.press('Tab')
        await calendar.waitFor({ state: 'detached' })

        await go('/reports?by=model&compare=year&period=year&client=Kestrel+Logistics')
        const total = page.getByRole('table', { name: 'Model' }).or(page.locator('main table')).last().locator('tfoot')
        await total.getByText('$0.00new').waitFor()
        await go('/reports?by=model&bucket=1mo&period=year')
        await page.getByRole('button', { name: 'Show as table' }).click()
        const chart = page.getByRole('table', { name: 'Chart data' })
        expect(await chart.getByRole('row').count()).toBeGreaterThan(2)

        await page.getByRole('button', { name: 'Filter', exact: true }).click()
        await page
          .getByRole('listbox', { name: 'Filters' })
          .getByRole('option', { name: 'Client', exact: true })
          .click()
        await page.getByRole('option', { name: 'Kestrel Logistics' }).click()
        await page.getByRole('listbox', { name: 'Client' }).waitFor({ state: 'detached' })
        await page.waitForURL(/client=Kestrel/)
        expect(issues()).toEqual([])
      } finally {
        await close()
      }
    },
    TEST_MS,
  )

  test(
    'a lead: the overview says how many entries the lead may approve',
    async () => {
      const ask = await signedInAt(web.server.url, LEAD)
      const items: { kind: string; count: number }[] = (await ask('GET /inbox')).data
      const waiting = items
        .filter(({ kind }) => kind === 'entries_to_approve')
        .reduce((sum, { count }) => sum + count, 0)
      expect(waiting).toBeGreaterThan(0)
      const { page, open, issues, close } = await web.visit({ as: LEAD })
      try {
        await open('/')
        await page
          .getByRole('link', { name: new RegExp(`^Entries to approve .* ${waiting.toLocaleString('en')} `) })
          .click()
        await page.getByRole('heading', { name: /^Entries to approve/ }).waitFor()
        expect(issues()).toEqual([])
      } finally {
        await close()
      }
    },
    TEST_MS,
  )

  test(
    'a member: Esc closes the form of an entry before the entry, and asks if something was entered',
    async () => {
      const { page, open, barriers, issues, close } = await web.visit({ as: MEMBER })
      try {
        await open('/entries?status=submitted')
        await page.locator('tbody tr[data-key]').first().click()
        const drawer = page.getByRole('dialog').first()
        const change = drawer.getByRole('button', { name: /^(Change|Assign)$/ })
        await change.click()
        const project = drawer.getByRole('textbox', { name: 'Project', exact: true })
        await project.and(page.locator(':focus')).waitFor()
        expect(await barriers()).toEqual([])
        await page.keyboard.press('Escape')
        await page.keyboard.press('Escape')
        await change.and(page.locator(':focus')).waitFor()

        await change.click()
        await project.fill('TOOLS')
        await page.getByRole('option', { name: /TOOLS/ }).click()
        await page.keyboard.press('Escape')
        const question = page.getByRole('dialog', { name: 'Discard changes?' })
        await question.getByRole('button', { name: 'Keep editing' }).click()
        await question.waitFor({ state: 'detached' })
        expect(await project.inputValue()).toContain('TOOLS')
        // The next entry would discard it, too.
        await drawer.getByRole('button', { name: 'Next entry (j)' }).click()
        await question.getByRole('button', { name: 'Discard changes' }).click()
        await question.waitFor({ state: 'detached' })
        await project.waitFor({ state: 'detached' })
        await page.keyboard.press('Escape')
        await drawer.waitFor({ state: 'detached' })
        expect(issues()).toEqual([])
      } finally {
        await close()
      }
    },
    TEST_MS,
  )
})
