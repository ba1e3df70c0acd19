/** The command palette, pages that update when something changes, and addresses where nothing exists. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { reportBody } from '../../support/reports.ts'
import { webStage } from '../../support/web-stage.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const

/** Types into the focused field without a pause, which keys sent one by one from another process do not promise. */
const typeAtOnce = (text: string) => `(async () => {
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
  for (const typed of ${JSON.stringify(Array.from(text, (_, at) => text.slice(0, at + 1)))}) {
    set.call(document.activeElement, typed)
    document.activeElement.dispatchEvent(new InputEvent('input', { bubbles: true }))
    // React renders what changed before the next letter.
    await Promise.resolve()
  }
})()`

describe.skipIf(!CHROMIUM)('an open page', () => {
  const web = webStage({ people: [ADA] })

  async function reporter() {
    const { stdout } = await web.installation.run([
      'tokens',
      'create',
      '--kind',
      'svc',
      '--name',
      'live',
      '--user',
      ADA.email,
    ])
    const token = /tally_svc_\w+/.exec(stdout)![0]
    return async (number: number) => {
      const json = reportBody({ session_id: `live-${number}`, summary: `Live ${number}`, project: 'ACME' })
      const response = await fetch(`${web.server.url}/api/v1/token-entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(json),
      })
      expect(response.status).toBe(201)
    }
  }

  test('shows what is reported, and waits while somebody is in the middle of the list', async () => {
    const report = await reporter()
    await report(1)
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/entries')
    const rows = page.getByRole('table', { name: 'Token entries' }).locator('tbody tr')
    expect(await rows.count()).toBe(1)
    await report(2)
    await rows.nth(1).waitFor()
    await rows.first().getByRole('checkbox').check()
    await report(3)
    const pill = page.getByRole('button', { name: 'Show new entries' })
    await pill.waitFor()
    expect(await rows.count()).toBe(2)
    await pill.click()
    await rows.nth(2).waitFor()
    expect(visitor.issues()).toEqual([])
    await visitor.close()
  }, 180_000)

  test('finds things with the keyboard, in one request for what was typed', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/settings')
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Search' })
    await field.waitFor()
    await visitor.settled()
    visitor.requests()
    await page.evaluate(typeAtOnce('acme'))
    const project = page.getByRole('option', { name: 'ACME', exact: true })
    await project.waitFor()
    await visitor.settled()
    expect(visitor.requests()).toEqual(['GET /api/v1/search?q=acme'])
    expect(await visitor.barriers()).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'ACME' }).waitFor()
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('group', { name: 'Recent' }).getByRole('option', { name: 'ACME' }).waitFor()
    await field.fill('new tok')
    await page.getByRole('option', { name: 'New token' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'New token' }).waitFor()
    expect(visitor.issues()).toEqual([])
    await visitor.close()
  }, 180_000)

  test('with a filter or an object that does not exist says so in words, with the way back', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/entries?status=lost')
    await page.getByText('has a filter that isn’t valid: status').waitFor()
    await page.getByRole('link', { name: 'Remove filters' }).click()
    await page.getByRole('table', { name: 'Token entries' }).waitFor()
    await page.goto('/work/projects/prj_00000000000000000000000000000000')
    await page.getByRole('link', { name: 'Go back to the list' }).click()
    await page.getByRole('heading', { level: 1, name: 'Work' }).waitFor()
    await visitor.close()
  }, 180_000)

  test('that does not exist leads back, and a used setup link to the sign-in', async () => {
    const visitor = await web.visit({})
    const { page } = visitor
    const response = await page.goto(`${web.server.url}/nowhere`)
    expect(response!.status()).toBe(404)
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.goto(`${web.server.url}/setup#0123456789abcdefghijABCDEFGHIJ01`)
    await page.getByRole('heading', { name: 'Tally is already set up' }).waitFor()
    await page.getByRole('link', { name: 'sign in' }).click()
    await page.getByRole('heading', { name: 'Sign in to Tally' }).waitFor()
    await visitor.close()
  }, 180_000)
})
