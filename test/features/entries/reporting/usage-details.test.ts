/** Reports of single requests, service tiers, speeds, regions, tools and media. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { startApp, type TestApp } from '../../../support/app.ts'
import { reportBody } from '../../../support/reports.ts'

let app: TestApp
let token: string
let session: string

beforeAll(async () => {
  app = await startApp()
  token = await app.token('svc', await app.person())
  session = await app.session('admin')
  await setPrice('long-9', 2.5)
})
afterAll(() => app.close())

async function setPrice(model: string, input: number): Promise<void> {
  const json = {
    model,
    input,
    output: 15,
    cache_read: 0.25,
    tiers: [{ from_tokens: 272_001, input: input * 2, output: 22.5, cache_read: 0.5 }],
    tools: { web_search: 0.01 },
    variants: [
      { service_tier: 'batch', multiplier: 0.5 },
      { speed: 'fast', multiplier: 6 },
    ],
  }
  const { status } = await app.call('POST /api/v1/prices', { session, json })
  expect(status).toBe(201)
}

let sessions = 0
const newSession = () => `details-${++sessions}`

function report(change: Record<string, unknown> = {}) {
  const { tokens: _, ...body } = reportBody()
  const json = { ...body, model: 'long-9', tokens: { input: 10, output: 1 }, ...change }
  return app.call('POST /api/v1/token-entries', { token, json: JSON.parse(JSON.stringify(json)) })
}

async function pointersOf(change: Record<string, unknown>): Promise<string[]> {
  const { status, json } = await report(change)
  expect(status).toBe(422)
  return json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)
}

async function approve(id: string): Promise<void> {
  const { db } = app.services
  const { entries } = db.read.tables
  await db.write(async (tx) => {
    await tx
      .update(entries)
      .set({ status: 'approved' })
      .where(eq(entries.uid, id as never))
  })
}

describe('single requests', () => {
  test('are valued at the tier that each reaches, summed or listed', async () => {
    const tokens = { input: 600_000, output: 57_334 }
    const summed = await report({ tokens, requests: 2, requests_above: [{ threshold: 272_000, ...tokens }] })
    expect(summed.json).toMatchObject({ list_value: 4.290015, price: { note: null } })
    expect(summed.json.requests_above).toEqual([
      { threshold: 272_000, ...tokens, cache_read: 0, cache_write: 0, cache_write_1h: 0 },
    ])
    const one = { input: 300_000, output: 28_667 }
    const listed = await report({ tokens: undefined, usage: [one, one] })
    expect(listed.json).toMatchObject({ list_value: 4.290015, requests: 2, tokens: { ...tokens, total: 657_334 } })
    expect(listed.json.tokens.over_200k).toBeNull()
    const unknown = await report({ tokens, requests: 2 })
    expect(unknown.json).toMatchObject({ list_value: 2.36001, price: { note: 'tier_uncertain' } })
  })

  test('of the short form and of others are one list', async () => {
    const { json } = await report({
      tokens: { input: 900_000, output: 0, input_includes_cache: true, cache_read: 100, over_200k: { input: 500_000 } },
      requests_above: [{ threshold: 32_000, input: 800_000, cache_read: 50 }],
    })
    expect(json.requests_above).toMatchObject([
      { threshold: 32_000, input: 799_950, cache_read: 50 },
      { threshold: 200_000, input: 500_000 },
    ])
    expect(json.tokens.over_200k).toMatchObject({ input: 500_000 })
  })

  test('stay with the entry, so that it is repriced exactly', async () => {
    const one = { input: 300_000, output: 0 }
    const { json } = await report({ model: 'later-9', tokens: undefined, usage: [one, { input: 5 }] })
    expect(json.list_value).toBeNull()
    await setPrice('later-9', 4)
    const { json: valued } = await app.call(`GET /api/v1/token-entries/${json.id}`, { session })
    expect(valued.list_value).toBe(2.40002)
  })

  test('that contradict the counts or each other are refused', async () => {
    const tokens = { input: 100, output: 5 }
    expect(await pointersOf({ tokens, requests_above: [{ threshold: 10, input: 101 }] })).toEqual([
      '/requests_above/0/input exceeds_total',
    ])
    expect(
      await pointersOf({
        tokens,
        requests_above: [
          { threshold: 10, input: 50 },
          { threshold: 10, input: 60 },
        ],
      }),
    ).toEqual(['/requests_above/1/threshold not_ascending', '/requests_above/1/input exceeds_total'])
    expect(
      await pointersOf({ tokens: { ...tokens, over_200k: { input: 1 } }, requests_above: [{ threshold: 200_000 }] }),
    ).toEqual(['/requests_above/0/threshold not_allowed', '/tokens/over_200k/input exceeds_total'])
    const usage = [{ input: 100, output: 5 }]
    expect(await pointersOf({ usage, tokens: { input: 99, output: 5 } })).toEqual(['/tokens/input differs_from_usage'])
    expect(await pointersOf({ usage, requests: 1, tokens })).toEqual(['/requests not_allowed'])
    const wrong = Array(2_000).fill({ input: 1, cache_read: 2, input_includes_cache: true })
    expect(await pointersOf({ usage: wrong, tokens: undefined })).toHaveLength(20)
    expect(await pointersOf({ tokens: undefined })).toEqual(['/tokens required'])
    expect(await pointersOf({ tokens: { ...tokens, input_audio: 60, input_image: 41 } })).toEqual([
      '/tokens/input_audio exceeds_total',
    ])
    expect(await pointersOf({ service_tier: 'no tier', tools: { Search: 1 } })).toEqual([
      '/service_tier bad_format',
      '/tools/Search unknown_field',
    ])
  })

  test('listed with an Idempotency-Key are recognized after prices with other tiers were loaded', async () => {
    const { tokens: _, ...body } = reportBody()
    const json = { ...body, model: 'long-9', usage: [{ input: 70_001 }, { input: 60_001 }] }
    const send = (change = {}) =>
      app.call('POST /api/v1/token-entries', {
        token,
        json: { ...json, ...change },
        headers: { 'Idempotency-Key': 'k' },
      })
    const first = await send()
    const tiers = [{ from_tokens: 65_000, input: 9 }]
    await app.call('POST /api/v1/prices', { session, json: { model: 'other-9', input: 1, output: 1, tiers } })
    expect((await send()).json.id).toBe(first.json.id)
    expect((await send({ usage: [{ input: 80_001 }, { input: 50_001 }] })).status).toBe(422)
  })
})

describe('a service tier, a speed or a region', () => {
  test('has entries of its own in a session, each with its price', async () => {
    const session_id = newSession()
    const tokens = { input: 1_000_000, output: 0 }
    const plain = await report({ session_id, tokens, requests: 9, requests_above: [{ threshold: 1_000 }] })
    const fast = await report({ session_id, tokens, speed: 'FAST', requests_above: [{ threshold: 1_000 }] })
    const batch = await report({ session_id, tokens, service_tier: 'batch', requests_above: [{ threshold: 1_000 }] })
    expect([plain, fast, batch].map(({ status, json }) => [status, json.list_value, json.part])).toEqual([
      [201, 2.5, 1],
      [201, 15, 1],
      [201, 1.25, 1],
    ])
    expect([plain.json.speed, fast.json.speed, batch.json.service_tier]).toEqual([null, 'fast', 'batch'])
    const more = await report({
      session_id,
      tokens: { input: 2_000_000, output: 0 },
      speed: 'fast',
      requests_above: [{ threshold: 1_000 }],
    })
    expect([more.status, more.json.id, more.json.list_value]).toEqual([200, fast.json.id, 30])
    const standard = await report({ session_id, tokens, speed: 'standard', service_tier: 'default', region: 'global' })
    expect(standard.json.id).toBe(plain.json.id)
  })

  test('without a price is valued at the standard one, and noted', async () => {
    const { json } = await report({ service_tier: 'scale', region: 'us', tools: { web_search: 2, browser: 1 } })
    expect(json).toMatchObject({
      service_tier: 'scale',
      region: 'us',
      tools: { browser: 1, web_search: 2 },
      list_value: 0.02004,
      price: { note: 'service_tier_unpriced,region_unpriced,tool_unpriced' },
    })
    const { json: detail } = await app.call(`GET /api/v1/token-entries/${json.id}`, { session })
    expect(detail.valuation).toMatchObject({
      tools: [{ name: 'web_search', uses: 2, price: 0.01, amount: 0.02 }],
      multipliers: [],
    })
  })

  test('continues behind an approved part with what was added, tools included', async () => {
    const session_id = newSession()
    const reported = (input: number, web_search: number) =>
      report({
        session_id,
        tokens: { input, output: 0 },
        speed: 'fast',
        tools: { web_search },
        requests_above: [{ threshold: 272_000, input: Math.max(0, input - 1_000) }],
      })
    const first = await reported(1_000, 1)
    await approve(first.json.id)
    const second = await reported(301_000, 3)
    expect(second.json).toMatchObject({
      part: 2,
      speed: 'fast',
      tools: { web_search: 2 },
      tokens: { input: 300_000 },
      requests_above: [{ threshold: 272_000, input: 300_000 }],
      list_value: 9.02,
    })
    await approve(second.json.id)
    const search = await reported(301_000, 4)
    expect(search.json).toMatchObject({ part: 3, tools: { web_search: 1 }, list_value: 0.01 })
    expect((await reported(400_000, 2)).json.code).toBe('session_shrunk')
  })
})
