/** What people do on a phone, where there is less room than anywhere else. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM, SIZES } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { webStage } from '../../support/web-stage.ts'

const BILLING = { email: 'hanna.lindqvist@meridian.example', password: DEMO_PASSWORD }
const MEMBER = { email: 'jonas.weber@meridian.example', password: DEMO_PASSWORD }

const EXCESS_WIDTH = 'document.documentElement.scrollWidth - window.innerWidth'

describe.skipIf(!CHROMIUM)('on a phone', () => {
  const web = webStage({ demo: true })

  test('the period is chosen without scrolling sideways, and the checklist of a billing run can be read', async () => {
    const { page, open, go, barriers, issues, close } = await web.visit({ as: BILLING, size: 'phone' })
    try {
      await open('/account')
      for (const path of ['/', '/entries', '/reports', '/bills']) {
        await go(path)
        await page.getByRole('button', { name: /^Period: / }).click()
        const named = page.getByRole('button', { name: 'Last 12 months' })
        await named.waitFor()
        for (const shown of [named, page.getByRole('table')]) {
          const { x, width } = (await shown.last().boundingBox())!
          expect(x).toBeGreaterThanOrEqual(0)
          expect(x + width).toBeLessThanOrEqual(SIZES.phone.width)
        }
        expect(await page.evaluate<number>(EXCESS_WIDTH)).toBeLessThanOrEqual(0)
      }
      expect(await barriers()).toEqual([])
      await go('/bills/run')
      const row = page.getByRole('table', { name: 'Checklist' }).locator('tbody tr').first()
      const [name, amount] = [row.locator('th'), row.locator('td')]
      expect((await name.boundingBox())!.width).toBeGreaterThan(SIZES.phone.width / 2)
      expect((await amount.boundingBox())!.y).toBeGreaterThan((await name.boundingBox())!.y)
      expect(await barriers()).toEqual([])
      expect(issues()).toEqual([])
    } finally {
      await close()
    }
  }, 180_000)

  test('a calculation breaks no word, the buttons of a long form are in reach, and an explanation unfolds', async () => {
    const { page, open, go, issues, close } = await web.visit({ as: MEMBER, size: 'phone' })
    try {
      await open('/entries')
      await page.locator('tbody tr[data-key]').first().click()
      const calculation = page.getByRole('table', { name: 'Calculation of the list value' })
      const output = calculation.getByRole('rowheader', { name: 'Output', exact: true })
      await output.waitFor()
      const { height } = (await output.boundingBox())!
      expect(height).toBeLessThan(40)

      await go('/unattributed')
      const text = page.getByText('Entries not assigned to a project')
      const folded = (await text.boundingBox())!.height
      await text.click()
      await page.locator('[data-open]').filter({ has: text }).or(page.locator('[data-open]')).first().waitFor()
      expect((await text.boundingBox())!.height).toBeGreaterThan(folded)
      const help = (await page.getByRole('link', { name: 'About this page, in the manual' }).boundingBox())!
      const actions = (await page.getByRole('link', { name: 'View entries' }).boundingBox())!
      expect(help.x + help.width).toBeLessThanOrEqual(actions.x)

      await go('/sheets')
      await page.getByRole('row').filter({ hasText: 'open' }).first().click()
      await page.getByRole('button', { name: 'Add entry' }).click()
      const add = page.getByRole('dialog').getByRole('button', { name: 'Add entry' })
      await add.waitFor()
      const box = (await add.boundingBox())!
      expect(box.y + box.height).toBeLessThanOrEqual(SIZES.phone.height)
      expect(issues()).toEqual([])
    } finally {
      await close()
    }
  }, 180_000)
})
