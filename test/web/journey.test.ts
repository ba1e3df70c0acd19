/**
 * From an empty folder to a bill, as one person does it in one sitting, on the real executable: the one test of pages in
 * the default tier that clicks through them. `walks/pages.test.ts` looks at all of them.
 */
import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { CHROMIUM } from '../support/browser.ts'
import { setupLink, webStage } from '../support/web-stage.ts'

const ADA = { email: 'ada@example.com', password: 'correct horse battery' }

const HOSTILE = '<img src=x onerror=window.hacked=1>'

/** Twenty steps that each wait for a page, on two cores that do other things as well. */
const JOURNEY_MS = 400_000

const EXCESS_WIDTH = 'document.documentElement.scrollWidth - window.innerWidth'

describe.skipIf(!CHROMIUM)('first run to first bill', () => {
  const web = webStage({ args: [] })

  test(
    'a link sets Tally up, entries arrive, are assigned, approved and billed, at a desk and on a phone',
    async () => {
      const { page, open, go, settled, issues, barriers, close } = await web.visit()
      const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
      const press = (name: string | RegExp) => page.getByRole('button', { name }).click()

      // Set up.
      const link = await setupLink(web.server)
      await open(link.slice(web.server.url.length))
      await page.getByRole('group', { name: 'Organization' }).getByLabel('Name').fill('Acme')
      const admin = page.getByRole('group', { name: 'Your admin account' })
      await admin.getByLabel('Name').fill('Ada')
      await admin.getByLabel('E-mail address').fill(ADA.email)
      await admin.getByLabel('Password', { exact: true }).fill(ADA.password)
      await press('Set up Tally')

      // Create a token, report with the very lines that the page shows, and see it arrive.
      await heading('Connect an agent')
      await page.getByText('Acme is set up').waitFor()
      await press('Create token and copy')
      await page.getByText('It contains the new token “curl”').waitFor()
      const [lines = ''] = await page.locator('main pre').allTextContents()
      expect(await reported(lines)).toMatchObject({ project: null, cost: 0.0132 })
      await page.getByText('Entry received').waitFor()
      expect(await barriers()).toEqual([])

      // Of a repository, so that there is something to make a rule of, at a cost that a bill shows, and with a text that
      // must not become a part of any page.
      const more = `"labels": { "repository": "acme/web" }, "reported_cost": 12.5, "summary": "${HOSTILE}"`
      const elsewhere = lines.replace(/"summary": "[^"]*"/, more)
      expect(await reported(elsewhere)).toMatchObject({ project: null, cost: 12.5, summary: HOSTILE })

      // The overview and the list show both.
      await go('/')
      await page.locator('main [data-figure="cost"][data-value="12.5132"]').first().waitFor()
      expect(await barriers()).toEqual([])
      await go('/entries')
      await page.locator('[data-total="cost"][data-value="12.5132"]').waitFor()
      const costs = (await page.locator('main td[data-title="Cost"]').allTextContents()).map((text) => text.trim())
      await page.getByText(HOSTILE).first().waitFor()
      expect(costs.toSorted()).toEqual(['$0.0132', '$12.5000'])

      // A project, and a rule that places what has no place.
      await go('/work')
      await press(/^New project/)
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(/^Key/).fill('WEB')
      await dialog.getByRole('button', { name: /^(Add|Create|Save)/ }).click()
      await dialog.waitFor({ state: 'detached' })
      await go('/unattributed')
      const group = page.getByRole('row').filter({ hasText: 'acme/web' })
      await group.getByRole('button', { name: /rule/i }).click()
      await chosen(page, /Assign to project/, 'WEB')
      await press('Save rule')
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^(Apply|Place|Move)/ })
        .click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await settled()
      await page.getByRole('row').filter({ hasText: 'acme/web' }).waitFor({ state: 'detached' })

      // Approve it.
      await go('/entries?project=WEB')
      const row = page.locator('main tbody tr').first()
      await row.waitFor()
      await row.click()
      await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
      await page.getByRole('dialog').getByText('Approved', { exact: false }).first().waitFor()

      // See the bill, send it, open its PDF.
      await go('/bills')
      await page.getByRole('link', { name: 'New bill' }).first().click()
      await heading('New bill')
      // The days in the address: a session just after midnight of the first began last month.
      await open(`/bills/new?from=${day(-1)}&to=${day(0)}`)
      await page.getByText('A project', { exact: true }).click()
      await chosen(page, /^Project/, 'WEB')
      await page.getByText('The bill will be sent exactly as shown.').waitFor()
      await press('Send bill…')
      await page.getByRole('dialog').getByLabel('Send the bill now anyway').check()
      await page.getByRole('dialog').getByRole('button', { name: 'Send bill' }).click()
      await heading(/-0001/)
      const [bill] = await bills()
      expect(bill).toMatchObject({ state: 'sent', entries: 1, total: 12.5 })
      await page.getByRole('main').getByText('$12.50').first().waitFor()
      expect(await barriers()).toEqual([])
      await press('Download')
      const downloading = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: 'PDF', exact: true }).click()
      const pdf = await Bun.file(await (await downloading).path()).text()
      expect(pdf).toStartWith('%PDF-')

      // The same on a phone.
      const phone = await web.visit({ as: ADA, size: 'phone' })
      await phone.open('/')
      for (const path of [`/bills/${bill!.id}`, '/entries', '/']) {
        await phone.go(path)
        expect([path, await phone.page.evaluate<number>(EXCESS_WIDTH)]).toEqual([path, 0])
      }
      await phone.page.locator('main [data-figure="cost"][data-value="12.5132"]').first().waitFor()
      expect(await phone.barriers()).toEqual([])
      expect(phone.issues()).toEqual([])
      await phone.close()

      // Void it: the entry is as it was before.
      await press('Void bill…')
      await page
        .getByRole('dialog')
        .getByLabel(/^Reason/)
        .fill('The project belongs to a client')
      await page.getByRole('dialog').getByRole('button', { name: 'Void bill' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await bills()).toMatchObject([{ state: 'void' }])
      await go('/entries?status=approved')
      await page.locator('[data-total="entries"][data-value="1"]').waitFor()
      expect(await page.locator('main tbody tr').count()).toBe(1)

      expect(await page.evaluate('window.hacked')).toBeUndefined()

      // Sign out and in again.
      await page.getByRole('button', { name: /account and sign out/ }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Sign in to Tally' }).waitFor()
      expect((await page.context().request.get(`${web.server.url}/api/v1/bills`)).status()).toBe(401)
      await page.getByLabel('E-mail address').fill(ADA.email)
      await page.getByLabel('Password', { exact: true }).fill(ADA.password)
      await press('Sign in')
      await page.getByRole('link', { name: 'Bills' }).click()
      await heading('Bills')
      await page.getByRole('row').filter({ hasText: bill!.number }).waitFor()
      expect(issues()).toEqual([])
      await close()

      async function bills(): Promise<{ id: string; number: string; state: string }[]> {
        const answer = await page.context().request.get(`${web.server.url}/api/v1/bills`)
        return (await answer.json()).data
      }
    },
    JOURNEY_MS,
  )
})

/** Days from today on, in the zone of the browser and so of the organization. */
function day(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}

/** Runs lines in a shell, as somebody who has copied them, and answers what curl prints. */
async function reported(lines: string): Promise<unknown> {
  const shell = Bun.spawn(['sh', '-c', lines.replace('curl ', 'curl -sS ')], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

/** Types into a field that searches, and takes what it offers. */
async function chosen(page: Page, label: RegExp, text: string): Promise<void> {
  await page.getByLabel(label).fill(text)
  await page.getByRole('option', { name: text }).first().click()
}
