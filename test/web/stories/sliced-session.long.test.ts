import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const MARA = {
  ...{ name: 'Mara Vogel', email: 'mara@example.com', password: 'correct horse battery' },
  role: 'member' as const,
}

/** More than a page of the list has. */
const DAYS = 130
const FIRST = Date.UTC(2026, 5, 1, 9)
const DAY_MS = 86_400_000
const at = (moment: number) => new Date(moment).toISOString()

describe.skipIf(!CHROMIUM)('a session of many days', () => {
  const web = webStage({ people: [MARA] })

  test('is listed by day and branch with each of its entries, and all of it on its own page', async () => {
    const ask = await signedInAt(web.server.url, MARA)
    const { token } = await ask('POST /tokens', { kind: 'svc', name: 'laptop' })
    const slices = Array.from({ length: DAYS }, (_, day) => ({
      ...{ started_at: at(FIRST + day * DAY_MS), ended_at: at(FIRST + day * DAY_MS + 60_000) },
      ...{ tokens: { input: 1_000_000, output: 0 }, labels: { branch: `feature/${day}` } },
      ...(day > 0 && { active_seconds: 360 }),
    }))
    const response = await fetch(`${web.server.url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: 'claude-sonnet-4-5', session_id: 'long' },
        ...{ started_at: slices[0]!.started_at, ended_at: slices.at(-1)!.ended_at, slices },
      }),
    })
    expect(response.status).toBe(201)
    const { data } = await ask('GET /token-entries?session_id=long&order=asc&limit=1000')
    const middle: { id: string } = data[110]
    const visitor = await web.visit({ as: MARA })
    try {
      await visitor.open(`/entries?open=${middle.id}`)
      const part = visitor.page
        .locator('section')
        .filter({ has: visitor.page.getByRole('heading', { name: 'Session' }) })
      await part.getByText(`in ${DAYS} entries`).waitFor()
      expect(await part.locator('[data-figure="cost"]').getAttribute('data-value')).toBe(String(3 * DAYS))
      const table = part.getByRole('table', { name: 'Entries of the session around this one' })
      expect(await table.locator('[aria-current] >> xpath=ancestor::tr').textContent()).toContain('feature/1106 min')
      expect(await table.getByRole('link').count()).toBe(11)
      await table.locator('tr', { hasText: 'feature/109' }).getByRole('link').press('Enter')
      await table.locator('tr', { hasText: 'feature/109', has: visitor.page.locator('[aria-current]') }).waitFor()
      await part.getByRole('link', { name: 'long', exact: true }).last().click()
      // The figures are those of all entries, of which the first page is loaded.
      await visitor.page.getByText(`12 h 54 min (${DAYS - 1} of ${DAYS} entries)`).waitFor()
      await visitor.page.getByText('One for each day').waitFor()
      const last = visitor.page.getByText(`feature/${DAYS - 1}`, { exact: true })
      while (!(await last.isVisible())) await visitor.page.mouse.wheel(0, 3_000)
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }, 180_000)
})
