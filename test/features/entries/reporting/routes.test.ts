import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import { EVERYBODYS_TOKENS } from '../../../../src/features/people/service.ts'
import expected from '../../../fixtures/agents-expected.json'
import { startApp, type TestApp } from '../../../support/app.ts'
import { rowsAt } from '../../../support/databases.ts'
import { reportBody } from '../../../support/reports.ts'

let app: TestApp
let token: string
let read: string

beforeAll(async () => {
  app = await startApp()
  await app.services.prices.loadDefaultPrices()
  const person = await app.person()
  token = await app.token('svc', person)
  read = await app.token('read', person)
})
afterAll(() => app.close())

let sessions = 0
const newSession = () => `session-${++sessions}`

function body(change: Record<string, unknown> = {}) {
  return reportBody({ tokens: { input: 1000, output: 500 }, ...change })
}

const report = (change: Record<string, unknown> = {}, headers: Record<string, string> = {}, as = token) =>
  app.call('POST /api/v1/token-entries', { token: as, json: body(change), headers })

async function countEntries(): Promise<number> {
  const [counted] = await rowsAt(app.location, 'SELECT count(*) AS count FROM entries')
  return Number(counted!.count)
}

/** Locks an entry the way approval and billing will. */
async function approve(id: string): Promise<void> {
  const { db } = app.services
  const { entries } = db.read.tables
  await db.write(async (tx) => {
    const { eq } = await import('drizzle-orm')
    await tx
      .update(entries)
      .set({ status: 'approved' })
      .where(eq(entries.uid, id as never))
  })
}

describe('a first report', () => {
  test('becomes a submitted entry of the token’s creator, valued at list price', async () => {
    const { status, json, headers } = await report()
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/api/v1/token-entries/${json.id}`)
    expect(json).toMatchObject({
      status: 'submitted',
      source: 'report',
      agent_manager: { name: 'Person 1' },
      tokens: { input: 1000, output: 500, cache_read: 0, cache_write: 0, cache_write_1h: 0, total: 1500 },
      reported_cost: null,
      placement: { by: 'unattributed' },
      project: null,
      session_id: null,
    })
    // 1,000 × 1.25 + 500 × 10 dollars per million
    expect([json.cost, json.list_value, json.price.step]).toEqual([0.00625, 0.00625, 4])
    const shown = await app.call(`GET /api/v1/token-entries/${json.id}`, { token: read })
    const { valuation, placed_by_rule, ...entry } = shown.json
    const paid = { marginal_cost: null, allocated_cost: null, fee_share: null, provisional: false, settled_by: null }
    expect(entry).toEqual({ ...json, ...paid })
    expect(placed_by_rule).toBeNull()
    expect(valuation.parts.map(({ amount }: { amount: number }) => amount)).toEqual([0.00125, 0.005])
  })

  test('keeps a reported cost beside the list value, to the last digit', async () => {
    const text = JSON.stringify(body({ reported_cost: 0 })).replace(
      '"reported_cost":0',
      '"reported_cost":123456789.123456789',
    )
    const answer = await app.call('POST /api/v1/token-entries', {
      token,
      body: text,
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.text).toContain('"cost":123456789.123456789,"reported_cost":123456789.123456789,"list_value":0.00625')
  })

  test('rounds a reported cost of however many digits', async () => {
    for (const cost of [`0.${'9'.repeat(5_000)}`, `1${'0'.repeat(500)}e-500`]) {
      const text = JSON.stringify(body({ reported_cost: 0 })).replace('"reported_cost":0', `"reported_cost":${cost}`)
      const headers = { 'content-type': 'application/json' }
      const answer = await app.call('POST /api/v1/token-entries', { token, body: text, headers })
      expect([answer.status, answer.json.cost]).toEqual([201, 1])
    }
  })

  test('of a model without a price is unpriced, which is not the same as free', async () => {
    const unknown = await report({ model: 'claude-sonnet-9-9-20270101' })
    expect([unknown.json.cost, unknown.json.list_value, unknown.json.price]).toEqual([null, null, null])
    const free = await report({ model: 'claude-sonnet-9-9-20270101', reported_cost: 0 })
    expect([free.json.cost, free.json.list_value]).toEqual([0, null])
  })

  test('takes every optional field', async () => {
    const { json } = await report({
      tokens: {
        input: 300_000,
        output: 5,
        cache_read: 20,
        cache_write: 10,
        cache_write_1h: 5,
        input_includes_cache: true,
        over_200k: { input: 1000 },
      },
      provider: 'openai',
      requests: 3,
      summary: 'Fix the\nlogin',
      labels: { repository: 'acme/web', branch: 'main' },
      session_id: newSession(),
    })
    expect(json).toMatchObject({
      tokens: { input: 299_965, cache_read: 20, over_200k: { input: 1000, output: 0 } },
      provider: 'openai',
      requests: 3,
      summary: 'Fix the login',
      labels: { branch: 'main', repository: 'acme/web' },
      part: 1,
    })
  })

  test('that is identical to an earlier one is kept and marked as a possible duplicate', async () => {
    const change = { summary: 'the very same' }
    const first = await report(change)
    const second = await report(change)
    const third = await report(change)
    expect([first.json.possible_duplicate_of, second.status, second.json.possible_duplicate_of]).toEqual([
      null,
      201,
      first.json.id,
    ])
    expect(third.json.possible_duplicate_of).toBe(first.json.id)
    const byAnother = await report(change, {}, await app.token('svc'))
    expect(byAnother.json.possible_duplicate_of).toBeNull()
  })
})

describe('placement', () => {
  test('by a project name makes the project on first mention, and finds it again whatever the case', async () => {
    const first = await report({ project: 'Acme Web' })
    const again = await report({ project: '  ACME web ' })
    expect(first.json).toMatchObject({
      project: { key: 'Acme Web', name: 'Acme Web' },
      placement: { by: 'named', note: null },
    })
    expect(again.json.project.id).toBe(first.json.project.id)
  })

  test('by a ticket puts it under the named project, or the one whose key is the ticket’s prefix', async () => {
    await report({ project: 'PFX' })
    expect((await report({ ticket: 'pfx-7' })).json).toMatchObject({
      ticket: { key: 'pfx-7' },
      project: { key: 'PFX' },
    })
    expect((await report({ ticket: 'other#17', project: 'PFX' })).json).toMatchObject({
      ticket: { key: 'other#17' },
      project: { key: 'PFX' },
    })
    expect((await report({ ticket: 'NOWHERE-1' })).json).toMatchObject({
      ticket: { key: 'NOWHERE-1' },
      project: null,
      placement: { by: 'named' },
    })
  })

  test('follows the ticket’s own project where the report names another, and says so', async () => {
    await report({ ticket: 'OWN-1', project: 'owner' })
    const { json } = await report({ ticket: 'own-1', project: 'someone else' })
    expect(json.project.key).toBe('owner')
    expect(json.placement.note).toContain('someone else')
  })

  test('on a ticket that had no project moves its earlier entries along when one is named', async () => {
    const before = await report({ ticket: 'LATE-1' })
    expect(before.json.project).toBeNull()
    const after = await report({ ticket: 'LATE-1', project: 'late' })
    const moved = await app.call(`GET /api/v1/token-entries/${before.json.id}`, { token: read })
    expect(moved.json.project.id).toBe(after.json.project.id)
    const history = await app.call(`GET /api/v1/token-entries/${before.json.id}/history`, { token: read })
    expect(history.json.data.map(({ action }: { action: string }) => action)).toEqual(['created', 'placed'])
  })

  test('by an unknown name is held where the organization wants it so, with the name that was given', async () => {
    const hold = (unknownProjects: 'create' | 'hold') =>
      app.services.db.write(async (tx) => void (await tx.update(tx.tables.organization).set({ unknownProjects })))
    await report({ project: 'known before' })
    await hold('hold')
    try {
      const held = await report({ project: 'a typo', ticket: 'TYPO-1' })
      expect(held.json).toMatchObject({
        project: null,
        ticket: null,
        placement: { by: 'unattributed', named_project: 'a typo', named_ticket: 'TYPO-1' },
      })
      expect((await report({ project: 'Known Before' })).json.placement.by).toBe('named')
    } finally {
      await hold('create')
    }
  })
})

describe('a session', () => {
  test('reported again with more updates its one entry per model', async () => {
    const session_id = newSession()
    const first = await report({ session_id })
    const more = await report({
      session_id,
      tokens: { input: 3000, output: 900 },
      ended_at: '2026-11-20T12:00:00Z',
      summary: 'done',
    })
    expect([first.status, more.status, more.json.id]).toEqual([201, 200, first.json.id])
    expect(more.json).toMatchObject({
      tokens: { input: 3000, output: 900 },
      ended_at: '2026-11-20T12:00:00.000Z',
      summary: 'done',
      cost: 0.01275,
    })
    const otherModel = await report({ session_id, model: 'gpt-5' })
    expect([otherModel.status, otherModel.json.part]).toEqual([201, 1])
  })

  test('is the same whatever the spelling of harness and model', async () => {
    const session_id = newSession()
    const first = await report({ session_id, model: 'claude-sonnet-4-5' })
    const again = await report({
      session_id,
      agent_harness: 'Codex',
      model: 'Claude-Sonnet-4-5[1m]',
      tokens: { input: 2000, output: 500 },
    })
    expect([again.status, again.json.id]).toEqual([200, first.json.id])
  })

  test('is the same whatever was first called by the name of its harness or model', async () => {
    await report({ agent_name: 'Claude-Haiku-4-5', provider: 'Gemini-CLI' })
    const session_id = newSession()
    const first = await report({ session_id, agent_harness: 'Gemini-CLI', model: 'Claude-Haiku-4-5' })
    const again = await report({ session_id, agent_harness: 'gemini-cli', model: 'claude-haiku-4-5' })
    expect([again.status, again.json.id]).toEqual([200, first.json.id])
  })

  test('of another person with the same id is another session', async () => {
    const session_id = newSession()
    const first = await report({ session_id })
    const other = await report({ session_id }, {}, await app.token('svc'))
    expect([other.status, other.json.id === first.json.id]).toEqual([201, false])
  })

  test('is not moved by a stale report, which only fills in what later ones left out', async () => {
    const session_id = newSession()
    await report({ session_id, ended_at: '2026-11-20T12:00:00Z', tokens: { input: 2000, output: 2 }, project: 'later' })
    const stale = await report({
      session_id,
      ended_at: '2026-11-20T11:00:00Z',
      tokens: { input: 9000, output: 9 },
      project: 'stale project',
      summary: 'what it was about',
    })
    const { tokens, project, summary } = stale.json
    expect([stale.status, tokens.input, project.name, summary]).toEqual([200, 2000, 'later', 'what it was about'])
    const smaller = await report({ session_id, ended_at: '2026-11-20T12:00:00Z', tokens: { input: 1999, output: 2 } })
    expect(smaller.json.tokens.input).toBe(2000)
  })

  test('that goes on after its entry was locked gets a new part with the difference', async () => {
    const session_id = newSession()
    const first = await report({ session_id, project: 'parts', summary: 'first half' })
    await approve(first.json.id)
    const same = await report({ session_id })
    expect([same.status, same.json.id]).toEqual([200, first.json.id])
    const grown = await report({ session_id, tokens: { input: 1500, output: 800 }, ended_at: '2026-11-20T13:00:00Z' })
    expect(grown.status).toBe(201)
    expect(grown.json).toMatchObject({
      part: 2,
      continues: first.json.id,
      started_at: '2026-11-20T11:00:00.000Z',
      ended_at: '2026-11-20T13:00:00.000Z',
      tokens: { input: 500, output: 300 },
      project: { key: 'parts' },
      summary: 'first half',
    })
    const again = await report({ session_id, tokens: { input: 1600, output: 800 }, ended_at: '2026-11-20T13:30:00Z' })
    expect([again.status, again.json.id, again.json.tokens.input]).toEqual([200, grown.json.id, 600])
    const locked = await app.call(`GET /api/v1/token-entries/${first.json.id}`, { token: read })
    expect(locked.json.tokens).toEqual(first.json.tokens)
  })

  test('splits a reported cost over its parts', async () => {
    const session_id = newSession()
    const first = await report({ session_id, reported_cost: 1.5 })
    await approve(first.json.id)
    const grown = await report({
      session_id,
      reported_cost: 2.25,
      tokens: { input: 2000, output: 500 },
      ended_at: '2026-11-20T13:00:00Z',
    })
    expect(grown.json.cost).toBe(0.75)
  })

  test('cannot shrink below what is locked, and nothing changes', async () => {
    const session_id = newSession()
    const first = await report({ session_id })
    await approve(first.json.id)
    const before = await countEntries()
    const shrunk = await report({ session_id, tokens: { input: 999, output: 900 }, ended_at: '2026-11-20T13:00:00Z' })
    expect([shrunk.status, shrunk.json.code]).toEqual([409, 'session_shrunk'])
    expect(await countEntries()).toBe(before)
  })

  test('keeps the price row it was valued at when it is updated', async () => {
    const session_id = newSession()
    const first = await report({ session_id })
    const updated = await report({
      session_id,
      tokens: { input: 2000, output: 500 },
      started_at: '2020-01-01T00:00:00Z',
    })
    expect(updated.json.price).toEqual(first.json.price)
  })

  test('reported by a thousand calls at once ends at the largest totals, in one entry', async () => {
    const session_id = newSession()
    const before = await countEntries()
    const order = Array.from({ length: 1000 }, (_, index) => index + 1).sort(() => Math.random() - 0.5)
    const answers = await Promise.all(
      order.map((output) =>
        report({
          session_id,
          tokens: { input: 0, output },
          ended_at: new Date(Date.UTC(2026, 10, 20, 12, 0, 0, output)).toISOString(),
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await countEntries()).toBe(before + 1)
    const list = await app.call(`GET /api/v1/token-entries?session_id=${session_id}`, { token: read })
    expect(list.json.data.map((entry: { tokens: { output: number } }) => entry.tokens.output)).toEqual([1000])
  })
})

describe('an Idempotency-Key', () => {
  test('answers the first entry again for the same body, whatever the order of its fields', async () => {
    const key = { 'idempotency-key': 'key-1' }
    const first = await report({ summary: 'once' }, key)
    const { model, ...rest } = body({ summary: 'once' })
    const again = await app.call('POST /api/v1/token-entries', { token, json: { ...rest, model }, headers: key })
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 200, 'true'])
    expect(again.json).toEqual(first.json)
  })

  test('is refused with another body, and nothing is written', async () => {
    const key = { 'idempotency-key': 'key-2' }
    await report({}, key)
    const before = await countEntries()
    const other = await report({ summary: 'other' }, key)
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
    expect(await countEntries()).toBe(before)
  })

  test('belongs to its agent manager', async () => {
    const key = { 'idempotency-key': 'key-3' }
    await report({}, key)
    expect((await report({ summary: 'mine' }, key, await app.token('svc'))).status).toBe(201)
  })

  test('used by a thousand calls at once makes one entry', async () => {
    const before = await countEntries()
    const answers = await Promise.all(
      Array.from({ length: 1000 }, () => report({ summary: 'race' }, { 'idempotency-key': 'race' })),
    )
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await countEntries()).toBe(before + 1)
  })

  test('that is no key is refused', async () => {
    expect((await report({}, { 'idempotency-key': 'two words' })).json.errors[0].pointer).toBe(
      '/headers/idempotency-key',
    )
  })
})

describe('a batch', () => {
  const batch = (items: unknown, headers: Record<string, string> = {}) =>
    app.call('POST /api/v1/token-entries/batch', { token, json: items, headers })

  test('keeps good items and tells every issue of the others', async () => {
    const before = await countEntries()
    const session_id = newSession()
    const items = [
      body({ session_id }),
      body({ tokens: { input: '5', output: 1 } }),
      body({ session_id, tokens: { input: 1001, output: 500 } }),
      7,
    ]
    // As raw text: the document describes the items that are accepted.
    const { status, json } = await app.call('POST /api/v1/token-entries/batch', {
      token,
      body: JSON.stringify(items),
      headers: { 'content-type': 'application/json' },
    })
    expect(status).toBe(200)
    expect(json.results.map(({ result }: { result: string }) => result)).toEqual([
      'created',
      'rejected',
      'updated',
      'rejected',
    ])
    expect(json.results[1].problem.errors).toEqual([
      { pointer: '/tokens/input', code: 'wrong_type', message: expect.any(String) },
    ])
    expect(json.results[2].entry.id).toBe(json.results[0].entry.id)
    expect(await countEntries()).toBe(before + 1)
  })

  test('may be newline-delimited JSON', async () => {
    const lines = `${JSON.stringify(body({ session_id: newSession() }))}\n\n${JSON.stringify(body({ session_id: newSession() }))}\n`
    const { json } = await app.call('POST /api/v1/token-entries/batch', {
      token,
      body: lines,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(json.results.map(({ result }: { result: string }) => result)).toEqual(['created', 'created'])
  })

  test('rejects a line that is no JSON alone, by its number', async () => {
    const { status, json } = await app.call('POST /api/v1/token-entries/batch', {
      token,
      body: `${JSON.stringify(body({ session_id: newSession() }))}\n{"a"`,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(status).toBe(200)
    expect(json.results[0].result).toBe('created')
    expect(json.results[1].problem).toMatchObject({ code: 'malformed_json', detail: 'Line 2 is not valid JSON.' })
  })

  test('counts an Idempotency-Key for each of its items', async () => {
    const items = [body({ summary: 'one' }), body({ summary: 'two' })]
    const first = await batch(items, { 'idempotency-key': 'batch-1' })
    const again = await batch(items, { 'idempotency-key': 'batch-1' })
    expect(again.json.results.map(({ result }: { result: string }) => result)).toEqual(['repeated', 'repeated'])
    expect(again.json.results.map(({ entry }: { entry: { id: string } }) => entry.id)).toEqual(
      first.json.results.map(({ entry }: { entry: { id: string } }) => entry.id),
    )
  })

  test('has 1 to 1,000 items', async () => {
    expect((await batch([])).json.errors[0].code).toBe('too_few')
    expect((await batch(Array.from({ length: 1001 }, () => body()))).json.errors[0].code).toBe('too_many')
    expect((await batch({})).status).toBe(422)
  })
})

describe('bad input writes nothing and is told with every issue', () => {
  const json = { 'content-type': 'application/json' }
  const send = (text: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json) =>
    app.call('POST /api/v1/token-entries', { token, body: text, headers })
  const good = JSON.stringify(body())

  const raw: [string, () => Promise<{ status: number; json: { code: string } }>, number, string][] = [
    ['malformed JSON', () => send('{"agent_harness": "x"'), 400, 'malformed_json'],
    ['NaN', () => send(good.replace('1000', 'NaN')), 400, 'malformed_json'],
    ['an empty body', () => send(''), 400, 'malformed_json'],
    [
      'invalid UTF-8',
      () =>
        send(
          new Uint8Array([
            ...new TextEncoder().encode(good.slice(0, 19)),
            0xff,
            ...new TextEncoder().encode(good.slice(19)),
          ]),
        ),
      400,
      'malformed_json',
    ],
    ['half of a surrogate pair', () => send(good.replace('builder', 'build\\ud83d')), 400, 'malformed_json'],
    ['a form', () => send(good, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['no content type', () => send(new TextEncoder().encode(good), {}), 415, 'unsupported_media_type'],
    ['five megabytes', () => send(JSON.stringify(body({ summary: 'x'.repeat(5_000_000) }))), 413, 'body_too_large'],
    [
      'ten thousand levels',
      () => send(good.replace('"builder"', '['.repeat(10_000) + ']'.repeat(10_000))),
      400,
      'malformed_json',
    ],
    ['an array', () => send('[]'), 422, 'validation_failed'],
    ['null', () => send('null'), 422, 'validation_failed'],
  ]
  for (const [name, call, status, code] of raw) {
    test(`${name}: ${status}`, async () => {
      const before = await countEntries()
      const answer = await call()
      expect([answer.status, answer.json.code]).toEqual([status, code])
      expect(await countEntries()).toBe(before)
    })
  }

  const fields: [string, Record<string, unknown>, string[]][] = [
    [
      'missing fields',
      { agent_name: undefined, tokens: { input: 1 } },
      ['/agent_name required', '/tokens/output required'],
    ],
    [
      'unknown fields',
      { tokens: { input: 1, output: 1, cached: 2 }, agent_manager: 'usr_1' },
      ['/agent_manager unknown_field', '/tokens/cached unknown_field'],
    ],
    ['numbers as text', { tokens: { input: '5', output: 1 } }, ['/tokens/input wrong_type']],
    [
      'negative, fractional and huge counts',
      { tokens: { input: -1, output: 1.5, cache_read: 1e15 } },
      ['/tokens/cache_read too_large', '/tokens/input too_small', '/tokens/output not_an_integer'],
    ],
    ['a naive timestamp', { started_at: '2026-11-20T10:00:00' }, ['/started_at bad_format']],
    ['a day that does not exist', { started_at: '2026-02-30T10:00:00Z' }, ['/started_at no_such_time']],
    ['reversed times', { ended_at: '2026-11-20T09:00:00Z' }, ['/ended_at ends_before_start']],
    ['the far future', { ended_at: '2099-01-01T00:00:00Z' }, ['/ended_at in_the_future']],
    ['a negative cost', { reported_cost: -1 }, ['/reported_cost too_small']],
    ['an endless cost', { reported_cost: 1e300 }, ['/reported_cost too_large']],
    ['null for a required field', { model: null }, ['/model wrong_type']],
    ['a blank name', { project: '   ' }, ['/project bad_format']],
  ]
  for (const [name, change, pointers] of fields) {
    test(name, async () => {
      const before = await countEntries()
      const { status, json: problem } = await report(change)
      expect(status).toBe(422)
      expect(
        problem.errors.map((issue: { pointer: string; code: string }) => `${issue.pointer} ${issue.code}`).sort(),
      ).toEqual(pointers)
      expect(await countEntries()).toBe(before)
    })
  }
})

describe('who may report', () => {
  const refused: [string, () => Promise<string | undefined>, number, RegExp][] = [
    ['nobody', async () => undefined, 401, /Send a token/],
    [
      'a mistyped token',
      async () => `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`,
      401,
      /mistyped|checksum/i,
    ],
    ['a read token', async () => read, 403, /service token/],
    ['an organization token', () => app.token('org'), 403, /service token/],
  ]
  for (const [name, make, status, detail] of refused) {
    test(`not ${name}: ${status}, whatever the body`, async () => {
      const as = await make()
      for (const text of [JSON.stringify(body()), '{', '{}']) {
        const answer = await app.call('POST /api/v1/token-entries', {
          token: as,
          body: text,
          headers: { 'content-type': 'application/json' },
        })
        expect(answer.status).toBe(status)
        expect(answer.json.detail).toMatch(detail)
        if (status === 401) expect(answer.headers.get('www-authenticate')).toContain('Bearer')
      }
    })
  }

  test('not a token that was revoked, has expired, or whose creator was disabled', async () => {
    let passedMs = 0
    const timed = await startApp({ clock: { now: () => Date.now() + passedMs } })
    const { people } = timed.services
    const owner = await timed.person('member')
    const reportAs = (secret: string) =>
      timed.call('POST /api/v1/token-entries', { token: secret, json: body({ session_id: newSession() }) })
    const make = async (more: object = {}) =>
      people.createToken({ kind: 'svc', user: owner, name: 'x', ...more }, TALLY)
    const revoked = await make()
    const expiresAt = Date.now() + 3_600_000
    const expired = await make({ expiresAt })
    const orphan = await make()
    for (const { secret } of [expired, revoked, orphan]) expect((await reportAs(secret)).status).toBe(201)
    await people.revokeToken(EVERYBODYS_TOKENS, revoked.token.uid, TALLY)
    passedMs = 3_600_001
    expect((await reportAs(revoked.secret)).json.detail).toMatch(/revoked/)
    expect((await reportAs(expired.secret)).json.detail).toMatch(/expired/)
    await people.disableUser(owner, TALLY)
    const answer = await reportAs(orphan.secret)
    await timed.close()
    expect([answer.status, answer.json.detail]).toEqual([401, expect.stringMatching(/disabled/)])
  })
})

test('the sessions of real agents come out at their true cost, and reporting them all again doubles nothing', async () => {
  const listValues = [0.063354, 0.0263781, 0.01073175, 0.02342, 0.01192]
  const reports = expected.map(({ agent_harness, session_id, model, requests, reported_cost_otlp, ...tokens }) =>
    body({ agent_harness, session_id, model, requests, tokens, agent_name: agent_harness, project: 'acme-web' }),
  )
  const first = []
  for (const json of reports) first.push(await app.call('POST /api/v1/token-entries', { token, json }))
  expect(first.map(({ status }) => status)).toEqual(reports.map(() => 201))
  expect(first.slice(0, 5).map(({ json }) => json.list_value)).toEqual(listValues)
  expect(first.every(({ json }) => json.cost > 0 && json.project.key === 'acme-web')).toBe(true)
  const before = await countEntries()
  for (const [index, json] of reports.entries()) {
    const again = await app.call('POST /api/v1/token-entries', { token, json })
    expect([again.status, again.json]).toEqual([200, first[index]!.json])
  }
  expect(await countEntries()).toBe(before)
})
