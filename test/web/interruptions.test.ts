/** What becomes of a page that is open while its session ends, or the server does not answer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { Installation, type Server } from '../support/binary.ts'
import { CHROMIUM, launchBrowser, type Visit, visit } from '../support/browser.ts'

const ADA = { email: 'ada@example.com', password: 'correct horse battery' }
const BEN = { email: 'ben@example.com', password: 'battery horse correct' }

describe.skipIf(!CHROMIUM)('interruptions', () => {
  let installation: Installation
  let server: Server
  let browser: Browser

  beforeAll(async () => {
    installation = await Installation.make()
    for (const [person, name, role] of [[ADA, 'Ada', 'admin'] as const, [BEN, 'Ben', 'member'] as const]) {
      const add = ['users', 'add', '--email', person.email, '--name', name, '--role', role, '--password-stdin']
      const { code, stderr } = await installation.run(add, person.password)
      if (code !== 0) throw new Error(stderr)
    }
    server = await installation.serve(['--log-level', 'warn'])
    browser = await launchBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await installation?.remove()
  })

  /** A project is being typed when the session ends. */
  async function typedAndEnded(visitor: Visit) {
    const { page, context } = visitor
    await visitor.open('/work')
    await page.getByRole('button', { name: 'New project' }).click()
    const form = page.getByRole('dialog', { name: 'New project' })
    await form.getByLabel('Key').fill('ACME')
    await context.clearCookies()
    await form.getByRole('button', { name: 'Create project' }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.waitFor()
    return { form, again }
  }

  test('keeps what was typed when a session ends, and sends it once one is signed in again', async () => {
    const visitor = await visit(browser, { url: server.url, as: ADA })
    const { form, again } = await typedAndEnded(visitor)
    await visitor.page.keyboard.press('Escape')
    expect(await visitor.barriers()).toEqual([])
    await again.locator('[autocomplete=current-password]').fill(ADA.password)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.waitFor({ state: 'detached' })
    expect(await form.getByLabel('Key').inputValue()).toBe('ACME')
    await form.getByRole('button', { name: 'Create project' }).click()
    await form.waitFor({ state: 'detached' })
    await visitor.page.getByRole('heading', { level: 1, name: 'ACME' }).waitFor()
    await visitor.close()
  }, 60_000)

  test('leaves nothing of a person whose session ended to another who signs in there', async () => {
    const visitor = await visit(browser, { url: server.url, as: ADA })
    const { form, again } = await typedAndEnded(visitor)
    await again.getByLabel('E-mail address').fill(BEN.email)
    await again.locator('[autocomplete=current-password]').fill(BEN.password)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await visitor.page.getByRole('button', { name: 'Ben: account and sign out' }).waitFor()
    expect(await form.count()).toBe(0)
    expect(await visitor.page.getByRole('link', { name: 'People' }).count()).toBe(0)
    await visitor.close()
  }, 60_000)

  test('leaves the way to other pages where one cannot be loaded', async () => {
    const visitor = await visit(browser, { url: server.url, as: ADA })
    const { page, context } = visitor
    await visitor.open('/work')
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('heading', { name: 'This page couldn’t be loaded' }).waitFor()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByText('Tally is not responding.').waitFor()
    await page.getByRole('link', { name: 'Work' }).click()
    await page.getByRole('heading', { name: 'Work', level: 1 }).waitFor()
    await context.setOffline(false)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    await visitor.close()
  }, 60_000)
})
