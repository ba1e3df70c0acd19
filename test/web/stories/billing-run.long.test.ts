/** Month-end in the browser: the run, a draft that survives a reload, and what is printed. */
import { describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { CHROMIUM, SIZES, type Visit } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const BILLING = { email: 'hanna.lindqvist@meridian.example', password: DEMO_PASSWORD }
const ADMIN = { email: 'ines.marques@meridian.example', password: DEMO_PASSWORD }

const HEADER_PX = 48

/** Longer than the pages and the server take on a busy machine. */
const TEST_MS = 180_000

describe.skipIf(!CHROMIUM)('month-end', () => {
  const web = webStage({ demo: true })

  /** What the demo leaves to be billed depends on the time of day. */
  async function reportLastMonth(project: string): Promise<void> {
    const { token } = await web.installation.createToken('svc', BILLING.email)
    const day = new Date()
    day.setUTCDate(0)
    day.setUTCDate(15)
    const { status } = await fetch(`${web.server.url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        agent_harness: 'codex',
        agent_name: 'builder',
        model: 'gpt-5',
        started_at: day.toISOString(),
        ended_at: day.toISOString(),
        tokens: { input: 1, output: 1 },
        reported_cost: 1,
        project,
      }),
    })
    expect(status).toBe(201)
  }

  test(
    'is checked, previewed side by side, and sent one by one, and is known after a reload',
    async () => {
      for (const project of ['SHOP', 'SITE']) await reportLastMonth(project)
      const { page, open, settled, issues, barriers, close } = await web.visit({ as: BILLING })
      await open('/bills/run')
      await page.getByRole('table', { name: 'Checklist' }).waitFor()
      await page.getByText('Include', { exact: true }).click()
      await page.getByRole('switch', { name: 'Leave out unpriced entries' }).click()
      await settled()
      const ready = page.getByRole('row').filter({ has: page.getByText('ready', { exact: true }) })
      await ready.nth(1).waitFor()
      const count = await ready.count()
      for (const index of [0, 1])
        await ready
          .nth(index)
          .getByRole('button', { name: /^Preview/ })
          .click()
      await page
        .getByRole('region', { name: /^Preview of/ })
        .nth(1)
        .getByText('Number assigned when sent')
        .waitFor()
      expect(await barriers()).toEqual([])
      for (const index of [0, 1]) await ready.nth(index).getByRole('checkbox').check()
      await page.getByRole('button', { name: 'Send 2 bills…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Send bills' }).click()
      await page.getByText('2 bills sent.').waitFor()
      // The previews are of bills that are sent now.
      const previews = page.getByRole('region', { name: /^Preview of/ })
      for (const index of [0, 1])
        await previews
          .nth(index)
          .getByText(/^Sent as 20\d\d-\d+$/)
          .waitFor()
      expect(await previews.getByText('Total').count()).toBe(0)
      await settled()
      await page.reload()
      await page.getByRole('row').filter({ hasText: 'billed' }).nth(1).waitFor()
      expect(await ready.count()).toBe(count - 2)
      expect(issues()).toEqual([])
      await close()
    },
    TEST_MS,
  )

  test(
    'what was typed in a new bill survives a reload, and is found again among the drafts',
    async () => {
      const { page, open, go, issues, close } = await web.visit({ as: BILLING })
      await open('/bills/new')
      await page.getByRole('button', { name: 'Notes and terms' }).click()
      await page.getByLabel('Note above the lines').fill('As agreed on the phone')
      await page.waitForURL(/draft=/)
      await page.getByText('Draft saved.').waitFor()
      await page.reload()
      await page.getByRole('button', { name: 'Notes and terms' }).click()
      expect(await page.getByLabel('Note above the lines').inputValue()).toBe('As agreed on the phone')
      await go('/bills/run')
      await page.getByRole('link', { name: '1 draft' }).click()
      const drafts = page.getByRole('region', { name: /^Drafts/ })
      expect(await drafts.locator('[data-total=drafts]').textContent()).toBe('1')
      await drafts.getByRole('link').click()
      await page.waitForURL(/draft=/)
      await go('/bills')
      await drafts.getByRole('button', { name: /^Delete draft/ }).click()
      await drafts.getByRole('button', { name: 'Undo' }).waitFor()
      expect(issues()).toEqual([])
      await close()
    },
    TEST_MS,
  )

  test(
    'a draft that two people have open is sent by one of them, and the other sees that it is gone',
    async () => {
      const first = await web.visit({ as: BILLING })
      const second = await web.visit({ as: BILLING })
      await first.open('/bills')
      const id = String(await first.page.evaluate(`(${addDraft})(${JSON.stringify(DRAFT)})`))
      for (const { open, page } of [first, second]) {
        await open(`/bills/new?draft=${id}`)
        await page.getByRole('button', { name: 'Send bill…' }).and(page.locator(':enabled')).click()
      }
      await first.page.getByRole('dialog').getByRole('button', { name: 'Send bill' }).click()
      await first.page.waitForURL(/\/bills\/bil_/)
      await second.page.getByRole('dialog').getByRole('button', { name: 'Send bill' }).click()
      await second.page.getByRole('dialog').getByText('Draft is gone').waitFor()
      await second.page.getByRole('button', { name: 'Cancel' }).click()
      await second.page.getByText('This draft is gone').waitFor()
      await first.close()
      await second.close()
    },
    TEST_MS,
  )

  test(
    'of two people who change a draft, the second is asked whose version to keep, and loses nothing until then',
    async () => {
      const first = await web.visit({ as: BILLING })
      const second = await web.visit({ as: ADMIN, size: 'phone' })
      const ask = await signedInAt(web.server.url, ADMIN)
      const { id } = await ask('POST /bill-drafts', { form: { ...DRAFT, note: 'Before' } })
      const noteOf = async () => (await ask(`GET /bill-drafts/${id}`)).form.note
      const noteIn = ({ page }: Visit) => page.getByLabel('Note above the lines')
      const opened = async (visitor: Visit) => {
        await visitor.page.getByRole('button', { name: 'Notes and terms' }).click()
        await noteIn(visitor).waitFor()
      }
      for (const visitor of [first, second]) {
        await visitor.open(`/bills/new?draft=${id}`)
        await opened(visitor)
      }
      const saving = ({ page }: Visit) =>
        page.waitForResponse((response) => response.request().method() === 'PUT' && response.url().endsWith(id))
      const write = async (visitor: Visit, note: string) => {
        const saved = saving(visitor)
        await noteIn(visitor).fill(note)
        return (await saved).status()
      }
      expect(await write(first, 'Of the first')).toBe(200)

      expect(await write(second, 'Of the second')).toBe(412)
      const question = second.page.getByRole('alert').filter({ hasText: 'Changed meanwhile' })
      await question.getByText('Hanna Lindqvist').waitFor()
      expect(await inSight(question)).toBe(true)
      expect(await second.barriers()).toEqual([])
      expect(await noteOf()).toBe('Of the first')
      expect(await noteIn(second).inputValue()).toBe('Of the second')
      const replaced = saving(second)
      await question.getByRole('button', { name: 'Replace it with mine' }).click()
      expect((await replaced).status()).toBe(200)
      await question.waitFor({ state: 'detached' })
      expect(await noteOf()).toBe('Of the second')

      expect(await write(first, 'Of the first again')).toBe(412)
      const asked = first.page.getByRole('alert').filter({ hasText: 'Changed meanwhile' })
      await asked.getByText('Ines Marques').waitFor()
      await asked.getByRole('button', { name: 'Open their version' }).click()
      await asked.waitFor({ state: 'detached' })
      await opened(first)
      expect(await noteIn(first).inputValue()).toBe('Of the second')
      expect(await write(first, 'Of both')).toBe(200)
      expect(await noteOf()).toBe('Of both')
      await first.close()
      await second.close()
    },
    TEST_MS,
  )

  test(
    'a printed bill shows what its client sees, and neither cost nor list value',
    async () => {
      const { page, open, close } = await web.visit({ as: BILLING, scheme: 'dark' })
      await open('/bills')
      await page.getByRole('row').filter({ hasText: '2026-0005' }).click()
      await page.getByText('List value', { exact: true }).waitFor()
      const line = page.locator('main table button').first()
      await line.click()
      await page.getByRole('dialog').waitFor()
      expect(await printed(page)).toContain('2026-0005')
      expect(await printed(page)).not.toMatch(/list value|cost|recorded by/i)
      await page.emulateMedia({ media: 'print' })
      const colors = `(() => { const { color } = getComputedStyle(document.querySelector('main table td')); return color })()`
      expect(await page.evaluate(colors)).toBe('rgb(0, 0, 0)')
      await close()
    },
    TEST_MS,
  )
})

/** Of extra lines alone: nothing but its draft shows that it was sent. */
const DRAFT = {
  scope: 'everything',
  client: null,
  project: null,
  span: 'month',
  month: '2020-01-01',
  days: [null, null],
  currency: 'USD',
  exchange_rate: '',
  group_by: ['project'],
  markup: '',
  tax_name: '',
  tax_percent: '',
  extra_lines: [{ text: 'Setup', amount: 200 }],
  note: '',
  purchase_order: '',
  due_days: '',
  show_cost: false,
  show_active_time: false,
  replaces: '',
  leave_unpriced: false,
  deliver: 'nobody',
  deliver_to: [],
  message: '',
}

/** Runs in the page. Returns the id of the draft. */
const addDraft = `async (form) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/api/v1/bill-drafts', { method: 'POST', headers, body: JSON.stringify({ form }) })
  return (await response.json()).id
}`

/** Whether it is on a phone's screen, below the header. */
async function inSight(shown: Locator): Promise<boolean> {
  const { y, height } = (await shown.boundingBox())!
  return y >= HEADER_PX && y + height <= SIZES.phone.height
}

/** The visible text on paper. */
async function printed(page: Page): Promise<string> {
  await page.emulateMedia({ media: 'print' })
  const text = await page.evaluate('document.body.innerText')
  await page.emulateMedia({ media: null })
  return String(text)
}
