/** What becomes of a page that is open while its session ends, the server does not answer, or others change the same. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM, type Visit } from '../../support/browser.ts'
import { webStage } from '../../support/web-stage.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const
const BEN = { name: 'Ben', email: 'ben@example.com', role: 'member', password: 'battery horse correct' } as const

describe.skipIf(!CHROMIUM)('interruptions', () => {
  const web = webStage({ people: [ADA, BEN] })

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
    const visitor = await web.visit({ as: ADA })
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
  }, 180_000)

  test('leaves nothing of a person whose session ended to another who signs in there', async () => {
    const visitor = await web.visit({ as: ADA })
    const { form, again } = await typedAndEnded(visitor)
    await again.getByLabel('E-mail address').fill(BEN.email)
    await again.locator('[autocomplete=current-password]').fill(BEN.password)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await visitor.page.getByRole('button', { name: 'Ben: account and sign out' }).waitFor()
    expect(await form.count()).toBe(0)
    expect(await visitor.page.getByRole('link', { name: 'People' }).count()).toBe(0)
    await visitor.close()
  }, 180_000)

  test('leaves the way to other pages where one cannot be loaded', async () => {
    const visitor = await web.visit({ as: ADA })
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
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    await visitor.close()
  }, 180_000)

  test('says who has changed the same meanwhile, and overwrites it only if that is meant', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    const send = (method: string, path: string, body: object): Promise<{ id: string; name: string }> =>
      page.evaluate(
        async ([method, path, body]) => {
          const headers = { 'content-type': 'application/json' }
          const response = await fetch(`/api/v1/${path}`, { method: method!, headers, body: body! })
          return (await response.json()) as { id: string; name: string }
        },
        [method, path, JSON.stringify(body)],
      )
    await visitor.open('/work')
    const { id } = await send('POST', 'clients', { name: 'Acme Ltd' })
    await visitor.go(`/work/clients/${id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    // The page follows the other change, and names the client as it is called then.
    const form = page.getByRole('dialog', { name: /^Edit Acme/ })
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Acme Inc')
    await send('PATCH', `clients/${id}`, { name: 'Acme GmbH' })
    await form.getByRole('button', { name: 'Save changes' }).click()
    const question = page.getByRole('dialog', { name: 'Changed meanwhile' })
    await question.getByText('changed this').waitFor()
    expect(await visitor.barriers()).toEqual([])
    await question.getByRole('button', { name: 'Go back' }).click()
    await form.getByText('Ada changed this on').waitFor()
    expect(await form.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Acme Inc')
    await form.getByRole('button', { name: 'Save changes' }).click()
    await question.getByRole('button', { name: 'Save anyway' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Acme Inc' }).waitFor()
    await visitor.close()
  }, 180_000)
})
