import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const CSV = { 'content-type': 'text/csv' }

let app: TestApp
let billing: string
let member: string
let reads: string
let reports: string

beforeAll(async () => {
  app = await startApp({ clock: { now: () => NOW } })
  await app.services.prices.loadDefaultPrices()
  billing = await app.session('billing')
  member = await app.session('member')
  reads = await app.token('read')
  reports = await app.token('svc')
})
afterAll(() => app.close())

const load = (table: string, query = '') =>
  app.call(`POST /api/v1/prices/load?${query}`, { session: billing, body: table, headers: CSV })
const tableOf = (...rows: string[]) => `provider,model,input,output\n${rows.join('\n')}\n`

test.each([
  'GET /api/v1/prices/loads',
  'GET /api/v1/prices/loads/pld_1',
  'POST /api/v1/prices/loads/pld_1/undo',
  'GET /api/v1/prices/update',
  'POST /api/v1/prices/update',
  'GET /api/v1/prices/check',
  'POST /api/v1/prices/check',
])('%s is for billing and admin, not for members or tokens', async (path) => {
  const more = path === 'POST /api/v1/prices/check' ? { body: tableOf('x,y,1,1'), headers: CSV } : {}
  for (const [who, status] of [
    [{}, 401],
    [{ session: member }, 403],
    [{ token: reads }, 403],
    [{ token: reports }, 403],
  ] as const) {
    expect([who, (await app.call(path, { ...more, ...who })).status]).toEqual([who, status])
  }
})

describe('a load', () => {
  test('shows the price before and after with their dates, and is the same in a dry run', async () => {
    const table = tableOf('openai,gpt-5,2,10', 'openai,gpt-99,1,2')
    const query = 'as_of=2026-11-19&name=prices.csv'
    const planned = (await load(table, `${query}&dry_run=true`)).json
    expect(planned).toMatchObject({
      as_of: '2026-11-19',
      as_of_from: 'given',
      load: null,
      counts: { new: 1, changed: 1, older: 0, same_price: 0 },
      changed: [
        {
          before: { input: 1.25, source: 'default', as_of: expect.stringMatching(/^2026-/) },
          after: { input: 2, source: 'tally', as_of: '2026-11-19', effective_from: '2026-11-20T00:00:00.000Z' },
        },
      ],
    })
    const loaded = (await load(table, query)).json
    expect(loaded).toEqual({ ...planned, dry_run: false, load: expect.any(String), valued: expect.any(Object) })

    const { json } = await app.call('GET /api/v1/prices/loads?limit=1', { session: billing })
    expect(json).toMatchObject({ data: [{ id: loaded.load, name: 'prices.csv', as_of: '2026-11-19' }], has_more: true })
    const older = (await load(tableOf('openai,gpt-5,3,10'), 'modified_at=2026-11-18T10:00:00Z')).json
    expect(older).toMatchObject({ as_of_from: 'modified', counts: { changed: 0, older: 1 }, load: null })
    expect(older.older).toMatchObject([{ before: { input: 2, as_of: '2026-11-19' }, after: { input: 3 } }])
  })

  test('is undone until an entry has a list value from it', async () => {
    const first = (await load(tableOf('x,undone,1,1'))).json.load
    const undone = await app.call(`POST /api/v1/prices/loads/${first}/undo`, { session: billing })
    expect(undone.json).toMatchObject({
      id: first,
      undone_at: '2026-11-20T19:30:00.000Z',
      undone_by: { name: expect.any(String) },
    })
    const { json } = await app.call('GET /api/v1/prices?model=undone', { session: billing })
    expect(json.data).toEqual([])

    const second = (await load(tableOf('openai,used,1,1'))).json.load
    const report = reportBody({ model: 'used', provider: 'openai' })
    await app.call('POST /api/v1/token-entries', { token: reports, json: report })
    const got = await app.call(`GET /api/v1/prices/loads/${second}`, { session: billing })
    expect(got.json.entries).toBe(1)
    const list = await app.call(`GET /api/v1/token-entries?price_load=${second}`, { session: billing })
    expect(list.json.data).toHaveLength(got.json.entries)
    const refused = await app.call(`POST /api/v1/prices/loads/${second}/undo`, { session: billing })
    expect([refused.status, refused.json.code]).toEqual([409, 'price_load_in_use'])
  })

  test.each([
    ['as_of=2027-01-01', '/query/as_of'],
    ['as_of=soon', '/query/as_of'],
    ['modified_at=soon', '/query/modified_at'],
    ['allow_older=perhaps', '/query/allow_older'],
    [`name=${'x'.repeat(201)}`, '/query/name'],
    ['name=a%0Ab', '/query/name'],
  ])('is refused with %s', async (query, pointer) => {
    const { status, json } = await load(tableOf('x,y,1,1'), query)
    expect([status, json.errors[0].pointer]).toEqual([422, pointer])
  })

  test('that does not exist is not found', async () => {
    for (const path of ['GET /api/v1/prices/loads/pld_1', 'POST /api/v1/prices/loads/pld_1/undo']) {
      expect((await app.call(path, { session: billing })).status).toBe(404)
    }
  })
})

test('an update needs a source that the server was started with: nobody names one in a request', async () => {
  expect((await app.call('GET /api/v1/prices/update', { session: billing })).json).toMatchObject({ configured: false })
  const { status, json } = await app.call('POST /api/v1/prices/update', { session: billing })
  expect([status, json.code]).toEqual([409, 'price_source_not_set'])
  expect((await app.call('POST /api/v1/prices/update?from=http://127.0.0.1/', { session: billing })).status).toBe(422)
})

test('the prices in use are compared with the embedded table, and with a file', async () => {
  await app.call('POST /api/v1/token-entries', { token: reports, json: reportBody({ model: 'gpt-5-mini' }) })
  const embedded = (await app.call('GET /api/v1/prices/check', { session: billing })).json
  expect(embedded).toMatchObject({ format: null })
  expect(embedded.differences.map(({ model }: { model: string }) => model)).not.toContain('gpt-5-mini')
  const body = tableOf('openai,gpt-5-mini,9,9')
  const compared = (await app.call('POST /api/v1/prices/check', { session: billing, body, headers: CSV })).json
  const difference = compared.differences.find(({ model }: { model: string }) => model === 'gpt-5-mini')
  expect(difference).toMatchObject({ entries: 1, before: { source: 'default' }, after: { input: 9, source: 'tally' } })
})
