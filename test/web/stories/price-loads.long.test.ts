/** Loading a price table, seeing what it changes, undoing it, and updating from a source, in the browser. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHROMIUM } from '../../support/browser.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', role: 'billing', password: 'correct horse battery' } as const
/** The price of a dated name is a change of the undated one's, which is in force until then. */
const TABLE = 'provider,model,input,output\nopenai,gpt-5,2,10\nopenai,gpt-5-2025-08-07,4,10\nopenai,gpt-99,1,2\n'

describe.skipIf(!CHROMIUM)('loads of price tables', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-prices-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const source = join(folder, 'source.csv')
  const web = webStage({ people: [ADA], args: ['--log-level', 'warn', '--prices-from', source] })

  test('show the price before and after, skip an older table, and are undone', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/prices/load')
    const file = join(folder, 'prices.csv')
    writeFileSync(file, TABLE)
    utimesSync(file, new Date('2020-01-01'), new Date('2020-01-01'))
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByRole('button', { name: 'Preview changes' }).click()
    await page.getByText('as of 2020-01-01 (when the file was last modified)').waitFor()
    const skipped = page.getByRole('table', { name: 'Skipped, because the prices in use are newer' })
    expect(await skipped.textContent()).toContain('gpt-5')
    await page.getByLabel('Load older prices').click()
    const changed = page.getByRole('table', { name: 'Changed' })
    await changed.getByRole('row', { name: /^gpt-5 ·/ }).waitFor()
    expect(await changed.textContent()).toMatch(/1\.25 2.*Built-in table.*Loaded table, 2020-01-01/)
    expect(await changed.getByRole('row', { name: /^gpt-5-2025-08-07/ }).textContent()).toMatch(/1\.25 4\+220\.0%/)
    expect(await page.getByRole('table', { name: 'New' }).textContent()).not.toContain('gpt-5')
    expect(await visitor.barriers()).toEqual([])
    await page.getByRole('button', { name: 'Load price table' }).click()
    await page.getByText('Loaded 1 new and 2 changed prices.').waitFor()

    await visitor.go('/prices?tab=loads')
    const loads = page.getByRole('table', { name: 'Loads of price tables' })
    await loads.getByText('prices.csv').waitFor()
    await loads.getByRole('button', { name: 'Undo prices.csv' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('No entry has a list value from it.').waitFor()
    await dialog.getByRole('button', { name: 'Undo load' }).click()
    await loads.getByText('by Ada').nth(1).waitFor()
    expect(await visitor.barriers()).toEqual([])
    await visitor.close()
  }, 180_000)

  test('warn of prices that the table leaves out, and show in which direction the others change', async () => {
    const { token } = await web.installation.createToken('svc', ADA.email)
    const at = new Date(Date.now() - 3_600_000).toISOString()
    const entry = {
      agent_harness: 'codex',
      agent_name: 'builder',
      started_at: at,
      ended_at: at,
      tokens: { input: 1, output: 1 },
    }
    const ask = await signedInAt(web.server.url, ADA)
    await ask('POST /prices', { model: 'sonnet', input: 2, output: 10, cache_write: 2.5, effective_from: 'always' })
    await ask('POST /prices', { model: 'opus', input: 5, output: 25, effective_from: 'always' })
    for (const model of ['sonnet', 'opus']) {
      const { status } = await web.server.call('POST', '/api/v1/token-entries', { token, body: { ...entry, model } })
      expect(status).toBe(201)
    }
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/prices/load')
    await page.getByLabel('Price table').fill('provider,model,input,output\n,sonnet,4,20\n,opus,2,15\n')
    await page.getByRole('button', { name: 'Preview changes' }).click()
    const used = page.getByRole('table', { name: 'Models in use whose price changes' })
    expect(await used.getByRole('row', { name: /^sonnet/ }).textContent()).toContain('+100.0%')
    expect(await used.getByRole('row', { name: /^opus/ }).textContent()).toContain('-60.0%')
    const warning = page.getByRole('alert').filter({ hasText: '1 price is removed' })
    expect(await warning.textContent()).toContain('1 of these models is in use')
    expect(await visitor.barriers()).toEqual([])
    expect(visitor.issues()).toEqual([])
    await visitor.close()
  }, 180_000)

  test('show the first prices of each kind in any order, and all of them', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/prices/load')
    const rows = Array.from({ length: 30 }, (_, index) => `house,house-${index},${index + 1},10`)
    await page.getByLabel('Price table').fill(`provider,model,input,output\n${rows.join('\n')}\n`)
    await page.getByRole('button', { name: 'Preview changes' }).click()
    const added = page.getByRole('table', { name: 'New' })
    await added.getByRole('button', { name: 'Input' }).click()
    await added.getByRole('row', { name: /^house-29 ·/ }).waitFor()
    expect(await added.locator('tbody tr[data-key]').count()).toBe(10)
    await page.getByRole('button', { name: 'Show all 30' }).click()
    // Only the rows in sight are rendered.
    await page.evaluate('scrollTo({ top: document.body.scrollHeight })')
    await added.getByRole('row', { name: /^house-0 ·/ }).waitFor()
    await visitor.close()
  }, 180_000)

  test('come from the configured source, or say why not', async () => {
    const visitor = await web.visit({ as: ADA })
    const { page } = visitor
    await visitor.open('/prices?tab=loads')
    await page.getByRole('button', { name: 'Update prices' }).click()
    await page.getByText('cannot be read', { exact: false }).first().waitFor()
    writeFileSync(source, TABLE)
    await page.getByRole('button', { name: 'Update prices' }).click()
    await page.getByText('Loaded 1 new and 2 changed prices.').waitFor()
    await page.getByText('source.csv').first().waitFor()
    await visitor.close()
  }, 180_000)
})
