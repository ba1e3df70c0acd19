/** A lead works off the inbox with the keyboard alone. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM, SIZES } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { until } from '../../support/processes.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

/** Two busy cores answer within it. */
const PATIENCE_MS = 45_000

const LEAD = { email: 'mara.vogel@meridian.example', password: DEMO_PASSWORD }

describe.skipIf(!CHROMIUM)('the inbox', () => {
  const web = webStage({ demo: true })

  test('is worked off with the keyboard: rows go, the focus stays, and the counts in menu and title go down', async () => {
    const ask = await signedInAt(web.server.url, LEAD)
    // Rows: entries are one for each project.
    const { decisions: open } = await ask('GET /inbox')
    const visitor = await web.visit({ as: LEAD })
    const { page } = visitor
    const { keyboard } = page
    const shows = async (waiting: number) => {
      await page.getByRole('link', { name: `Inbox ${waiting} waiting for you` }).waitFor()
      await until(async () => (await page.title()).startsWith(`(${waiting}) Inbox`), PATIENCE_MS)
      expect(await page.title()).toStartWith(`(${waiting}) Inbox`)
    }
    const sheets = page.getByRole('list', { name: 'Token sheets to approve' })
    const focused = (text: string) => page.locator(':focus').filter({ hasText: text }).waitFor()
    try {
      await visitor.open('/')
      await keyboard.press('g')
      await keyboard.press('i')
      await sheets.getByRole('listitem').waitFor()
      await shows(open)

      // A shortcut of the menu approves nothing.
      await keyboard.press('j')
      await focused('Aiko Tanaka')
      await keyboard.press('g')
      await keyboard.press('a')
      await keyboard.press('a')
      await sheets.waitFor({ state: 'detached' })
      await shows(open - 1)
      expect((await ask('GET /approvals')).sheets.sheets).toBe(0)
      await focused('Approve all')

      await keyboard.press('u')
      await sheets.getByRole('listitem').waitFor()
      await shows(open)
      // The focus may follow the row that is back.
      await visitor.settled()

      // Entries: two of them as a selection.
      const project = page.getByRole('listitem').filter({ hasText: 'Approve all' }).first()
      await project.focus()
      await keyboard.press('Enter')
      const entries = page.getByRole('list', { name: /^Entries to approve: / })
      await entries.getByRole('listitem').first().waitFor()
      await keyboard.press('j')
      await keyboard.press('x')
      await keyboard.press('j')
      await keyboard.press('x')
      await page.getByRole('toolbar').getByText('2 selected').waitFor()
      const first = () => entries.getByRole('listitem').first().textContent()
      const third = await entries.getByRole('listitem').nth(2).textContent()
      await keyboard.press('a')
      await shows(open)
      await until(async () => (await first()) === third, PATIENCE_MS)
      expect(await first()).toBe(third)
      await page.locator('[data-row]:focus').waitFor()
      // Rows that take the place of others take their focus, too.
      await visitor.settled()

      // A range of rows, whose actions stay in sight.
      await keyboard.press('x')
      for (let row = 0; row < 14; row += 1) await keyboard.press('j')
      await keyboard.press('Shift+X')
      const actions = page.getByRole('toolbar')
      await actions.getByText('15 selected').waitFor()
      const bottom = async () => {
        const { y, height } = (await actions.boundingBox())!
        return y + height
      }
      expect(await bottom()).toBeLessThanOrEqual(SIZES.desk.height)
      await page.evaluate('document.activeElement.closest("ul").firstElementChild.scrollIntoView()')
      expect(await bottom()).toBeLessThanOrEqual(SIZES.desk.height)
      await actions.getByRole('button', { name: 'Clear selection' }).click()
      await actions.waitFor({ state: 'detached' })
      await visitor.settled()
      await entries.getByRole('listitem').first().focus()

      // Rejecting asks why.
      await keyboard.press('r')
      await page.getByRole('dialog').getByLabel('Reason').fill('A test run')
      await page.getByRole('dialog').getByRole('button', { name: 'Reject 1 entry' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await shows(open)
      expect(await visitor.barriers()).toEqual([])
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)
})
