/** The locale of the organization and of a person, on pages and in date fields. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { Installation, type Server } from '../../support/binary.ts'
import { CHROMIUM, launchBrowser, visit } from '../../support/browser.ts'
import { setupLink } from '../../support/web-stage.ts'

const STORY_MS = 180_000

describe.skipIf(!CHROMIUM)('the locale', () => {
  let installation: Installation
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    installation = await Installation.brief()
    server = await installation.serve([])
    browser = await launchBrowser()
  }, STORY_MS)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await installation?.remove()
  })

  test(
    'is that of the browser at the setup, and then the organization’s, unless the person chooses another',
    async () => {
      const link = await setupLink(server)
      const { page, open, issues, close } = await visit(browser, { url: server.url })
      const locale = page.getByLabel('Numbers and dates')
      /** What a date field makes of a day. */
      const shownFor = async (typed: string) => {
        await open('/prices?tab=cost')
        const field = page.getByLabel('Date').first()
        await field.fill(typed)
        await field.press('Tab')
        return field.inputValue()
      }

      await open(link.slice(server.url.length))
      expect(await locale.inputValue()).toBe('en-GB')
      await page.getByRole('group', { name: 'Organization' }).getByLabel('Name').fill('Acme')
      const admin = page.getByRole('group', { name: 'Your admin account' })
      await admin.getByLabel('Name').fill('Ada')
      await admin.getByLabel('E-mail address').fill('ada@example.com')
      await admin.getByLabel('Password', { exact: true }).fill('correct horse battery')
      await page.getByRole('button', { name: 'Set up Tally' }).click()
      await page.getByRole('heading', { level: 1, name: 'Connect an agent' }).waitFor()
      expect(await shownFor('5/9/2026')).toBe('5 Sept 2026')

      await open('/settings')
      expect(await locale.inputValue()).toBe('en-GB')
      await locale.selectOption('de-DE')
      await page.getByText('21. Nov. 2026 and 1.234,50').waitFor()
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('Settings saved.').waitFor()
      expect(await shownFor('5.9.2026')).toBe('5. Sept. 2026')

      await open('/account')
      await page.getByText('1.234.567').waitFor()
      await page
        .getByRole('option', { name: 'As in the organization (German (Germany))' })
        .waitFor({ state: 'attached' })
      await locale.selectOption('en-US')
      await page.getByText('1,234,567').waitFor()
      expect(await shownFor('9/5/2026')).toBe('Sep 5, 2026')
      expect(issues()).toEqual([])
      await close()
    },
    STORY_MS,
  )
})
