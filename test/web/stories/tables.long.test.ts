/** Tables as people use them: their columns, their selection, the way back from a row, and on paper. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const ADMIN = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const

/** More than a page of the list. */
const ENTRIES = 130

/** Reverses what follows it, in texts that do not isolate it. */
const OVERRIDE = '\u202e'

const COSTS = [0.00002, 3.5, 1_234.5678]

describe.skipIf(!CHROMIUM)('tables', () => {
  const web = webStage({ people: [ADMIN] })

  beforeAll(async () => {
    const ask = await signedInAt(web.server.url, ADMIN)
    const { token } = await ask('POST /tokens', { kind: 'svc', name: 'laptop' })
    const now = Date.now()
    const entries = Array.from({ length: ENTRIES }, (_, index) => ({
      agent_harness: 'claude-code',
      agent_name: 'claude-code',
      model: 'm',
      started_at: new Date(now - 3_600_000 - index * 1_000).toISOString(),
      ended_at: new Date(now - 1_800_000).toISOString(),
      tokens: { input: 1_000, output: 500 },
      reported_cost: COSTS[index % COSTS.length],
      summary: index === 0 ? `${OVERRIDE}first` : `Session ${index}`,
      session_id: `session ${index}`,
    }))
    const { status } = await web.server.call('POST', '/api/v1/token-entries/batch', { token, body: entries })
    expect(status).toBe(200)
  }, 180_000)

  const table = (visitor: Awaited<ReturnType<typeof web.visit>>) =>
    visitor.page.getByRole('table', { name: 'Token entries' })

  test('amounts are aligned, texts of others are isolated, and closing an entry leads back to its row', async () => {
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/entries')
      const costs = await page.locator('td[data-title="Cost"]').allTextContents()
      expect(costs.slice(0, 3)).toEqual(['<$0.0001', '$3.5000', '$1,234.5678'])
      const first = page.locator('tbody tr[data-key]').first()
      expect(await first.locator('td[data-title="Summary"] bdi').count()).toBe(1)

      const row = page.locator('tbody tr[data-key]').nth(2)
      await row.locator('td[data-title="Model"]').click()
      const drawer = page.getByRole('dialog')
      await drawer.getByText('Session 2').first().waitFor()
      await drawer
        .locator(':focus')
        .or(drawer.and(page.locator(':focus')))
        .waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await row.locator('button:focus').waitFor()
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('columns, their widths and the density follow the person to another browser', async () => {
    const visitor = await web.visit({ as: ADMIN })
    const { page } = visitor
    await visitor.open('/entries')
    await page.getByRole('button', { name: 'Columns of Token entries' }).click()
    // The boxes follow what is kept, a moment later.
    await page.getByRole('checkbox', { name: 'Agent manager' }).click()
    await page.getByRole('columnheader', { name: 'Agent manager' }).waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: 'Labels' }).click()
    await page.getByRole('columnheader', { name: 'Labels' }).waitFor()
    await page.getByText('Compact', { exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('checkbox', { name: 'Labels' }).waitFor({ state: 'detached' })
    await page.locator('[data-density="compact"]').first().waitFor()
    const head = page.getByRole('columnheader', { name: 'Model' })
    const box = (await head.boundingBox())!
    await page.mouse.move(box.x + box.width - 2, box.y + box.height / 2)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width + 58, box.y + box.height / 2, { steps: 4 })
    // What was chosen before may still be on its way.
    const saved = page.waitForResponse((response) => response.request().postData()?.includes('"widths":{"') ?? false)
    await page.mouse.up()
    await saved
    await visitor.close()

    const other = await web.visit({ as: ADMIN, fresh: true })
    try {
      await other.open('/entries')
      const titles = await other.page.getByRole('columnheader').allTextContents()
      expect(titles).toContain('Labels')
      expect(titles).not.toContain('Agent manager')
      const { width } = (await other.page.getByRole('columnheader', { name: 'Model' }).boundingBox())!
      expect(Math.abs(width - box.width - 60)).toBeLessThan(6)
      await other.page.locator('[data-density="compact"]').first().waitFor()
      expect(other.issues()).toEqual([])
    } finally {
      await other.close()
    }
  }, 180_000)

  test('a width can be changed and reset with the keyboard, and all rows can be printed', async () => {
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/entries')
      const handle = page.getByRole('separator', { name: 'Width of Started', exact: true })
      const saved = () => page.waitForResponse((response) => response.url().endsWith('/me/preferences'))
      await handle.focus()
      const width = Number(await handle.getAttribute('aria-valuenow'))
      const wider = saved()
      await page.keyboard.press('ArrowRight')
      await wider
      expect(await handle.getAttribute('aria-valuenow')).toBe(String(width + 16))
      const usual = saved()
      await page.keyboard.press('Delete')
      expect((await usual).status()).toBe(200)

      await page.evaluate('window.print = () => { document.body.dataset.printed = "yes" }')
      await page.getByRole('button', { name: 'Columns of Token entries' }).click()
      await page.getByRole('button', { name: 'Print all rows' }).click()
      await page.locator('body[data-printed]').waitFor()
      await page.emulateMedia({ media: 'print' })
      await page
        .getByText(`Session ${ENTRIES - 1}`)
        .first()
        .waitFor()
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('a printed list says whose it is, of which period, and how it is filtered', async () => {
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/entries?model=m&period=2026-01-01..2036-12-31')
      await page.locator('tbody tr[data-key]').first().waitFor()
      const text = async () => String(await page.evaluate('document.body.innerText'))
      expect(await text()).not.toContain('Period: ')
      await page.emulateMedia({ media: 'print' })
      const printed = await text()
      expect(printed.trimStart()).toStartWith('Tally\n\nEntries')
      expect(printed).toContain('Period: 1 Jan 2026 – 31 Dec 2036')
      expect(printed).toContain('Model: m')
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('on a phone, lists are sorted by a select and a button, by what their columns show', async () => {
    const ask = await signedInAt(web.server.url, ADMIN)
    for (const name of ['Zebra', 'Aardvark']) await ask('POST /clients', { name })
    // As for a person who has not chosen columns.
    await ask('PATCH /me/preferences', { tables: { entries: null } })
    const visitor = await web.visit({ as: ADMIN, size: 'phone' })
    try {
      const { page } = visitor
      await visitor.open('/entries')
      const costs = table(visitor).locator('td[data-title="Cost"]')
      await page.getByRole('combobox', { name: 'Sort Token entries' }).selectOption({ label: 'Cost' })
      await costs.first().getByText('$1,234.5678').waitFor()
      expect(new URL(page.url()).search).toBe('?sort=cost')
      await page.getByRole('button', { name: 'Descending order of Token entries. Reverse' }).click()
      await costs.first().getByText('<$0.0001').waitFor()
      expect(new URL(page.url()).search).toBe('?sort=cost&order=asc')
      // A column that rows leave out on a phone is shown if they are sorted by it.
      expect(await table(visitor).locator('td[data-title="Duration"]').count()).toBe(0)
      await page.getByRole('combobox', { name: 'Sort Token entries' }).selectOption({ label: 'Duration' })
      await table(visitor).locator('td[data-title="Duration"]').first().waitFor()
      // The rows are dim until the sorted ones are here, which takes their place.
      await page.locator('[data-stale]').waitFor({ state: 'detached' })
      expect(await table(visitor).locator('td[data-title="Duration"]').first().isVisible()).toBe(true)
      // Beside a box, the row does not open.
      const box = (await table(visitor).getByRole('checkbox').first().boundingBox())!
      await page.mouse.click(box.x + box.width + 6, box.y + box.height + 8)
      await page.getByText('1 selected').waitFor()
      expect(await page.getByRole('dialog').count()).toBe(0)

      // Names are in order from the beginning.
      await visitor.go('/work?tab=clients')
      const sort = page.getByRole('combobox', { name: 'Sort Clients' })
      expect(await sort.inputValue()).toBe('name')
      const rows = page.getByRole('table', { name: 'Clients' }).locator('tbody tr[data-key]')
      await rows.first().getByText('Aardvark').waitFor()
      await page.getByRole('button', { name: 'Ascending order of Clients. Reverse' }).click()
      await rows.first().getByText('Zebra').waitFor()
      expect(await visitor.barriers()).toEqual([])
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('all matching entries can be selected, not only those that are loaded', async () => {
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/entries?status=submitted')
      await page.getByRole('checkbox', { name: 'Select all loaded rows' }).check()
      await page.getByRole('button', { name: `Select all ${ENTRIES} matching entries` }).click()
      await page.getByText(`All ${ENTRIES} matching entries`).waitFor()
      await page.getByRole('button', { name: 'Approve…' }).click()
      await page
        .getByRole('dialog')
        .getByRole('heading', { name: `Approve ${ENTRIES} entries` })
        .waitFor()
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('a click or a key with Shift selects all rows from the last selected one', async () => {
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/entries')
      const boxes = page.locator('tbody').getByRole('checkbox')
      const selected = (count: number) => page.getByRole('toolbar').getByText(`${count} selected`).waitFor()
      await boxes.nth(1).click()
      await boxes.nth(4).click({ modifiers: ['Shift'] })
      await selected(4)
      expect(await page.evaluate('getSelection().toString()')).toBe('')
      await boxes.nth(6).press('Shift+Space')
      await selected(6)
      // The row of the box that was used last is the one from which the keys go on.
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('Shift+X')
      await selected(8)
      // The other way round.
      await boxes.nth(3).click({ modifiers: ['Shift'] })
      await selected(2)
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('what was entered into a dialog is discarded only after a question', async () => {
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/work?tab=clients')
      await page
        .getByRole('button', { name: /client/ })
        .first()
        .click()
      const form = page.getByRole('dialog').first()
      await form.getByRole('textbox').first().fill('Acme')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Keep editing' }).click()
      await page.getByRole('button', { name: 'Keep editing' }).waitFor({ state: 'detached' })
      expect(await form.getByRole('textbox').first().inputValue()).toBe('Acme')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Discard changes' }).click()
      await form.waitFor({ state: 'detached' })
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('on paper, a list has all loaded rows and columns, and no menu or controls', async () => {
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/entries')
      expect(await table(visitor).locator('tbody tr[data-key]').count()).toBeLessThan(100)
      // As wide as a page of A4 within its margins, where a screen would show cards.
      await page.setViewportSize({ width: 718, height: 1_000 })
      await page.emulateMedia({ media: 'print' })
      await table(visitor).locator('tbody tr[data-key]').nth(99).waitFor({ state: 'attached' })
      expect(await page.getByText('The first 100 rows.').isVisible()).toBe(true)
      expect(await page.getByRole('columnheader', { name: 'Cost' }).isVisible()).toBe(true)
      expect(await page.getByRole('navigation').isVisible()).toBe(false)
      expect(await page.getByRole('link', { name: 'Export CSV' }).isVisible()).toBe(false)
      expect((await table(visitor).boundingBox())!.x).toBeLessThan(30)
    } finally {
      await visitor.close()
    }
  }, 180_000)

  test('a group is assigned where its branch says, by one key, and back again', async () => {
    const ask = await signedInAt(web.server.url, ADMIN)
    await ask('POST /projects', { key: 'ACME' })
    const { token } = await ask('POST /tokens', { kind: 'svc', name: 'other' })
    const labels = { repository: 'acme/web', branch: 'feature/ACME-42-login' }
    const body = {
      agent_harness: 'codex',
      agent_name: 'codex',
      model: 'm',
      started_at: new Date(Date.now() - 60_000).toISOString(),
      ended_at: new Date(Date.now() - 30_000).toISOString(),
      tokens: { input: 1_000, output: 500 },
      reported_cost: 5_000,
      session_id: 'branch',
      labels,
    }
    expect((await web.server.call('POST', '/api/v1/token-entries', { token, body })).status).toBe(201)
    const visitor = await web.visit({ as: ADMIN })
    try {
      const { page } = visitor
      await visitor.open('/unattributed')
      const assign = page.getByRole('button', { name: 'Assign to ACME-42: acme/web', exact: true })
      await assign.waitFor()
      // The group of the other entries costs more.
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.locator('tr[data-cursor]').getByText('acme/web').first().waitFor()
      await page.keyboard.press('a')
      await page.getByText('1 entry assigned to ACME-42.').waitFor()
      await assign.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await assign.waitFor()
      await page.getByRole('button', { name: 'New rule for acme/web' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true }).waitFor()
      const pattern = page.getByRole('dialog').locator('[value="(?:^|[^a-z0-9])(?<ticket>acme-[0-9]+)"]')
      await pattern.waitFor()
      await page.getByRole('dialog').locator('[value="{ticket}"]').waitFor()
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)
})
