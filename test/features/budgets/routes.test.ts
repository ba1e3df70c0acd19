/** Budgets over HTTP: what lists contain and how they are filtered. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

let app: TestApp
let admin: string
let token: string

beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  token = await app.token('svc', await app.person())
  for (const [key, name] of [
    ['WEB', 'Acme web'],
    ['APP', 'Acme app'],
  ]) {
    await app.call('POST /api/v1/projects', { session: admin, json: { key, name } })
  }
})
afterAll(() => app.close())

async function call(operation: string, json?: object) {
  const answer = await app.call(operation, { session: admin, ...(json && { json }) })
  expect(answer.status).toBeLessThan(300)
  return answer.json
}

const ask = (path: string) => call(`GET /api/v1/budgets${path}`)

async function add(json: object) {
  const budget = await call('POST /api/v1/budgets', json)
  await app.services.budgets.count()
  return budget
}

const report = (project: string, reported_cost: number) =>
  app.call('POST /api/v1/token-entries', {
    token,
    json: reportBody({ project, reported_cost, summary: `${reported_cost}` }),
  })

test('are named after what they are for, whether it was given by id or by name', async () => {
  const project = await call('GET /api/v1/projects/WEB')
  const person = (await call('GET /api/v1/users')).data[0]
  const names = [
    await add({ amount: 1, scope: { project: project.id, agent_manager: person.id, model: 'gpt-5' }, period: 'week' }),
    await add({ amount: 1, scope: { project: 'web' } }),
    await add({ amount: 1, period: 'once' }),
  ].map(({ name }) => name)
  expect(names).toEqual([`Acme web, ${person.name}, gpt-5, weekly`, 'Acme web, monthly', 'Organization, total'])
})

test('name only webhooks that exist, or did when they were named', async () => {
  const thresholds = (id: string) => [{ percent: 50, webhooks: [id] }]
  const unknown = `whk_${'0'.repeat(32)}`
  const json = { amount: 1, thresholds: thresholds(unknown) }
  const refused = await app.call('POST /api/v1/budgets', { session: admin, json })
  expect(refused.status).toBe(422)
  expect(refused.json.errors).toMatchObject([{ pointer: '/thresholds/0/webhooks/0' }])
  const webhook = await call('POST /api/v1/webhooks', { name: 'ci', url: 'https://example.com/', types: ['bill.*'] })
  const { id } = await add({ amount: 1, thresholds: thresholds(webhook.id) })
  await call(`DELETE /api/v1/webhooks/${webhook.id}`)
  expect((await call(`PATCH /api/v1/budgets/${id}`, { thresholds: thresholds(webhook.id) })).thresholds).toMatchObject(
    thresholds(webhook.id),
  )
})

test('have no current period while they are archived', async () => {
  const { id } = await add({ amount: 1 })
  await call(`POST /api/v1/budgets/${id}/archive`)
  const { data } = await ask('?archived=only')
  expect(data.find((budget: { id: string }) => budget.id === id).current).toBeNull()
  await call(`POST /api/v1/budgets/${id}/restore`)
  const active = (await ask('')).data
  expect(active.find((budget: { id: string }) => budget.id === id).current).not.toBeNull()
})

test('cause alerts with their measure, and without a first day if the period has none', async () => {
  const thresholds = [{ percent: 10 }]
  const ever = await add({ amount: 10, scope: { project: 'APP' }, period: 'once', thresholds })
  const tokens = await add({ amount: 10, scope: { project: 'APP' }, measure: 'tokens', thresholds })
  await report('APP', 2)
  const alertOf = async ({ id }: { id: string }) => (await ask(`/alerts?budget=${id}`)).data[0]
  expect(await alertOf(ever)).toMatchObject({ measure: 'cost', spent: 2, period: { from: null } })
  const { period, measure } = await alertOf(tokens)
  expect([measure, period.from]).toEqual(['tokens', expect.stringMatching(/^\d{4}-\d\d-01$/)])
  const { period: whole } = await ask(`/${ever.id}/status`)
  expect(whole).toEqual({ from: null, to: null, starting_at: null, ending_at: null })
})

test('are found by their state, page by page', async () => {
  const scope = { project: 'NEW' }
  await report('NEW', 9)
  const ids: Record<'within' | 'nearly' | 'exceeded', string[]> = { within: [], nearly: [], exceeded: [] }
  for (const [amount, state] of [
    [100, 'within'],
    [10, 'nearly'],
    [9, 'nearly'],
    [8, 'exceeded'],
    [100, 'within'],
    [11, 'nearly'],
    [100, 'within'],
  ] as const) {
    ids[state].unshift((await add({ amount, scope })).id)
  }
  await call(`POST /api/v1/budgets/${(await add({ amount: 1, scope })).id}/archive`)
  await add({ amount: 1, scope, ends_on: '2020-01-01' })
  const found = async (query: string) => {
    const pages: string[][] = []
    for (let page = ''; ; ) {
      const { data, next_page } = await ask(`?project=NEW&archived=include&limit=2&${query}${page}`)
      pages.push(data.map(({ id }: { id: string }) => id))
      if (next_page === null) return pages
      page = `&page=${next_page}`
    }
  }
  expect(await found('state=nearly')).toEqual([ids.nearly.slice(0, 2), ids.nearly.slice(2)])
  const [newest, middle, oldest] = ids.nearly
  expect(await found('state=nearly,exceeded')).toEqual([
    [newest!, ids.exceeded[0]!],
    [middle!, oldest!],
  ])
  expect((await found('state=within')).flat()).toEqual(ids.within)
  expect((await app.call('GET /api/v1/budgets?state=much', { session: admin })).status).toBe(422)
})

test('are found by the ticket and the person that they count', async () => {
  const found = async (query: string) => (await ask(`?${query}`)).data.map(({ id }: { id: string }) => id)
  const json = reportBody({ project: 'APP', ticket: 'APP-77', reported_cost: 1 })
  const { ticket, agent_manager } = (await app.call('POST /api/v1/token-entries', { token, json })).json
  const ofTicket = await add({ amount: 1, scope: { ticket: 'APP-77' } })
  const ofPerson = await add({ amount: 1, scope: { agent_manager: agent_manager.id } })
  for (const name of [ticket.id, 'app-77']) expect(await found(`ticket=${name}`)).toEqual([ofTicket.id])
  expect(await found(`agent_manager=${agent_manager.id}&project=APP`)).toEqual([])
  expect(await found(`agent_manager=${agent_manager.id}`)).toContain(ofPerson.id)
  expect(await found(`agent_manager=${agent_manager.id}`)).not.toContain(ofTicket.id)
  expect(await found(`agent_manager=${agent_manager.id}&ticket=APP-77`)).toEqual([])
  const unknown = await app.call('GET /api/v1/budgets?ticket=NOWHERE-1', { session: admin })
  expect(unknown.status).toBe(422)
})

test('are in no state before their entries are counted', async () => {
  await report('LATE', 9)
  await call('POST /api/v1/budgets', { amount: 1, scope: { project: 'LATE' } })
  const found = async (state: string) => (await ask(`?project=LATE&state=${state}`)).data.length
  expect([await found('within'), await found('exceeded')]).toEqual([0, 0])
  await app.services.budgets.count()
  expect([await found('within'), await found('exceeded')]).toEqual([0, 1])
})

test('that are used up are known to everyone who asks, and their figures only to those who see them', async () => {
  await call('POST /api/v1/projects', { key: 'USEDUP', name: 'Used up' })
  const email = await app.person('member', { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  const lead = `tally_session=${secret}`
  await call('POST /api/v1/projects', { key: 'SPARE', name: 'Spare', leads: [email] })
  const used = await add({ name: 'Used', amount: 5, scope: { project: 'USEDUP' }, period: 'once' })
  const tokens = await add({ name: 'T', amount: 1e9, measure: 'tokens', scope: { project: 'USEDUP' }, period: 'once' })
  const spare = await add({ name: 'Spare', amount: 50, scope: { project: 'SPARE' }, period: 'once' })
  for (const project of ['USEDUP', 'SPARE']) await report(project, 7)
  const check = async (session: string, project: string) => {
    const { json } = await app.call(`GET /api/v1/budgets/check?project=${project}`, { session })
    const ours = [used.id, tokens.id, spare.id]
    // Other tests have budgets of everything.
    const budgets = json.budgets.filter(({ id, state }: { id: string | null; state: string }) =>
      id === null ? state === 'exceeded' : ours.includes(id),
    )
    return { ...json, budgets }
  }
  expect(await check(admin, 'USEDUP')).toMatchObject({
    allowed: false,
    budgets: [
      { id: used.id, spent: 7, available: 5, remaining: -2, state: 'exceeded' },
      { id: tokens.id, measure: 'tokens', state: 'within' },
    ],
  })
  const hidden = { id: null, name: null, spent: null, available: null, remaining: null }
  expect(await check(lead, 'USEDUP')).toMatchObject({
    allowed: false,
    remaining: null,
    remaining_tokens: null,
    budgets: expect.arrayContaining([
      { ...hidden, measure: 'cost', basis: 'cost', counted_at: null, state: 'exceeded' },
    ]),
  })
  expect(await check(lead, 'SPARE')).toMatchObject({
    remaining: 43,
    budgets: expect.arrayContaining([expect.objectContaining({ id: spare.id, spent: 7 })]),
  })
})

test('are the same in the list, alone, in their status and in the answers to changes', async () => {
  await call('POST /api/v1/projects', { key: 'ONE', name: 'One shape' })
  const created = await call('POST /api/v1/budgets', { amount: 10, scope: { project: 'ONE' } })
  expect(created.current).toMatchObject({ spent: 0, available: 10 })
  await app.services.budgets.count()
  await report('ONE', 9)
  const path = `/api/v1/budgets/${created.id}`
  const alone = await call(`GET ${path}`)
  expect(alone.current).toMatchObject({ spent: 9, available: 10, state: 'nearly', complete: true })
  expect((await ask('?project=ONE')).data).toEqual([alone])
  expect((await call(`GET ${path}/status`)).budget).toEqual(alone)
  expect(await call(`PATCH ${path}`, { name: alone.name })).toEqual(alone)
  const changed = await call(`PATCH ${path}`, { amount: 20 })
  expect(changed.current).toMatchObject({ spent: 9, available: 20, state: 'within' })
  expect(await call(`POST ${path}/archive`)).toMatchObject({ current: null })
  expect((await call(`POST ${path}/restore`)).current).toMatchObject({ available: 20 })
  // What is spent is nobody's change.
  const { data } = await call(`GET /api/v1/audit?object=${created.id}`)
  expect(data.length).toBeGreaterThan(2)
  expect(JSON.stringify(data)).not.toContain('current')
})

test('refuse values that are none of those that a field has', async () => {
  const refused = async (json: object) => {
    const answer = await app.call('POST /api/v1/budgets', { session: admin, json: { amount: 1, ...json } })
    return [answer.status, ...(answer.json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)]
  }
  expect(await refused({ period: 'decade', measure: 'words' })).toEqual([422, '/measure', '/period'])
  expect(await refused({ thresholds: [{ percent: 50, of: 'other' }] })).toEqual([422, '/thresholds/0/of'])
})
