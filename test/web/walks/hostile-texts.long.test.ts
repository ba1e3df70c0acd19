/** What agents send is shown as the text that it is, and nothing of it runs, on any page and on bills. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { placesOf } from '../../support/pages.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

/** Each sets `window.hacked` where a page takes it for anything but text. */
const CORPUS = [
  '<script>window.hacked=1</script>',
  '"><img src=x onerror=window.hacked=1>',
  "'><svg/onload=window.hacked=1>",
  'javascript:window.hacked=1',
  '</title></style></textarea><script>window.hacked=1</script>',
  '<iframe srcdoc="<script>parent.hacked=1</script>">',
  '<a href="javascript:window.hacked=1">click</a>',
  '<style>@import "http://example.com/x.css"</style>',
  '{{constructor.constructor("window.hacked=1")()}}',
  '$' + '{window.hacked=1}',
  '<math><mtext></p><mglyph><style><img src=x onerror=window.hacked=1>',
  '\u202etxt.<b>evil</b>\u2066 =cmd|calc',
]

const ADMIN = { name: CORPUS[1]!, email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const

describe.skipIf(!CHROMIUM)('hostile texts', () => {
  const web = webStage({ people: [ADMIN] })
  let ask: Ask

  beforeAll(async () => {
    ask = await signedInAt(web.server.url, ADMIN)
    await reportAll()
  }, 180_000)

  /** Every text in every field that a report, a person or a token can name, and a bill of it all. */
  async function reportAll(): Promise<void> {
    await ask('PATCH /settings', { name: CORPUS[0] })
    const { token } = await ask('POST /tokens', { kind: 'svc', name: CORPUS[2] })
    const now = Date.now()
    for (const [index, text] of CORPUS.entries()) {
      const entry = {
        agent_harness: text,
        agent_name: text,
        model: text,
        provider: text,
        started_at: new Date(now - 3_600_000 - index * 1_000).toISOString(),
        ended_at: new Date(now - 1_800_000).toISOString(),
        tokens: { input: 1_000, output: 500 },
        reported_cost: 1.25,
        summary: text,
        session_id: text,
        labels: { repository: text, branch: text },
        plan: text,
      }
      const placed = { ...entry, session_id: `${text} placed`, project: text, ticket: `${text} #${index}` }
      for (const body of [entry, placed]) {
        const answer = await web.server.call('POST', '/api/v1/token-entries', { token, body })
        expect(answer.status, `${text}: ${await answer.clone().text()}`).toBe(201)
      }
    }
    await ask('POST /clients', { name: CORPUS[4], address: CORPUS[5], email: 'client@example.com' })
    const { data: projects } = await ask('GET /projects?limit=100')
    for (const { id } of projects) await ask(`PATCH /projects/${id}`, { client: CORPUS[4] })
    const conditions = [{ field: 'labels.repository', matches: '*nothing*' }]
    await ask('POST /placement-rules', { name: CORPUS[3], conditions, project: projects[0].id })
    await ask('POST /budgets', { name: CORPUS[1], scope: { project: projects[0].id }, amount: 100 })
    const plan = { name: CORPUS[0], vendor: CORPUS[1], product: CORPUS[2], note: CORPUS[3], vendor_codes: [CORPUS[4]] }
    await ask('POST /plans', { ...plan, fee: 20, period: 'month', from: '2026-01-01' })
    await ask('POST /funding-rules', { name: CORPUS[5], conditions, funding: 'plan', plan: CORPUS[0] })
    await ask('POST /token-sheets', { month: new Date().toISOString().slice(0, 7), note: CORPUS[6] })
    const extra_lines = [{ text: CORPUS[7], amount: 1 }]
    await ask('POST /bills', {
      month: new Date(now - 3_600_000).toISOString().slice(0, 7),
      client: CORPUS[4],
      note: CORPUS[8],
      purchase_order: CORPUS[9],
      extra_lines,
    })
  }

  test('are shown as they are on every page, and nothing of them runs', async () => {
    const { page, open, go, issues, close } = await web.visit({ as: ADMIN })
    const { data: entries } = await ask('GET /token-entries?limit=100')
    const paths = [
      ...(await placesOf(ask)).map(({ path }) => path),
      ...CORPUS.slice(0, 3).map((text) => `/entries?agent_name=${encodeURIComponent(text)}`),
      ...CORPUS.slice(0, 3).map((text) => `/${encodeURIComponent(text)}`),
    ]
    await open('/account')
    for (const path of paths) {
      await go(path)
      await page.locator('h1').first().waitFor()
      expect(await page.evaluate('window.hacked'), path).toBeUndefined()
      expect(
        issues().filter((issue) => !issue.includes('404')),
        path,
      ).toEqual([])
    }
    await open('/entries')
    for (const { id, summary } of entries) {
      await go(`/entries?open=${id}`)
      await page.getByRole('dialog').getByText(summary, { exact: true }).first().waitFor()
      expect(await page.evaluate('window.hacked'), summary).toBeUndefined()
      expect(issues(), summary).toEqual([])
    }
    await open('/entries')
    const shown = await page.locator('main').textContent()
    expect(shown).toContain(CORPUS[0]!)
    expect(shown).toContain(CORPUS[1]!)
    await close()
  }, 180_000)

  test('are text on a bill’s page as well, which runs no script at all', async () => {
    const { page, open, issues, close } = await web.visit({ as: ADMIN })
    const { data } = await ask('GET /bills')
    await open(`/api/v1/bills/${data[0].id}/html`)
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    const shown = await page.locator('body').textContent()
    for (const text of CORPUS.slice(0, 5)) expect(shown).toContain(text)
    expect(issues()).toEqual([])
    await close()
  }, 180_000)
})
