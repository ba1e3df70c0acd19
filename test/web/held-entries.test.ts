import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { Installation, type Server } from '../support/binary.ts'
import { CHROMIUM, launchBrowser, visit } from '../support/browser.ts'
import { signedInAt } from '../support/session.ts'

const PASSWORD = 'correct horse battery'
const BILLING = { email: 'hanna.lindqvist@meridian.example', password: PASSWORD }
const LEAD = { email: 'mara.vogel@meridian.example', password: PASSWORD }
const MEMBER = { email: 'jonas.weber@meridian.example', password: PASSWORD }

describe.skipIf(!CHROMIUM)('a session that two people report', () => {
  let installation: Installation
  let server: Server
  let browser: Browser

  beforeAll(async () => {
    installation = await Installation.make()
    const { code, stderr } = await installation.run(['demo', '--password-stdin'], PASSWORD)
    if (code !== 0) throw new Error(stderr)
    server = await installation.serve(['--log-level', 'warn'])
    browser = await launchBrowser()
  }, 300_000)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await installation?.remove()
  })

  async function report(who: typeof MEMBER): Promise<string> {
    const ask = await signedInAt(server.url, who)
    const { token } = await ask('POST /tokens', { kind: 'svc', name: 'laptop' })
    const response = await fetch(`${server.url}/api/v1/token-entries`, {
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
    await report(LEAD)
    const held = await report(MEMBER)
    const visitor = await visit(browser, { url: server.url, as: BILLING })
    try {
      await visitor.open('/')
      await visitor.page.getByText('Held entries').waitFor()
      await visitor.open(`/entries?status=held&open=${held}`)
      const facts = visitor.page.getByText('This entry is not counted until someone releases or discards its session')
      await facts.waitFor()
      expect(await facts.textContent()).toContain('Mara Vogel')
      await visitor.page.getByRole('button', { name: 'Release', exact: true }).click()
      await visitor.page.getByText('Session released.').waitFor()
      expect(await visitor.barriers()).toEqual([])
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
    const ask = await signedInAt(server.url, BILLING)
    expect((await ask(`GET /token-entries/${held}`)).status).toBe('submitted')
  }, 120_000)
})
