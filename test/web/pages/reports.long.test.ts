/** The page Reports, in a browser: a question, its entries, and the view under which it is saved. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { webStage } from '../../support/web-stage.ts'

const at = (name: string) => ({ email: `${name}@meridian.example`, password: DEMO_PASSWORD })

describe.skipIf(!CHROMIUM)('the page Reports', () => {
  const stage = webStage({ demo: true })

  test('answers a question, whose figures lead to their entries, and opens it again as a shared view', async () => {
    const visitor = await stage.visit({ as: at('ines.marques') })
    const { page } = visitor
    await visitor.open('/reports')
    await page.getByLabel('Measure').selectOption('Tokens')
    await page.getByLabel('Group by').selectOption('Model')
    await page.getByLabel('Then by').selectOption('Person')
    await page.getByLabel('Compare with').selectOption('Previous period')
    const table = page.getByRole('table', { name: 'Usage by model and person' })
    await table.getByRole('columnheader', { name: 'Change' }).waitFor()
    expect(page.url()).toContain('measure=tokens&by=model&second=agent_manager&compare=previous')
    expect(await visitor.barriers()).toEqual([])

    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('menuitem', { name: 'Save as new view' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save view' })
    await dialog.getByLabel('Name').fill('Tokens by model')
    await dialog.getByLabel('Share with the organization').check()
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('button', { name: 'Tokens by model' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Tokens by model' }).waitFor()

    const cell = table.locator('tbody tr').first().getByRole('link').nth(2)
    const figure = await cell.textContent()
    await cell.click()
    const totals = page.getByRole('status', { name: 'Totals of these entries' })
    await totals.getByText(figure!, { exact: true }).waitFor()
    expect(visitor.issues()).toEqual([])

    const member = await stage.visit({ as: at('jonas.weber') })
    await member.open('/reports')
    await member.page.getByRole('button', { name: 'Saved views' }).click()
    await member.page.getByRole('menuitem', { name: /Tokens by model/ }).click()
    const own = member.page.getByRole('table', { name: 'Usage by model and person' })
    await own.getByRole('link', { name: 'Jonas Weber' }).first().waitFor()
    // A member sees figures of their own entries only, whoever shared the view.
    expect(await own.getByRole('link', { name: 'Tomasz Wolny' }).count()).toBe(0)
    await member.close()
    await visitor.close()
  }, 180_000)
})
