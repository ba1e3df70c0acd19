/**
 * What others do that somebody cannot see changes no answer to them: not a count, a cursor, a tag or a status. Every operation
 * of the OpenAPI document that reads is asked before and after; a new one is asked by itself.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SCOPE_NAMES } from '../../src/shared/token-scopes.ts'
import { PASSWORD, startApp, type TestApp } from '../support/app.ts'
import { reportBody } from '../support/reports.ts'

let app: TestApp
let now = Date.parse('2026-11-22T12:00:00Z')
let admin: string

beforeAll(async () => {
  app = await startApp({ clock: { now: () => now } })
  admin = await app.session('admin')
})
afterAll(() => app.close())

async function change(methodAndPath: string, json: unknown) {
  const { status, text, json: body } = await app.call(methodAndPath, { session: admin, json })
  expect([methodAndPath, status < 300, status < 300 ? '' : text]).toEqual([methodAndPath, true, ''])
  return body
}

async function report(token: string, day: number, more: Record<string, unknown>) {
  const date = `2026-11-${String(day).padStart(2, '0')}`
  const period = { started_at: `${date}T09:00:00Z`, ended_at: `${date}T09:30:00Z` }
  const { status, json } = await app.call('POST /api/v1/token-entries', {
    token,
    json: reportBody({ ...period, ...more }),
  })
  expect(status).toBe(201)
  return json.id as string
}

/** Days are rolled up once they have not changed for some seconds. */
async function rollUp() {
  const { rollup } = app.services.reports
  while ((await rollup.step()) !== 'idle');
  now += 10_000
  while ((await rollup.step()) !== 'idle');
}

interface Watcher {
  email: string
  /** The credential. */
  sent: { session: string } | { token: string }
}

async function watcher(role: 'member' | 'viewer'): Promise<Watcher> {
  const email = await app.person(role, { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  return { email, sent: { session: `tally_session=${secret}` } }
}

const NOVEMBER = 'starting_at=2026-11-01&ending_at=2026-11-22'

/** How operations are asked that have parameters worth trying, or that require some. */
const QUERIES: Record<string, string[]> = {
  '/api/v1/reports/usage': [
    `${NOVEMBER}&bucket_width=1d&limit=3&include=sessions&group_by=model,agent_manager,label:author`,
    `${NOVEMBER}&bucket_width=all&group_by=project,ticket,agent_name`,
    `${NOVEMBER}&bucket_width=all&format=csv`,
    ...['agent_name=secret', 'label=author:secret', 'project=HIDDEN'].map((filter) => `${NOVEMBER}&${filter}`),
  ],
  '/api/v1/reports/what-if': [`${NOVEMBER}&as_model=gpt-5`],
  '/api/v1/shared/usage': [NOVEMBER, `${NOVEMBER}&group_by=project,model&bucket_width=1d`],
  '/api/v1/token-entries': ['limit=1', 'limit=1&sort=cost', 'agent_name=secret', 'q=secret', 'format=csv'],
  '/api/v1/search': ['q=secret', 'q=open'],
  '/api/v1/prices/resolve': ['model=claude-sonnet-4-5'],
  '/api/v1/reports/receipt': ['repository=secret/web&branch=main&people=true'],
  '/api/v1/budgets/check': ['model=gpt-5'],
}

const BRANCH = { repository: 'secret/web', branch: 'main' }

/** Operations whose answers differ for other reasons. */
const OTHERWISE = [
  // It is in the audit log of the person who asks.
  '/api/v1/me/export',
  // Positions in the log of events are consecutive numbers, which everyone who follows it can count.
  '/api/v1/events',
  '/api/v1/changes',
]

/** Of every operation that reads and names no object. */
async function answersTo({ sent }: Watcher): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>()
  for (const [path, operations] of Object.entries(app.document.paths)) {
    const isSecured = ((operations as Record<string, { security?: unknown[] }>).get?.security?.length ?? 0) > 0
    if (!isSecured || path.includes('{') || OTHERWISE.some((other) => path.startsWith(other))) continue
    for (const query of QUERIES[path] ?? [path.startsWith('/api/v1/reports/') ? NOVEMBER : '']) {
      const { status, headers, text } = await app.call(`GET ${path}?${query}`, sent)
      answers.set(`${path}?${query}`, [status, headers.get('etag'), text.replace(/"request_id":"[^"]*"/, '')])
    }
  }
  return answers
}

test('what others do changes no answer to a member, a lead or a viewer who does not see it', async () => {
  await change('PATCH /api/v1/settings', { api_tokens: true, share_links: true })
  const watchers = { member: await watcher('member'), lead: await watcher('member'), viewer: await watcher('viewer') }
  await change('POST /api/v1/projects', { key: 'OPEN', name: 'Open', leads: [watchers.lead.email] })
  await change('POST /api/v1/projects', { key: 'HIDDEN', name: 'Hidden' })
  await change(`POST /api/v1/users/${watchers.viewer.email}/grants`, { project: 'OPEN', money: 'cost', people: true })
  const seen = await app.token('svc', watchers.member.email)
  const hidden = await app.token('svc', await app.person('member'))
  for (const day of [3, 5, 9]) {
    await report(seen, day, {
      project: 'OPEN',
      ticket: 'OPEN-1',
      labels: { author: 'ada', ...BRANCH },
      reported_cost: day,
    })
  }
  await report(seen, 10, { session_id: 'unattributed' })
  await report(hidden, 5, { project: 'HIDDEN' })
  await rollUp()
  const before = new Map<string, Map<string, unknown>>()
  const asked = now
  for (const [name, each] of Object.entries(watchers)) before.set(name, await answersTo(each))

  const labels = { author: 'secret', ...BRANCH }
  for (const day of [2, 5, 7]) {
    await report(hidden, day, {
      project: 'HIDDEN',
      agent_name: 'secret',
      model: 'unheard-of',
      labels,
      reported_cost: 999,
    })
    await report(hidden, day, { agent_harness: 'secret', summary: 'secret', labels, session_id: `session-${day}` })
  }
  const rejected = await report(hidden, 8, { project: 'HIDDEN' })
  await change('POST /api/v1/token-entries/actions', { action: 'reject', ids: [rejected], reason: 'wrong' })
  await change('POST /api/v1/budgets', { amount: 10, scope: { project: 'HIDDEN' } })
  await report(hidden, 9, { project: 'HIDDEN', reported_cost: 500 })
  await rollUp()
  // Also while a day waits to be rolled up.
  await report(hidden, 4, { project: 'HIDDEN' })
  now = asked
  for (const [name, each] of Object.entries(watchers)) {
    const after = await answersTo(each)
    const differing = [...before.get(name)!].filter(([call, answer]) => !Bun.deepEquals(answer, after.get(call)))
    expect([name, differing.map(([call, answer]) => [call, answer, after.get(call)])]).toEqual([name, []])
    expect([...after.values()].filter((answer) => (answer as [number])[0] === 200).length).toBeGreaterThan(4)
  }
})

/** How people ask who look for what plans cost. */
const ABOUT_FEES: Record<string, string[]> = {
  '/api/v1/reports/usage': ['marginal', 'allocated', 'cost', 'list'].flatMap((basis) => [
    `${NOVEMBER}&bucket_width=all&group_by=project,plan,funding&basis=${basis}`,
    `${NOVEMBER}&bucket_width=1d&format=csv&basis=${basis}`,
  ]),
  '/api/v1/token-entries': [
    ...['marginal', 'allocated'].map((basis) => `sort=cost&basis=${basis}`),
    ...['', '&basis=allocated', '&basis=marginal'].map((basis) => `format=csv${basis}`),
    'format=ndjson',
    'unknown_cost=allocated',
    'cost_mismatch=true',
    'plan=Secret&late=false&correction=true',
  ],
  '/api/v1/reports/outliers': [NOVEMBER, `${NOVEMBER}&basis=allocated`, `${NOVEMBER}&basis=marginal`],
  '/api/v1/reports/overview': ['cost', 'allocated', 'marginal'].map((basis) => `${NOVEMBER}&basis=${basis}`),
  '/api/v1/reports/receipt': ['cost', 'allocated', 'marginal'].map((basis) => `ticket=FEES-1&basis=${basis}`),
  '/api/v1/shared/usage': [NOVEMBER, `${NOVEMBER}&basis=allocated`, `${NOVEMBER}&group_by=project,model`],
  '/api/v1/search': ['q=Secret', 'q=777.7'],
  '/api/v1/bills/run': ['month=2026-11', 'month=2026-11&basis=allocated', 'month=2026-11&basis=cost'],
  '/api/v1/budgets/check': ['project=FEES', 'project=FEES&model=gpt-5'],
}

/** An API token of an admin that may read everything but plans and the audit log, which has what people change of them. */
async function scopedToken(): Promise<Watcher> {
  const email = await app.person('admin')
  const scopes = SCOPE_NAMES.filter((scope) => !scope.startsWith('plans:') && scope !== 'audit:read')
  return { email, sent: { token: await app.token('api', email, { scopes }) } }
}

test('what a plan costs changes no answer to a member, a lead, a viewer or an API token without the scope', async () => {
  await change('PATCH /api/v1/settings', { api_tokens: true, share_links: true, cost_basis: 'allocated' })
  const watchers = {
    member: await watcher('member'),
    lead: await watcher('member'),
    viewer: await watcher('viewer'),
    token: await scopedToken(),
  }
  await change('POST /api/v1/projects', { key: 'FEES', name: 'Fees', leads: [watchers.lead.email] })
  await change(`POST /api/v1/users/${watchers.viewer.email}/grants`, { project: 'FEES', money: 'cost', people: true })
  const plan = { vendor: 'V', product: 'Secret', from: '2026-11-01', seats: 2, weight: 'tokens' }
  const people = [watchers.member.email, watchers.lead.email].map((person) => ({ person }))
  const added = (await change('POST /api/v1/plans', { ...plan, people, fee: 777.7 })) as { id: string }
  for (const { email } of [watchers.member, watchers.lead]) {
    const token = await app.token('svc', email)
    for (const day of [3, 9, 12])
      await report(token, day, {
        ticket: 'FEES-1',
        project: 'FEES',
        reported_cost: day,
        tokens: { input: day, output: 0 },
      })
  }
  await change('POST /api/v1/budgets', {
    // Between what both fees are, so that its state differs.
    amount: 700,
    scope: { project: 'FEES' },
    basis: 'allocated',
    name: 'Secret',
  })
  const everything = async () => {
    await app.services.entries.funding.decideOwed()
    await rollUp()
    await app.services.funding.calculateOwed()
    now += 60_000
    await rollUp()
    await app.services.budgets.count()
    await rollUp()
  }
  await everything()
  Object.assign(QUERIES, ABOUT_FEES)
  const asked = now
  const before = new Map<string, Map<string, unknown>>()
  for (const [name, each] of Object.entries(watchers)) before.set(name, await answersTo(each))
  await change(`PATCH /api/v1/plans/${added.id}`, { from: '2026-11-01', fee: 333.3 })
  await everything()
  now = asked
  for (const [name, each] of Object.entries(watchers)) {
    const after = await answersTo(each)
    // Who sees everything may know that something has changed, which tags say.
    const parts = (answer: unknown) => (name === 'token' ? (answer as unknown[]).filter((_, at) => at !== 1) : answer)
    const differing = [...before.get(name)!].filter(
      ([call, answer]) => !Bun.deepEquals(parts(answer), parts(after.get(call))),
    )
    expect([name, differing.map(([call, answer]) => [call, answer, after.get(call)])]).toEqual([name, []])
    expect([name, JSON.stringify([...after.values()]).match(/777\.7|333\.3/)]).toEqual([name, null])
  }
  const check = (sent: Watcher['sent']) => app.call('GET /api/v1/budgets/check?project=FEES', sent)
  expect((await check(watchers.lead.sent)).json).toMatchObject({ allowed: true, budgets: [], left_out: 1 })
  expect((await check({ session: admin })).json).toMatchObject({ budgets: [{ name: 'Secret' }], left_out: 0 })

  const period = { from: '2026-11-01', to: '2026-11-21' }
  const bill = { project: 'FEES', period, basis: 'allocated', provisional: true, include_earlier: true }
  const [{ id }] = (await app.call('GET /api/v1/budgets', { session: admin })).json.data
  const refusals = {
    'POST /api/v1/bills/preview': bill,
    'POST /api/v1/bills': bill,
    'POST /api/v1/budgets': { amount: 5, basis: 'allocated' },
    [`PATCH /api/v1/budgets/${id}`]: { amount: 6 },
    [`POST /api/v1/budgets/${id}/archive`]: {},
  }
  for (const [operation, json] of Object.entries(refusals)) {
    const { status, json: answer } = await app.call(operation, { ...watchers.token.sent, json })
    const isOfBudget = operation.includes(id)
    expect([operation, status, answer.code]).toEqual([
      operation,
      isOfBudget ? 404 : 403,
      isOfBudget ? 'not_found' : 'fees_hidden',
    ])
  }
  expect((await app.call('POST /api/v1/bills/preview', { session: admin, json: bill })).status).toBe(200)
})
