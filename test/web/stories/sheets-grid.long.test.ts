/** Filling in a token sheet in the browser: the grid, pasted numbers, and the questions before something unusual. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

/** Of the page: tests are checked without the library of the DOM. */
interface ClipboardOfBrowser {
  DataTransfer: new () => { setData(type: string, data: string): void }
  ClipboardEvent: new (type: string, options: object) => Event
}

const ADA = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const

describe.skipIf(!CHROMIUM)('a token sheet', () => {
  const web = webStage({ people: [ADA] })

  test('is filled in like a spreadsheet', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/sheets')
    await page.getByRole('button', { name: 'New sheet' }).click()
    await page.getByRole('button', { name: 'Create sheet' }).click()
    await page.getByRole('button', { name: 'Add row' }).click()
    const form = page.getByRole('dialog', { name: 'Add row' })
    await form.getByLabel('Ticket').fill('ACME-42')
    await form.getByLabel('Harness').fill('browser')
    await form.getByLabel('Agent').fill('chat')
    await form.getByLabel('Model').fill('gpt-5')
    // Closes the suggestions, which may cover the button.
    await form.getByLabel('Model').press('Tab')
    await form.getByRole('button', { name: 'Add row' }).click()

    const grid = page.getByRole('grid', { name: 'Week' })
    // The cell of today: later days can't be filled in.
    const cell = grid.locator('td[tabindex="0"]')
    const measure = async (name: string) => {
      await page.getByRole('combobox', { name: 'Number in the cells' }).click()
      await page.getByRole('option', { name }).click()
    }
    await measure('Input tokens')
    const saving = Promise.withResolvers<void>()
    await page.route(
      '**/sheets/*/entries*',
      async (route) => {
        await saving.promise
        await route.continue()
      },
      { times: 1 },
    )
    await cell.press('1')
    await page.keyboard.type('.23M')
    await page.keyboard.press('Enter')
    // What is typed into a cell that is being saved is not lost.
    await grid.locator('[aria-busy="true"]').waitFor()
    await cell.press('4')
    await cell.press('2')
    saving.resolve()
    const editor = grid.locator('input:focus')
    await editor.waitFor()
    expect(await editor.inputValue()).toBe('42')
    await page.keyboard.press('Escape')
    await grid.getByRole('gridcell', { name: /ACME-42, .*: 1\.23M/ }).waitFor()

    // What can't be read stays, with the reason.
    await cell.press('F2')
    await editor.waitFor()
    await editor.fill('3.400')
    await page.keyboard.press('Enter')
    await page.getByText('“3.400” could be 3,400 or 3.4.', { exact: false }).waitFor()
    await page.keyboard.press('Escape')

    // A block of a spreadsheet: one cell, as this may be the first day of the week.
    const paste = (text: string) =>
      cell.evaluate((target, data) => {
        const { DataTransfer, ClipboardEvent } = globalThis as unknown as ClipboardOfBrowser
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', data)
        target.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
      }, text)
    await paste('1 500 000\n')
    await grid.getByRole('gridcell', { name: /ACME-42, .*: 1\.50M/ }).waitFor()
    await cell.press('Control+z')
    await grid.getByRole('gridcell', { name: /ACME-42, .*: 1\.23M/ }).waitFor()
    await paste('5\n6\n')
    await page.getByText('Row 2, column 1 of what you pasted is outside of the grid. Nothing was pasted.').waitFor()

    // $125.00 for one dollar fifty of tokens is asked about; the answer no changes nothing.
    await measure('Cost (USD)')
    await cell.press('1')
    await page.keyboard.type('25')
    await page.keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: 'Save these costs?' })
    await question.getByText('$125.00 for 1,230,000 tokens').waitFor()
    expect(await visitor.barriers()).toEqual([])
    await question.getByRole('button', { name: 'Cancel' }).click()
    await grid.getByRole('gridcell', { name: /: \$1\.5375/ }).waitFor()
    await page.locator('tfoot').getByText('$1.5375').first().waitFor()
    expect(await visitor.barriers()).toEqual([])
    await visitor.close()
  }, 180_000)

  test('asks before a second one for the same days, and before costs that are far from the list value', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/sheets')
    await page.getByRole('button', { name: 'New sheet' }).click()
    const dialog = page.getByRole('dialog', { name: 'New token sheet' })
    await dialog.getByRole('button', { name: 'Create sheet' }).click()
    await dialog.getByText('You already have a sheet for these days').waitFor()
    await dialog.getByRole('button', { name: 'Create another sheet' }).waitFor()
    expect(await visitor.barriers()).toEqual([])
    await dialog.getByRole('alert').getByRole('link').click()
    await page.getByRole('button', { name: 'Add entry' }).click()

    // What was used last is filled in, and the entry starts today.
    const form = page.getByRole('dialog', { name: 'Add entry' })
    await form.getByLabel('Harness').waitFor()
    expect(await form.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('gpt-5')
    expect(await form.getByLabel('Started').textContent()).toContain(String(new Date().getFullYear()))
    const input = form.getByRole('textbox', { name: 'Input', exact: true })
    await input.fill('3.400')
    await form.getByRole('textbox', { name: 'Output', exact: true }).fill('515k')
    await form.getByText('“3.400” could be 3,400 or 3.4.', { exact: false }).waitFor()
    expect(await form.getByRole('textbox', { name: 'Output', exact: true }).inputValue()).toBe('515k')
    await form.getByRole('button', { name: 'Add entry' }).click()
    expect(await form.getByRole('textbox', { name: 'Output', exact: true }).inputValue()).toBe('515,000')
    await input.fill('1.23 M')
    await form.getByLabel('Cost (USD)').fill('$1,250.00')
    await form.getByRole('button', { name: 'Add entry' }).click()
    await form.getByText('Is this cost right?').waitFor()
    expect(await input.inputValue()).toBe('1,230,000')
    await form.getByLabel('Cost (USD)').fill('$6.50')
    await form.getByRole('button', { name: 'Add entry' }).click()
    await form.waitFor({ state: 'detached' })

    await page.getByText('List', { exact: true }).click()
    await page.getByText('$6.50').first().waitFor()
    await visitor.close()
  }, 180_000)

  test('shows the fields that the organization requires', async () => {
    const ask = await signedInAt(web.server.url, ADA)
    await ask('PATCH /settings', { sheet_required_fields: ['summary'] })
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/sheets')
    await page.getByRole('table', { name: 'Token sheets' }).getByRole('row').nth(1).click()
    await page.getByText('Missing: summary').first().waitFor()
    await page.getByRole('button', { name: 'Submit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Submit' }).click()
    await dialog
      .getByText('2 entries lack a field that the organization requires (summary).', { exact: false })
      .waitFor()
    await visitor.close()
  }, 180_000)
})
