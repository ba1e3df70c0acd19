import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const PASSWORD = 'correct horse battery'
const ADMIN = { name: 'Ines', email: 'ines@example.com', role: 'admin', password: PASSWORD } as const
const FIRST = { name: 'Mara Vogel', email: 'mara@example.com', role: 'member', password: PASSWORD } as const
const SECOND = { name: 'Jonas Weber', email: 'jonas@example.com', role: 'member', password: PASSWORD } as const

/** Monday to Sunday before this week, as the organization's zone has it. */
const [FROM, TO] = [-6, 0].map((days) => {
  const today = new Date()
  const sunday = today.getTime() - (((today.getUTCDay() + 6) % 7) + 1) * 86_400_000
  return new Date(sunday + days * 86_400_000).toISOString().slice(0, 10)
}) as [string, string]

async function submitSheet(ask: Ask, period: { from: string; to: string }): Promise<string> {
  const { id } = await ask('POST /token-sheets', { period })
  const at = (hour: string) => `${period.to}T${hour}:00:00Z`
  await ask(`POST /token-sheets/${id}/entries`, {
    ...{
      agent_harness: 'claude.ai',
      agent_name: 'chat',
      model: 'gpt-5',
      summary: 'Review',
      tokens: { input: 1, output: 1 },
    },
    ...{ started_at: at('10'), ended_at: at('11'), reported_cost: 1.25 },
  })
  await ask(`POST /token-sheets/${id}/submit`, {})
  return id
}

describe.skipIf(!CHROMIUM)('the token sheets of a week', () => {
  const web = webStage({ people: [ADMIN, FIRST, SECOND] })

  test('are approved at once, and one that cannot be approved stays with the reason', async () => {
    const [admin, mara, jonas] = await Promise.all([ADMIN, FIRST, SECOND].map((who) => signedInAt(web.server.url, who)))
    const of = await submitSheet(mara!, { from: FROM, to: TO })
    const other = await submitSheet(jonas!, { from: FROM, to: TO })
    const earlier = await submitSheet(mara!, { from: '2026-01-01', to: '2026-01-31' })
    const { page, open, go, barriers, issues, close } = await web.visit({ as: ADMIN })
    try {
      await open('/inbox')
      await page.getByRole('link', { name: 'Inbox 3 waiting for you' }).waitFor()
      await page.getByRole('button', { name: 'Approve week…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Mara Vogel').waitFor()
      expect(await dialog.getByRole('table').getByRole('row').allTextContents()).toEqual([
        'PersonPeriodEntriesCost',
        expect.stringMatching(/^(Mara Vogel|Jonas Weber).*1\$1\.25$/),
        expect.stringMatching(/^(Mara Vogel|Jonas Weber).*1\$1\.25$/),
        '2 sheets2$2.50',
      ])
      expect(await barriers()).toEqual([])

      // Meanwhile somebody else returns one of them.
      await admin!(`POST /token-sheets/${other}/return`, { reason: 'Twice' })
      await dialog.getByRole('button', { name: 'Approve 2 sheets' }).click()
      await dialog.getByText('1 sheet approved, 1 skipped for the reasons below.').waitFor()
      const refused = await dialog.getByRole('row').filter({ hasText: 'Jonas Weber' }).textContent()
      expect(refused).toMatch(/returned/)
      expect(await dialog.getByRole('row').filter({ hasText: 'Mara Vogel' }).count()).toBe(0)
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      const statuses = await Promise.all([of, other, earlier].map((id) => admin!(`GET /token-sheets/${id}`)))
      expect(statuses.map(({ status }) => status)).toEqual(['approved', 'returned', 'submitted'])
      await page.getByRole('button', { name: 'Withdraw approval' }).click()
      await page.getByText('Approval of 1 sheet withdrawn.').waitFor()

      await go('/audit')
      const changes = page.getByRole('table', { name: 'Audit log' })
      await changes
        .getByText(/^Ines withdrew the approval of the token sheet of Mara Vogel, .*\(1 entry, \$1\.25\)$/)
        .waitFor()
      await changes.getByText(/^Ines returned the token sheet of Jonas Weber, .*: “Twice”$/).waitFor()
      await changes.getByRole('row').nth(1).getByRole('button').click()
      await page.getByRole('dialog').getByText('Details').click()
      await page.getByRole('dialog').getByText('"action": "sheet.approval_withdrawn"').waitFor()
      expect(await barriers()).toEqual([])
      expect(issues().filter((issue) => !issue.includes('409'))).toEqual([])
    } finally {
      await close()
    }
  }, 180_000)
})
