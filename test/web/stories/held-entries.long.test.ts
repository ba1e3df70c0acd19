import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { type Credentials, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const PASSWORD = 'correct horse battery'
const BILLING = { name: 'Hanna', email: 'hanna@example.com', role: 'billing', password: PASSWORD } as const
const FIRST = { name: 'Mara Vogel', email: 'mara@example.com', role: 'member', password: PASSWORD } as const
const SECOND = { name: 'Jonas', email: 'jonas@example.com', role: 'member', password: PASSWORD } as const

describe.skipIf(!CHROMIUM)('a session that two people report', () => {
  const web = webStage({ people: [BILLING, FIRST, SECOND] })

  async function report(who: Credentials): Promise<string> {
    const ask = await signedInAt(web.server.url, who)
    const { token } = await ask('POST /tokens', { kind: 'svc', name: 'laptop' })
    const response = await fetch(`${web.server.url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        agent_harness: 'claude-code',
        agent_name: 'claude-code',
        model: 'claude-sonnet-4-5',
        started_at: new Date(Date.now() - 3_600_000).toISOString(),
        ended_at: new Date(Date.now() - 1_800_000).toISOString(),
        tokens: { input: 12_345, output: 678 },
        session_id: '7abded9e-af37-492b-8216-95394ad33034',
      }),
    })
    expect(response.status).toBe(201)
    return ((await response.json()) as { id: string }).id
  }

  test('is released on the page of its entry, which names the other person', async () => {
    await report(FIRST)
    const held = await report(SECOND)
    const visitor = await web.visit({ as: BILLING })
    try {
      await visitor.open('/')
      await visitor.page.getByText('Held entries').waitFor()
      await visitor.go(`/entries?status=held&open=${held}`)
      const facts = visitor.page.getByText('This entry is not counted until someone releases or discards its session')
      await facts.waitFor()
      expect(await facts.textContent()).toContain('Mara Vogel')
      await visitor.page.getByRole('button', { name: 'Release', exact: true }).click()
      await visitor.page.getByText('Session released.').waitFor()
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
    const ask = await signedInAt(web.server.url, BILLING)
    expect((await ask(`GET /token-entries/${held}`)).status).toBe('submitted')
  }, 180_000)
})
