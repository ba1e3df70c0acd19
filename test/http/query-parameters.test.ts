import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let session: string
let viewer: string
let token: string

beforeAll(async () => {
  app = await startApp()
  session = await app.session('admin')
  viewer = await app.session('viewer')
  token = await app.token('svc', await app.person())
})
afterAll(() => app.close())

interface Media {
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, Media> }
}

/** A body that the operation takes, so that its parameters are what is wrong. */
function exampleOf({ requestBody }: Operation): unknown {
  const media = requestBody?.content['application/json']
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value ?? {}
}

interface Asked {
  operation: string
  name: string
  status: number
  issue: { pointer: string; code: string; message: string } | undefined
}

/** Only agents report. */
function callerOf(path: string, method: string): { session: string } | { token: string } {
  if (path === '/api/v1/token-entries/batch' && method === 'post') return { token }
  return { session: path.startsWith('/api/v1/shared') ? viewer : session }
}

/** Every operation with each of its parameters alone, whose value is `valueFor` its name; without one, it is left out. */
async function askEach(valueFor: (name: string, operation: string) => string | undefined): Promise<Asked[]> {
  const { json: document } = await app.call('GET /api/v1/openapi.json')
  const asked: Asked[] = []
  for (const [path, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      for (const { name, in: place } of operation.parameters ?? []) {
        const value = place === 'query' ? valueFor(name, operation.operationId) : undefined
        if (value === undefined) continue
        // Reports require a period.
        const period = value !== '' && operation.parameters?.some((each) => each.name === 'starting_at')
        const needed = operation.parameters?.some((each) => each.name === 'as_model') && { as_model: 'claude-opus-4-8' }
        const query = new URLSearchParams({ ...(period && { starting_at: '2026-11-01' }), ...needed, [name]: value })
        const address = `${path.replaceAll(/\{\w+\}/g, 'none')}?${query}`
        const { status, json } = await app.call(`${method.toUpperCase()} ${address}`, {
          ...callerOf(path, method),
          ...(method !== 'get' && { json: exampleOf(operation) }),
        })
        const issue = json?.errors?.find(({ pointer }: { pointer: string }) => pointer === `/query/${name}`)
        asked.push({ operation: operation.operationId, name, status, issue })
      }
    }
  }
  return asked
}

const taken = (asked: Asked[]) => asked.filter(({ status, issue }) => status !== 422 || !issue)

test('an empty value of any parameter of any operation is refused, and nothing is guessed from it', async () => {
  const asked = await askEach(() => '')
  expect(taken(asked)).toEqual([])
  expect(asked.length).toBeGreaterThan(300)
})

/** Parameters that name something; others of the same name are patterns or texts. */
const NAMING = ['project', 'client', 'ticket', 'agent_manager', 'lead', 'approver', 'user']

test('a filter by a project, client, ticket or person that does not exist is refused with the nearest names', async () => {
  for (const [path, json] of [
    ['clients', { name: 'Acme Ltd' }],
    ['projects', { key: 'acme-web', client: 'Acme Ltd' }],
    ['tickets', { key: 'ACME-42' }],
    ['users', { name: 'Ada', email: 'ada@example.com', role: 'member' }],
  ] as const) {
    expect((await app.call(`POST /api/v1/${path}`, { session, json })).status).toBe(201)
  }
  const { json: me } = await app.call('GET /api/v1/me', { session: viewer })
  for (const json of [{ client: 'Acme Ltd' }, { project: 'acme-web' }]) {
    expect((await app.call(`POST /api/v1/users/${me.person.id}/grants`, { session, json })).status).toBe(201)
  }
  const typed: Record<string, string> = { project: 'acme-wbe', client: 'acme ltt', ticket: 'ACME-43' }
  const asked = await askEach((name) => (NAMING.includes(name) ? (typed[name] ?? 'adda@example.com') : undefined))
  expect(taken(asked)).toEqual([])
  const meant: Record<string, string> = { project: 'acme-web', client: 'Acme Ltd', ticket: 'ACME-42' }
  for (const { name, issue } of asked) {
    expect([name, issue?.code]).toEqual([name, 'unknown_name'])
    expect(issue?.message).toContain(`did you mean '${meant[name] ?? 'ada@example.com'}'`)
  }
})

test('an export by a filter that is refused is refused before it begins', async () => {
  const { json: document } = await app.call('GET /api/v1/openapi.json')
  const asked: [string, number][] = []
  for (const [path, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
    const parameters = operations.get?.parameters ?? []
    if (path.includes('{') || !parameters.some(({ name }) => name === 'format')) continue
    for (const { name } of parameters.filter((each) => ['project', 'client', 'page'].includes(each.name))) {
      const query = new URLSearchParams({ starting_at: '2026-11-01', format: 'csv', [name]: 'no such name' })
      if (!parameters.some((each) => each.name === 'starting_at')) query.delete('starting_at')
      const credential = { session: path.startsWith('/api/v1/shared') ? viewer : session }
      asked.push([`${path} ${name}`, (await app.call(`GET ${path}?${query}`, credential)).status])
    }
  }
  expect(asked.filter(([, status]) => status !== 422)).toEqual([])
  expect(asked.length).toBeGreaterThan(15)
})

test('a name may begin with a bracket', async () => {
  const token = await app.token('svc', await app.person('member'))
  const at = '2026-11-20T17:53:04Z'
  for (const agent_name of ['bot', '[bot]', '[CI] nightly']) {
    const names = { agent_harness: 'codex', agent_name, model: 'gpt-5-codex' }
    const json = { ...names, started_at: at, ended_at: at, tokens: { input: 1, output: 1 } }
    expect((await app.call('POST /api/v1/token-entries', { token, json })).status).toBe(201)
  }
  for (const names of [['[bot]'], ['[CI] nightly'], ['[bot]', 'bot'], ['bot', '[CI] nightly'], ['bot']]) {
    for (const values of [names, [names.join(',')]]) {
      const query = new URLSearchParams()
      for (const value of values) query.append('agent_name', value)
      const { json } = await app.call(`GET /api/v1/token-entries?${query}`, { session })
      const found = json.data.map(({ agent_name }: { agent_name: string }) => agent_name)
      expect(found.toSorted()).toEqual(names.toSorted())
    }
  }
  expect((await app.call('GET /api/v1/token-entries?agent_name=[', { session })).json.data).toEqual([])
})

test('aliases, names of merged projects and ids are known', async () => {
  const { json: web } = await app.call('POST /api/v1/projects', {
    session,
    json: { key: 'shop', aliases: ['the shop'] },
  })
  const { json: old } = await app.call('POST /api/v1/projects', { session, json: { key: 'old-shop' } })
  await app.call(`POST /api/v1/projects/${old.id}/merge`, { session, json: { into: web.id } })
  for (const project of ['SHOP', 'the shop', 'old-shop', web.id, old.id, 'none']) {
    const { status } = await app.call(`GET /api/v1/token-entries?${new URLSearchParams({ project })}`, { session })
    expect([project, status]).toEqual([project, 200])
  }
})

test('callers who do not list people cannot tell who exists', async () => {
  const reads = await app.token('read', await app.person('admin'))
  const ada = await app.person('member')
  const own = await app.token('read', ada)
  const hidden = await app.person('member')
  const ask = async (token: string, person: string) => {
    const query = new URLSearchParams({ agent_manager: person })
    const { status, json } = await app.call(`GET /api/v1/token-entries?${query}`, { token })
    return { status, errors: json.errors, data: json.data }
  }
  expect(await ask(reads, hidden)).toEqual(await ask(reads, 'nobody@example.com'))
  expect((await ask(reads, hidden)).status).toBe(422)
  expect(JSON.stringify(await ask(reads, hidden))).not.toContain('did you mean')
  expect(await ask(own, hidden)).toEqual(await ask(own, 'nobody@example.com'))
})

test('an API token knows people if it may read them', async () => {
  const admin = await app.person('admin')
  await app.call('PATCH /api/v1/settings', { session, json: { api_tokens: true } })
  await app.call('POST /api/v1/users', { session, json: { name: 'Joan', email: 'joan@example.com', role: 'member' } })
  for (const [scopes, message] of [
    [['projects:read', 'people:read'], "there is no person 'jona@example.com'; did you mean 'joan@example.com'"],
    [['projects:read'], ''],
  ] as const) {
    const token = await app.token('api', admin, { scopes: [...scopes] })
    const { json } = await app.call('GET /api/v1/projects?lead=jona@example.com', { token })
    expect(json.errors?.[0].message ?? '').toStartWith(message)
  }
})
