/** The public URL in a browser that reaches the server over plain HTTP by a name, as in a network without TLS. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { Installation, type Server } from '../../support/binary.ts'
import { CHROMIUM, launchBrowser, visit } from '../../support/browser.ts'
import { setupLink } from '../../support/web-stage.ts'

const PASSWORD = 'correct horse battery'
const STORY_MS = 180_000

describe.skipIf(!CHROMIUM)('the public URL', () => {
  let installation: Installation
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    installation = await Installation.brief()
    server = await installation.serve([])
    browser = await launchBrowser('127.0.0.1', ['tally.lan'])
  }, STORY_MS)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await installation?.remove()
  })

  test(
    'is offered by the setup and the settings, and a wrong one is corrected in the same browser',
    async () => {
      const link = await setupLink(server)
      const url = server.url.replace('127.0.0.1', 'tally.lan')
      const { page, open, issues, close } = await visit(browser, { url })
      const field = page.getByRole('textbox', { name: 'Public URL' })
      const save = async (value: string) => {
        await field.fill(value)
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Settings saved.').last().waitFor()
        await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
      }

      await open(link.slice(server.url.length))
      expect(await field.inputValue()).toBe(url)
      await page.getByRole('group', { name: 'Organization' }).getByLabel('Name').fill('Acme')
      const admin = page.getByRole('group', { name: 'Your admin account' })
      await admin.getByLabel('Name').fill('Ada')
      await admin.getByLabel('E-mail address').fill('ada@example.com')
      await admin.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Set up Tally' }).click()
      await page.getByRole('heading', { level: 1, name: 'Connect an agent' }).waitFor()
      const made = await installation.run(['users', 'reset-password', 'ada@example.com'])
      expect(made.stdout).toStartWith(`${url}/password#`)

      // An address over TLS, which this server does not have.
      await open('/settings')
      expect(await field.inputValue()).toBe(url)
      await save(url.replace('http:', 'https:'))
      await page.context().clearCookies()
      await open('/sign-in')
      await page.getByLabel('E-mail address').fill('ada@example.com')
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('link', { name: 'Settings' }).waitFor()
      await open('/settings')
      await save('')
      await page.getByRole('button', { name: `Use ${url}` }).click()
      expect(await field.inputValue()).toBe(url)
      await save(url)
      // Chromium says of every page without TLS that it ignores this header.
      expect(issues().filter((issue) => !issue.includes('Cross-Origin-Opener-Policy'))).toEqual([])
      await field.fill(`${url}/tally`)
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('Tally can’t run below a path').waitFor()
      await close()
    },
    STORY_MS,
  )
})
