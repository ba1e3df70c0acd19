import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const FIXTURES = join(import.meta.dir, '../../fixtures/prices')

let app: TestApp
let admin: string
let billing: string
let member: string
let reads: string
let reports: string

beforeAll(async () => {
  app = await startApp({ clock: { now: () => NOW } })
  await app.services.prices.loadDefaultPrices()
  admin = await app.session('admin')
  billing = await app.session('billing')
  member = await app.session('member')
  reads = await app.token('read', await app.person('member'))
  reports = await app.token('svc')
})
afterAll(() => app.close())

const CSV = { 'content-type': 'text/csv' }

async function report(model: string, change: Record<string, unknown> = {}): Promise<string> {
  const { json } = await app.call('POST /api/v1/token-entries', {
    token: reports,
    json: reportBody({ model, tokens: { input: 1_000_000, output: 0 }, ...change }),
  })
  return json.id
}

const entryOf = async (id: string) => (await app.call(`GET /api/v1/token-entries/${id}`, { session: admin })).json

describe('who may', () => {
  const load = 'POST /api/v1/prices/load'
  const changes: [string, Record<string, unknown>][] = [
    ['POST /api/v1/prices', { json: { model: 'm', input: 1, output: 1 } }],
    [load, { body: 'model,input,output\nm,1,1\n', headers: CSV }],
    ['POST /api/v1/prices/reprice', { json: {} }],
    ['POST /api/v1/price-aliases', { json: { alias: 'm', model: 'gpt-5' } }],
    ['DELETE /api/v1/price-aliases?alias=m', {}],
  ]

  test.each(changes)('change prices: billing and admin, no member and no token (%s)', async (path, body) => {
    for (const [who, status] of [
      [{}, 401],
      [{ session: member }, 403],
      [{ token: reads }, 403],
      [{ token: reports }, 403],
    ] as const) {
      expect([path, who, (await app.call(path, { ...body, ...who })).status]).toEqual([path, who, status])
    }
    // Nothing of a body is read before.
    expect((await app.call(path, { session: member, body: '{', headers: CSV })).status).toBe(403)
    for (const session of [billing, admin]) {
      const { status } = await app.call(path, { ...body, session })
      expect([path, [200, 201, 204, 404].includes(status)]).toEqual([path, true])
    }
  })

  test.each(['/prices', '/prices/resolve?model=gpt-5', '/price-aliases'])(
    'read prices: everyone (%s)',
    async (path) => {
      for (const who of [{ session: member }, { session: billing }, { token: reads }])
        expect((await app.call(`GET /api/v1${path}`, who)).status).toBe(200)
      expect((await app.call(`GET /api/v1${path}`, { token: reports })).status).toBe(403)
    },
  )
})

describe('a list of prices', () => {
  const list = async (query: string) => (await app.call(`GET /api/v1/prices?${query}`, { token: reads })).json

  test('has every filter, which must all hold', async () => {
    const { data } = await list('provider=anthropic&model=claude-haiku-4-5,claude-opus-4-8')
    expect(data.map(({ model }: { model: string }) => model).sort()).toEqual(['claude-haiku-4-5', 'claude-opus-4-8'])
    expect((await list('search=SONNET-4-5&provider=anthropic&source=default')).data).toMatchObject([
      { model: 'claude-sonnet-4-5', tiers: [], effective_from: '2026-04-30T00:00:00.000Z' },
      {
        provider: 'anthropic',
        model: 'claude-sonnet-4-5',
        input: 3,
        output: 15,
        cache_read: 0.3,
        cache_write: 3.75,
        cache_write_1h: 6,
        tiers: [{ from_tokens: 200_001, input: 6, output: 22.5 }],
        effective_from: null,
        source: 'default',
        loaded_by: null,
      },
    ])
    expect((await list('source=litellm')).data).toEqual([])
  })

  test('comes in pages', async () => {
    const first = await list('limit=2&provider=anthropic')
    expect([first.data.length, first.has_more]).toEqual([2, true])
    const second = await list(`limit=1000&provider=anthropic&page=${first.next_page}`)
    expect([second.has_more, second.next_page]).toEqual([false, null])
    const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('is exported as CSV that can be loaded', async () => {
    const { text, headers } = await app.call('GET /api/v1/prices?provider=x-ai', {
      token: reads,
      headers: { accept: 'text/csv' },
    })
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(text.split('\r\n')[0]).toBe(
      'provider,model,input,output,cache_read,cache_write,cache_write_1h,tiers,input_audio,input_image,output_audio,output_image,tools,variants,hours,effective_from,source,as_of,effective_until',
    )
    const { json } = await app.call('POST /api/v1/prices/load?dry_run=true', {
      session: admin,
      body: text,
      headers: CSV,
    })
    expect(json.counts).toMatchObject({
      new: 0,
      changed: 0,
      refused: 0,
      unchanged: text.trim().split('\r\n').length - 1,
    })
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['page=x', 'page'],
    ['source=somebody', 'source'],
    ['format=xml', 'format'],
    ['colour=red', 'colour'],
  ])('refuses %s', async (query, name) => {
    const { status, json } = await app.call(`GET /api/v1/prices?${query}`, { token: reads })
    expect([status, json.errors[0].pointer]).toEqual([422, `/query/${name}`])
  })
})

test('sorted by model, those of recent entries come first, and then the others, both by name', async () => {
  const own = await startApp({ clock: { now: () => NOW } })
  try {
    const session = await own.session('admin')
    const body = 'model,provider,input,output\nb,x,1,1\nC,x,1,1\nd,x,1,1\na,x,1,1\nd,y,1,1\n'
    await own.call('POST /api/v1/prices/load', { session, body, headers: CSV })
    const token = await own.token('svc')
    for (const [model, provider, day] of [
      ['d', 'y', '2026-11-18'],
      ['c', 'x', '2026-09-18'],
      ['b', 'x', '2026-08-01'],
    ]) {
      const at = { started_at: `${day}T10:00:00Z`, ended_at: `${day}T11:00:00Z` }
      await own.call('POST /api/v1/token-entries', { token, json: reportBody({ model, provider, ...at }) })
    }
    const list = async (order: string) => {
      const rows: string[] = []
      for (let page = ''; ; ) {
        const { json } = await own.call(`GET /api/v1/prices?sort=model&order=${order}&limit=2${page}`, { session })
        for (const { model, provider, in_use } of json.data) rows.push(`${model} ${provider}${in_use ? ' in use' : ''}`)
        if (!json.has_more) return rows
        page = `&page=${json.next_page}`
      }
    }
    expect(await list('asc')).toEqual(['C x in use', 'd y in use', 'a x', 'b x', 'd x'])
    expect(await list('desc')).toEqual(['d y in use', 'C x in use', 'd x', 'b x', 'a x'])
  } finally {
    await own.close()
  }
})

test('one price is found by the id that entries name', async () => {
  const entry = await entryOf(await report('gpt-5'))
  const { json } = await app.call(`GET /api/v1/prices/${entry.price.id}`, { token: reads })
  expect(json).toMatchObject({ id: entry.price.id, provider: 'openai', model: 'gpt-5', input: 1.25 })
  expect(entry.valuation.price.id).toBe(entry.price.id)
  expect((await app.call('GET /api/v1/prices/prc_none', { token: reads })).status).toBe(404)
  const other = 'GET /api/v1/prices/prc_00000000000000000000000000000000'
  expect((await app.call(other, { token: reads })).json.code).toBe('not_found')
})

describe('resolving', () => {
  const resolve = async (query: string) => app.call(`GET /api/v1/prices/resolve?${query}`, { token: reads })

  test('tells the price, the step and why the steps before found nothing', async () => {
    const { json } = await resolve('model=claude-sonnet-4-5-20250930')
    expect(json).toMatchObject({ step: 6, price: { model: 'claude-sonnet-4-5' }, at: new Date(NOW).toISOString() })
    expect(json.steps.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'not_listed',
      'does_not_apply',
      'does_not_apply',
      'not_listed',
      'does_not_apply',
      'found',
    ])
    expect((await resolve('model=auto')).json).toMatchObject({ step: 8, price: null })
  })

  test('says what one request is worth, at the long-context price where it is long', async () => {
    const { json } = await resolve('model=claude-sonnet-4-5&input=250000&output=1000&at=2026-04-01')
    expect(json.value).toEqual({
      parts: [
        { kind: 'input', tokens: 250_000, price: 6, from_tokens: 200_001, amount: 1.5 },
        { kind: 'output', tokens: 1_000, price: 22.5, from_tokens: 200_001, amount: 0.0225 },
      ],
      multipliers: [],
      tools: [],
      note: null,
      list_value: 1.5225,
    })
    expect((await resolve('model=claude-sonnet-4-5&input=3')).json.value.list_value).toBe(0.000009)
    expect((await resolve('model=auto&input=3')).json.value).toBeNull()
    expect((await resolve('model=claude-sonnet-4-5')).json.value).toBeNull()
  })

  test('says what a request with another service and tools is worth, and where the price is from', async () => {
    const { json } = await resolve('model=claude-opus-4-6&input=1000&speed=Fast&region=us&tool=web_search:3')
    expect(json.value).toMatchObject({
      multipliers: [{ kind: 'speed', name: 'fast', multiplier: 6 }, { kind: 'region' }],
      tools: [{ name: 'web_search', uses: 3, price: 0.01, amount: 0.03 }],
      list_value: 0.063,
    })
    expect(json.sources).not.toEqual([])
    for (const source of json.sources) expect(source.as_of).toMatch(/^2026-\d\d-\d\d$/)
    const tools = (await resolve('model=claude-opus-4-6&tool=web_search:1,web_search:2')).json.value
    expect(tools).toMatchObject({ parts: [], list_value: 0.02 })
  })

  test.each([
    ['service_tier=a%20b', '/query/service_tier'],
    ['tool=web_search', '/query/tool'],
    ['tool=Web:1', '/query/tool'],
    ['tool=web_search:1.5', '/query/tool'],
    [`tool=${Array.from({ length: 33 }, (_, index) => `t${index}:1`).join(',')}`, '/query/tool'],
  ])('refuses %s', async (query, pointer) => {
    expect((await resolve(`model=gpt-5&${query}`)).json.errors).toMatchObject([{ pointer, code: 'bad_format' }])
  })

  test('goes by provider and moment', async () => {
    expect((await resolve('model=o3&at=2025-06-09')).json.price.input).toBe(10)
    expect((await resolve('model=o3&at=2025-06-10T00:00:00Z')).json.price.input).toBe(2)
    expect((await resolve('model=claude-opus-4-8&provider=google')).json.price.provider).toBe('google')
  })

  test('needs a model, moments that exist and counts that can be', async () => {
    expect((await resolve('model=x&input=-1&output=1.5')).json.errors).toMatchObject([
      { pointer: '/query/input', code: 'out_of_range' },
      { pointer: '/query/output', code: 'out_of_range' },
    ])
    expect((await resolve('')).json.errors).toMatchObject([{ pointer: '/query/model', code: 'required' }])
    expect((await resolve('model=x&at=yesterday')).json.errors).toMatchObject([{ pointer: '/query/at' }])
  })
})

describe('setting a price', () => {
  const set = (json: unknown) => app.call('POST /api/v1/prices', { session: billing, json })

  test('values the entries that had none, and says how much that is', async () => {
    const id = await report('set-1')
    expect((await entryOf(id)).cost).toBeNull()
    const { status, headers, json } = await set({ model: 'set-1', input: 0.5, output: 2, cache_read: 0.000001 })
    expect(status).toBe(201)
    expect(json).toMatchObject({
      added: true,
      price: { provider: '', model: 'set-1', input: 0.5, cache_read: 0.000001, cache_write: null, source: 'admin' },
      valued: { dry_run: false, entries: 1, cost: { before: 0, after: 0.5 }, complete: true, next_page: null },
    })
    expect(json.price.loaded_by.name).toStartWith('Person')
    expect(headers.get('location')).toBe(`/api/v1/prices/${json.price.id}`)
    expect(await entryOf(id)).toMatchObject({ cost: 0.5, price: { id: json.price.id, step: 1 } })

    const again = await set({ model: 'set-1', input: 0.5, output: 2, cache_read: 0.000001 })
    expect([again.status, again.json.added, again.json.price.id]).toEqual([200, false, json.price.id])
  })

  test('takes a date, tiers and nothing for free', async () => {
    const dated = await set({ provider: 'openai', model: 'gpt-5', input: 1, output: 8, effective_from: '2026-12-01' })
    expect(dated.json.price.effective_from).toBe('2026-12-01T00:00:00.000Z')
    const always = await set({ model: 'set-2', input: 0, output: 0, effective_from: 'always' })
    expect(always.json.price).toMatchObject({ input: 0, output: 0, effective_from: null })
    const tiers = [{ from_tokens: 200_001, input: 2 }]
    expect((await set({ model: 'set-3', input: 1, output: 1, tiers })).json.price.tiers).toEqual(tiers)
  })

  test.each([
    [{ model: 'x', input: 1 }, '/output'],
    [{ model: 'x', input: -1, output: 1 }, '/input'],
    [{ model: 'x', input: '1', output: 1 }, '/input'],
    [{ model: '', input: 1, output: 1 }, '/model'],
    [{ model: 'x', input: 1, output: 1, outputs: 1 }, '/outputs'],
    [{ model: 'x', input: 1, output: 1, effective_from: 'yesterday' }, '/effective_from'],
    [{ model: 'x', input: 1, output: 1, effective_until: 'soon' }, '/effective_until'],
    [{ model: 'x', input: 1, output: 1, effective_from: '2026-12-01', effective_until: '2026-12-01' }, ''],
    [{ model: 'x', input: 1, output: 1, tiers: [{ from_tokens: 9, input: 0.0000001 }] }, '/tiers'],
    [{ model: 'x' }, '/input'],
    [{ model: 'x', input: 5_000, output: 1 }, ''],
    [{ model: 'x', input: 0.0000001, output: 1 }, '/input'],
  ])('refuses %j', async (json, pointer) => {
    const answer = await set(json)
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, pointer])
  })
})

describe('setting a price that another one has', () => {
  const call = (path: string, json: object) => app.call(`POST /api/v1/prices${path}`, { session: billing, json })
  const SONNET = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
  const applying = async () =>
    (await app.call('GET /api/v1/prices/resolve?model=claude-sonnet-4-5&provider=anthropic', { token: reads })).json
      .price

  test('keeps what is not given, shows the change without making it, and can be withdrawn', async () => {
    const table = await applying()
    const dry = await call('', { ...SONNET, input: 2.5, cache_write: null, dry_run: true })
    expect(dry).toMatchObject({
      status: 200,
      json: {
        dry_run: true,
        added: true,
        price: null,
        before: { input: 3, source: 'default' },
        after: { input: 2.5, output: 15, cache_read: 0.3, tiers: table.tiers, tools: table.tools },
        valued: { dry_run: true, entries: 0 },
      },
    })
    expect(dry.json.kept).toContain('cache_write')
    expect(dry.json.kept).not.toContain('input')
    expect(await applying()).toEqual(table)

    const set = await call('', { ...SONNET, input: 2.5, tiers: [] })
    expect(set.json.price).toMatchObject({ ...dry.json.after, tiers: [] })
    const only = await call('', { ...SONNET, input: 2.5, output: 14, only: true })
    expect(only.json).toMatchObject({ kept: [], price: { cache_read: null, tiers: [], tools: {}, variants: [] } })

    const until = { ...SONNET, effective_until: '2026-12-01' }
    const planned = await call('/withdraw', { ...until, dry_run: true })
    expect(planned.json).toMatchObject({
      dry_run: true,
      prices: [{ input: 2.5, effective_until: '2026-12-01T00:00:00.000Z' }, { input: 2.5 }],
      before: { output: 14, source: 'admin' },
      after: { output: 15, source: 'default' },
    })
    expect((await applying()).effective_until).toBeNull()
    expect((await call('/withdraw', until)).json).toEqual({ ...planned.json, dry_run: false })
    expect(await applying()).toMatchObject({ output: 14, effective_until: '2026-12-01T00:00:00.000Z' })
    expect((await call('/withdraw', SONNET)).json.prices).toHaveLength(2)
    expect(await applying()).toEqual(table)
    expect((await call('/withdraw', SONNET)).json.code).toBe('not_found')
    expect((await call('/withdraw', { ...SONNET, effective_until: 'soon' })).json.errors[0].pointer).toBe(
      '/effective_until',
    )
  })

  test('says in a dry run which entries without a price would be valued', async () => {
    const id = await report('set-dry')
    const { json } = await call('', { model: 'set-dry', input: 0.5, output: 2, dry_run: true })
    expect(json).toMatchObject({ before: null, valued: { entries: 1, cost: { before: 0, after: 0.5 } } })
    expect((await entryOf(id)).cost).toBeNull()
  })
})

describe('loading a table', () => {
  const load = (
    query: string,
    body: string,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ) => app.call(`POST /api/v1/prices/load?${query}`, { session: admin, body, headers })

  test('tells first what it would do, then does it, values entries, and does nothing the second time', async () => {
    const text = await Bun.file(join(FIXTURES, 'litellm.json')).text()
    const id = await report('gpt-9')
    const planned = await load('dry_run=true', text)
    expect(planned.json).toMatchObject({
      dry_run: true,
      format: 'litellm',
      counts: { new: 11, changed: 0, unchanged: 0, refused: 9, skipped: 4, aliases: 6, rounded: 2 },
      valued: null,
    })
    expect((await app.call('GET /api/v1/prices?source=litellm', { token: reads })).json.data).toEqual([])
    expect((await entryOf(id)).cost).toBeNull()

    const { json } = await load('', text)
    expect(json).toMatchObject({ dry_run: false, counts: planned.json.counts, valued: { entries: 1 } })
    expect(json.new).toEqual(planned.json.new)
    expect(json.refused).toContainEqual({
      provider: 'github_copilot',
      model: 'unknown-9',
      reasons: [{ code: 'no_input_price', message: 'has no input price (a missing price means unknown, not free)' }],
    })
    expect(await entryOf(id)).toMatchObject({ cost: 1.25, price: { step: 4 } })
    const again = await load('', text)
    expect(again.json).toMatchObject({ counts: { new: 0, changed: 0, unchanged: 11 }, valued: { entries: 0 } })
  })

  test('takes what an admin insists on, and dates what the file does not', async () => {
    const table = 'provider,model,input,output\nx,free-of-charge,0,0\nx,dear,1500,1\n'
    expect((await load('', table, CSV)).json.counts).toMatchObject({ new: 0, refused: 2 })
    const { json } = await load('allow_free=true&force=true&effective_from=2027-01-01', table, CSV)
    expect(json.new).toMatchObject([
      { model: 'free-of-charge', input: 0, effective_from: '2027-01-01T00:00:00.000Z' },
      { model: 'dear', input: 1500 },
    ])
    expect(
      (await load('format=tally&effective_from=always', 'model,input,output\nold,1,1\n', CSV)).json.new,
    ).toMatchObject([{ model: 'old', effective_from: null }])
  })

  test('shows a changed price before and after', async () => {
    await load('', '{"prices": [{"provider": "x", "model": "turns", "input": 1, "output": 2}]}')
    const { json } = await load('', '{"prices": [{"provider": "x", "model": "turns", "input": 3, "output": 2}]}')
    expect(json).toMatchObject({
      counts: { new: 0, changed: 1 },
      changed: [
        { before: { input: 1, effective_from: null }, after: { input: 3, effective_from: '2026-11-20T00:00:00.000Z' } },
      ],
    })
  })

  test.each([
    ['', 'no table', CSV, 422, 'unreadable_price_table'],
    ['', '{', undefined, 422, 'unreadable_price_table'],
    ['', '{}', undefined, 422, 'unreadable_price_table'],
    ['format=litellm', 'model,input,output\n', CSV, 422, 'unreadable_price_table'],
    ['format=excel', '[]', undefined, 422, 'validation_failed'],
    ['dry_run=perhaps', '[]', undefined, 422, 'validation_failed'],
    ['effective_from=soon', '[]', undefined, 422, 'validation_failed'],
    ['', '[]', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['', '[]', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ])('refuses %j %j', async (query, body, headers, status, code) => {
    const answer = await load(query, body, headers)
    expect([answer.status, answer.json.code]).toEqual([status, code])
  })

  test('takes eight megabytes and refuses more', async () => {
    const table = (bytes: number) => `[${' '.repeat(bytes - 2)}]`
    expect((await load('', table(8 * 1_048_576))).status).toBe(200)
    expect((await load('', table(8 * 1_048_576 + 1))).json.code).toBe('body_too_large')
  })

  test('refuses what is not UTF-8', async () => {
    const answer = await app.call('POST /api/v1/prices/load', {
      session: admin,
      body: new Uint8Array([0x5b, 0xff, 0x5d]),
      headers: { 'content-type': 'application/json' },
    })
    expect([answer.status, answer.json.code]).toEqual([400, 'malformed_json'])
  })
})

describe('aliases', () => {
  test('are made, listed, moved and removed, with any sign in their name', async () => {
    const alias = 'team/coder @ "home"'
    const id = await report(alias)
    const make = (model: string) =>
      app.call('POST /api/v1/price-aliases', { session: billing, json: { alias, model, provider: 'anthropic' } })
    expect((await make('claude-sonnet-4-5')).json).toMatchObject({
      resolution: { step: 2, price: { model: 'claude-sonnet-4-5' } },
      valued: { entries: 1, cost: { after: 3 } },
    })
    expect((await entryOf(id)).price.step).toBe(2)
    await make('claude-opus-4-8')
    const { json } = await app.call('GET /api/v1/price-aliases', { token: reads })
    expect(json.data.filter((one: { alias: string }) => one.alias === alias)).toMatchObject([
      { model: 'claude-opus-4-8', provider: 'anthropic', source: 'admin' },
    ])
    const all = await app.call('GET /api/v1/price-aliases?all=true', { token: reads })
    expect(all.json.data.length).toBeGreaterThan(500)
    const remove = () =>
      app.call(`DELETE /api/v1/price-aliases?alias=${encodeURIComponent(alias)}`, { session: billing })
    expect((await remove()).status).toBe(204)
    expect((await remove()).status).toBe(404)
    expect((await app.call('DELETE /api/v1/price-aliases', { session: billing })).status).toBe(422)
    // What it valued keeps its value.
    expect((await entryOf(id)).cost).toBe(3)
  })
})

describe('repricing', () => {
  const reprice = (json: unknown) => app.call('POST /api/v1/prices/reprice', { session: admin, json })

  test('shows first, then moves what is asked for, and names who asked', async () => {
    await app.call('POST /api/v1/prices', { session: admin, json: { model: 'again', input: 1, output: 1 } })
    const id = await report('again')
    await app.call('POST /api/v1/prices', { session: admin, json: { model: 'again', input: 4, output: 1 } })
    const asked = {
      all: true,
      models: ['again'],
      starting_at: '2026-11-20T00:00:00Z',
      ending_at: '2026-11-21T00:00:00Z',
    }
    const expected = {
      entries: 1,
      list_value: { before: 1, after: 4 },
      cost: { before: 1, after: 4 },
      models: [{ model: 'again', entries: 1, list_value: { before: 1, after: 4 } }],
      complete: true,
      next_page: null,
    }
    expect((await reprice({ ...asked, dry_run: true })).json).toEqual({ dry_run: true, ...expected })
    expect((await entryOf(id)).cost).toBe(1)
    expect((await reprice(asked)).json).toEqual({ dry_run: false, ...expected })
    expect((await entryOf(id)).cost).toBe(4)
    const { json } = await app.call(`GET /api/v1/token-entries/${id}/history`, { session: admin })
    expect(json.data.at(-1)).toMatchObject({
      action: 'repriced',
      actor: { user: { name: expect.stringMatching(/^Person/) } },
      details: { list_value: { from: 1, to: 4 } },
    })
  })

  test.each([
    [{ models: ['x'] }, '/models'],
    [{ starting_at: '2026-11-20T00:00:00Z' }, '/starting_at'],
    [{ all: true, ending_at: '2026-11-31T00:00:00Z' }, '/ending_at'],
    [{ all: true, ending_at: 'tomorrow' }, '/ending_at'],
    [{ all: true, page: 'x' }, '/page'],
    [{ everything: true }, '/everything'],
  ])('refuses %j', async (json, pointer) => {
    const answer = await reprice(json)
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, pointer])
  })
})

test('an entry without a price, one that is free and one that nobody could price are told apart, in JSON and CSV', async () => {
  await app.call('POST /api/v1/prices', { session: admin, json: { model: 'gift', input: 0, output: 0 } })
  await report('gift', { session_id: 'gift' })
  await report('unheard-of', { session_id: 'unheard-of' })
  const list = 'GET /api/v1/token-entries?session_id=gift,unheard-of'
  const { json } = await app.call(list, { session: admin })
  expect(json.data.map(({ cost, list_value: value }: Record<string, unknown>) => [cost, value])).toEqual([
    [null, null],
    [0, 0],
  ])
  const { text } = await app.call(`${list}&format=csv`, { session: admin })
  const [header, ...rows] = text.trim().split('\r\n')
  const column = header!.split(',').indexOf('cost')
  expect(rows.map((row) => row.split(',')[column])).toEqual(['', '0'])
})
