/** A lead assigns what agents have reported in their project's repository, and proposes a rule, which an admin accepts. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const PASSWORD = 'correct horse battery'
const ADMIN = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: PASSWORD } as const
const LEAD = { name: 'Mara', email: 'mara@example.com', role: 'member', password: PASSWORD } as const
const WORKER = { name: 'Jonas', email: 'jonas@example.com', role: 'member', password: PASSWORD } as const

describe.skipIf(!CHROMIUM)('the lead of a project with a repository', () => {
  const web = webStage({ people: [ADMIN, LEAD, WORKER] })

  async function report(session_id: string, repository: string): Promise<void> {
    const ask = await signedInAt(web.server.url, WORKER)
    const { token } = await ask('POST /tokens', { kind: 'svc', name: session_id })
    const body = {
      agent_harness: 'claude-code',
      agent_name: 'claude-code',
      model: 'claude-sonnet-4-5',
      started_at: new Date(Date.now() - 3_600_000).toISOString(),
      ended_at: new Date(Date.now() - 1_800_000).toISOString(),
      tokens: { input: 12_345, output: 678 },
      session_id,
      labels: { repository },
    }
    expect((await web.server.call('POST', '/api/v1/token-entries', { token, body })).status).toBe(201)
  }

  test('assigns its entries with one click, undoes it, and proposes a rule, which an admin accepts and applies', async () => {
    const ask = await signedInAt(web.server.url, ADMIN)
    await ask('POST /projects', { key: 'ACME', leads: [LEAD.email], repositories: ['acme/web'] })
    await report('one', 'acme/web')
    await report('two', 'other/secret')
    const projectOfOne = async () =>
      (await ask('GET /token-entries?label=repository:acme/web')).data[0].project?.key ?? null

    const lead = await web.visit({ as: LEAD })
    const { page } = lead
    try {
      await lead.open('/unattributed')
      const assign = page.getByRole('button', { name: 'Assign to ACME: acme/web' })
      await assign.waitFor()
      expect(await page.locator('main').textContent()).not.toContain('other/secret')
      await assign.click()
      await page.getByText('1 entry assigned to ACME.').waitFor()
      await assign.waitFor({ state: 'detached' })
      expect(await projectOfOne()).toBe('ACME')
      await page.getByRole('button', { name: 'Undo' }).click()
      await assign.waitFor()
      expect(await projectOfOne()).toBeNull()

      await page.getByRole('button', { name: 'Propose rule for acme/web' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Would match 1 of 1 unattributed entry').waitFor()
      expect(await lead.barriers()).toEqual([])
      await dialog.getByRole('button', { name: 'Propose rule' }).click()
      await page.getByText('waits for an admin').waitFor()
      expect(lead.issues()).toEqual([])
    } finally {
      await lead.close()
    }

    const admin = await web.visit({ as: ADMIN })
    try {
      await admin.open('/inbox')
      await admin.page.getByRole('button', { name: /^Accept / }).click()
      // The last proposal leaves the inbox; what it can be applied to is still asked.
      const apply = admin.page.getByRole('dialog', { name: 'Apply rules to existing entries' })
      await admin.page.getByRole('heading', { name: 'Proposed rules' }).waitFor({ state: 'detached' })
      await apply.getByRole('button', { name: 'Apply to 1 entry' }).click()
      await apply.waitFor({ state: 'detached' })
      expect(await projectOfOne()).toBe('ACME')
      expect(admin.issues()).toEqual([])
    } finally {
      await admin.close()
    }
  }, 180_000)
})
