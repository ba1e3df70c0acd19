/** The search: what it finds, and that nobody finds what they may not read. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { SEARCH_TYPES, type SearchHit, type SearchType } from '../../../src/features/search/schema.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { billRow } from '../../support/bills.ts'
import { reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

let app: TestApp
let admin: string
const sessions: Record<string, string> = {}
const tokens: Record<string, string> = {}

const sessionOf = async (email: string) => {
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  return `tally_session=${secret}`
}

/** Of each member, one project, one ticket and two sessions; the lead leads the owner's project. */
const WORDS = ['apple', 'banana', 'cherry']

beforeAll(async () => {
  app = await startApp()
  await app.services.prices.loadDefaultPrices()
  admin = await app.session('admin')
  const post = (path: string, json: unknown) => app.call(`POST /api/v1/${path}`, { session: admin, json })
  const patch = (path: string, json: unknown) => app.call(`PATCH /api/v1/${path}`, { session: admin, json })
  sessions.admin = admin
  sessions.billing = await app.session('billing')
  const people = []
  for (const [at, word] of WORDS.entries()) {
    const email = await app.person('member', { password: true })
    people.push(email)
    const { json: client } = await post('clients', { name: `Client ${word}` })
    await post('projects', {
      key: word.toUpperCase(),
      name: `The ${word}`,
      client: client.id,
      aliases: [`${word}/repo`],
    })
    await post('tickets', { key: `${word.toUpperCase()}-1`, title: `Peel the ${word}`, project: word })
    tokens[word] = await app.token('svc', email)
    for (const number of [1, 2]) {
      const json = reportBody({
        session_id: `session-${word}-${number}`,
        summary: `Secret of the ${word} ${number}`,
        project: word,
        ticket: `${word}-1`,
        started_at: `2026-11-2${at}T10:0${number}:00Z`,
        ended_at: `2026-11-2${at}T11:0${number}:00Z`,
      })
      const { status } = await app.call('POST /api/v1/token-entries', { token: tokens[word], json })
      expect(status).toBe(201)
    }
    sessions[word] = await sessionOf(email)
  }
  // Cherry's person also leads the project of the apples.
  const { status } = await patch('projects/APPLE', { leads: [people[2]] })
  expect(status).toBe(200)
  await app.services.db.write(async (tx) => {
    await tx
      .insert(tx.tables.bills)
      .values([billRow({ number: '2026-0042' }), billRow({ number: '2026-0043', state: 'preparing' })])
  })
})
afterAll(() => app.close())

const search = async (q: string, session: string, limit = 20) =>
  (await app.call(`GET /api/v1/search?q=${encodeURIComponent(q)}&limit=${limit}`, { session })).json as {
    data: SearchHit[]
    searched_to: string | null
  }
const found = async (q: string, session = admin) =>
  (await search(q, session)).data.map(({ type, name }) => `${type} ${name}`)

test('finds what has the text in a name, key, alias, title, number or summary', async () => {
  expect(await found('apple')).toEqual([
    'project The apple',
    'ticket APPLE-1',
    'client Client apple',
    'entry Secret of the apple 2',
    'entry Secret of the apple 1',
  ])
  expect(await found('apple/REPO')).toEqual(['project The apple'])
  expect(await found('peel the ch')).toEqual(['ticket CHERRY-1'])
  expect(await found('session-banana')).toEqual(['session session-banana-2', 'session session-banana-1'])
  expect(await found('person-3')).toEqual(['person Person 3'])
  expect(await found('2026-00')).toEqual(['bill 2026-0042'])
  expect(await found('claude-sonnet-4-5')).toContain('model claude-sonnet-4-5')
})

test('finds an entry by the beginning of its id', async () => {
  const { data } = (await app.call('GET /api/v1/token-entries?q=banana%201', { session: admin })).json
  const { id } = data[0]
  expect((await search(id, admin)).data.map((hit) => hit.id)).toEqual([id])
  expect((await search(id.slice(0, 30), admin)).data.map((hit) => hit.id)).toContain(id)
  expect((await search(id, sessions.apple!)).data).toEqual([])
})

test('puts the whole name before its beginning, and that before any other part', async () => {
  for (const name of ['Zest of lemon', 'Lemonade', 'Lemon']) {
    await app.call('POST /api/v1/clients', { session: admin, json: { name } })
  }
  expect(await found('lemon')).toEqual(['client Lemon', 'client Lemonade', 'client Zest of lemon'])
})

test('wildcards are texts, and a query is limited', async () => {
  expect(await found('%')).toEqual([])
  expect(await found('_pple')).toEqual([])
  for (const [query, code] of [
    ['', 'required'],
    ['q=', 'too_short'],
    [`q=${'x'.repeat(201)}`, 'too_long'],
    ['q=a&limit=21', 'not_allowed'],
  ]) {
    const { status, json } = await app.call(`GET /api/v1/search?${query}`, { session: admin })
    expect([query, status, json.errors[0].code]).toEqual([query, 422, code])
  }
})

/** How each type is read, by the routes of its own. */
const PATHS: Record<SearchType, (hit: SearchHit) => string> = {
  project: ({ id }) => `projects/${id}`,
  ticket: ({ id }) => `tickets/${id}`,
  client: ({ id }) => `clients/${id}`,
  bill: () => 'bills',
  person: ({ id }) => `users/${id}`,
  model: ({ id }) => `prices?model=${encodeURIComponent(id)}`,
  session: ({ id }) => `token-entries?session_id=${encodeURIComponent(id)}`,
  entry: ({ id }) => `token-entries/${id}`,
}

test('everything that somebody finds, they can read', async () => {
  const telling = ['e', 'client', 'secret', 'session-', 'person', '2026', 'claude', '-1', ...WORDS]
  const texts = fc.oneof(
    fc.constantFrom(...WORDS.map((word) => `session-${word}`), 'ent_019c5a', 'a', 'the'),
    fc.string({ minLength: 1, maxLength: 4 }).filter((text) => text.trim() !== '' && !text.includes('\0')),
  )
  const examples = Object.keys(sessions).flatMap((who) => telling.map((text): [string, string] => [who, text]))
  const seen = new Set<string>()
  const read = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(sessions)), texts, async (who, text) => {
      for (const hit of (await search(text, sessions[who]!)).data) {
        seen.add(`${who} ${hit.type}`)
        // Nothing changes meanwhile: what they have read once, they can read again.
        if (read.has(`${who} ${hit.id}`)) continue
        read.add(`${who} ${hit.id}`)
        const { status, json } = await app.call(`GET /api/v1/${PATHS[hit.type](hit)}`, { session: sessions[who]! })
        expect([who, hit.type, hit.name, status]).toEqual([who, hit.type, hit.name, 200])
        if (hit.type === 'bill') expect(json.data.map(({ id }: SearchHit) => id)).toContain(hit.id)
        if (Array.isArray(json.data)) expect(json.data.length).toBeGreaterThan(0)
        if (hit.type === 'entry') expect([json.summary, json.agent_name]).toContain(hit.name)
      }
    }),
    { numRuns: examples.length + runs(40), examples },
  )
  for (const type of SEARCH_TYPES) expect(seen).toContain(`admin ${type}`)
}, 180_000)

test('a member finds neither people, bills nor the sessions and summaries of others; a lead those of their projects', async () => {
  expect(await found('secret', sessions.banana)).toEqual([
    'entry Secret of the banana 2',
    'entry Secret of the banana 1',
  ])
  expect(await found('session-apple', sessions.banana)).toEqual([])
  expect(await found('session-apple', sessions.cherry)).toEqual(['session session-apple-2', 'session session-apple-1'])
  expect((await found('secret', sessions.cherry)).length).toBe(4)
  expect(await found('person', sessions.banana)).toEqual([])
  expect(await found('person', sessions.billing)).toEqual([])
  expect((await found('2026', sessions.billing)).some((hit) => hit.startsWith('bill '))).toBe(true)
  expect((await found('2026', sessions.banana)).some((hit) => hit.startsWith('bill '))).toBe(false)
})

test('a token finds what it may read: a read token nobody, an API token what its scopes allow', async () => {
  const owner = await app.person('admin')
  const typesOf = async (token: string) => {
    const names = new Set<string>()
    for (const q of ['apple', 'session-apple', 'person', '2026', 'claude']) {
      const { json } = await app.call(`GET /api/v1/search?q=${q}`, { token })
      for (const { type } of json.data) names.add(type)
    }
    return [...names].sort()
  }
  expect(await typesOf(await app.token('read', owner))).not.toContain('person')
  await app.services.organization.changeSettings({ apiTokens: true }, TALLY)
  expect(await typesOf(await app.token('api', owner, { scopes: ['projects:read'] }))).toEqual([
    'client',
    'project',
    'ticket',
  ])
  expect(await typesOf(await app.token('api', owner, { scopes: ['people:read', 'bills:read'] }))).toEqual([
    'bill',
    'person',
  ])
  expect((await app.call('GET /api/v1/search?q=apple', { session: await app.session('viewer') })).status).toBe(403)
})
