import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { startApp, type TestApp } from '../../support/app.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'

const BILLS = '/api/v1/bills'

let app: TestApp
let billing: string
let path: string

beforeAll(async () => {
  app = await startApp()
  billing = await app.session('billing')
  await app.services.projects.addClient(OPERATOR, { name: '<b>Acme</b> & <script>alert(1)</script>' })
  await app.services.projects.addProject(OPERATOR, { key: 'WEB', client: '<b>Acme</b> & <script>alert(1)</script>' })
  await app.call('POST /api/v1/token-entries', {
    token: await app.token('svc'),
    json: reportBody({
      model: 'no-such-model',
      started_at: '2026-10-20T10:00:00Z',
      ended_at: '2026-10-20T11:00:00Z',
      project: 'WEB',
      ticket: 'WEB-1',
      summary: '=HYPERLINK("http://example.com")',
      reported_cost: 10.5,
    }),
  })
  const sent = await app.call(`POST ${BILLS}`, { session: billing, json: { month: '2026-10', project: 'WEB' } })
  path = sent.headers.get('location')!
})
afterAll(() => app.close())

const get = (name: string, session = billing) => app.call(`GET ${path}/${name}`, { session })

test('every document is downloaded as a file with its name and media type', async () => {
  const kinds: Record<string, [type: string, file: string]> = {
    pdf: ['application/pdf', '2026-0001.pdf'],
    html: ['text/html; charset=utf-8', '2026-0001.html'],
    csv: ['text/csv; charset=utf-8', '2026-0001.csv'],
    'entries.csv': ['text/csv; charset=utf-8', '2026-0001-entries.csv'],
    journal: ['text/plain; charset=utf-8', '2026-0001.journal'],
    document: ['application/json', '2026-0001.json'],
  }
  for (const [name, [type, file]] of Object.entries(kinds)) {
    const { status, headers } = await get(name)
    expect([name, status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      name,
      200,
      type,
      `inline; filename="${file}"`,
    ])
  }
  expect((await get('pdf')).text).toStartWith('%PDF-')
  const bill = await app.call(`GET ${path}`, { session: billing })
  expect(bill.text).toEndWith(`"document":${(await get('document')).text}}`)
})

test('the page shows names as text, and its policy allows its own styles and nothing else', async () => {
  const { text, headers } = await get('html')
  expect(text).toContain('&lt;b&gt;Acme&lt;/b&gt; &amp; &lt;script&gt;alert(1)&lt;/script&gt;')
  expect(text).not.toContain('<script')
  const style = /<style>([\s\S]*)<\/style>/.exec(text)![1]!
  const hash = createHash('sha256').update(style).digest('base64')
  expect(headers.get('content-security-policy')).toStartWith(
    `default-src 'none'; style-src 'sha256-${hash}'; img-src data:`,
  )
})

test('no cell of a CSV is a formula', async () => {
  expect((await get('entries.csv')).text).toContain(`"'=HYPERLINK(""http://example.com"")"`)
})

test('a voided bill has a void notice, and its list of entries as they were billed', async () => {
  expect((await get('void-notice')).json).toMatchObject({ status: 404, code: 'not_found' })
  await app.call(`POST ${path}/void`, { session: billing, json: { reason: 'Wrong client' } })
  const notice = await get('void-notice')
  expect(notice.text).toStartWith('%PDF-')
  expect(notice.headers.get('content-disposition')).toBe('inline; filename="2026-0001-void.pdf"')
  expect((await get('entries.csv')).text.split('\r\n')).toHaveLength(3)
})

test('members read no documents of bills', async () => {
  expect((await get('pdf', await app.session('member'))).status).toBe(403)
  expect((await app.call(`GET ${BILLS}/2026-9999/pdf`, { session: billing })).status).toBe(404)
})
