/** Funding rules in the API: what they refuse, what a preview and a test of them show, and the lists they lead to. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { addPlan } from '../../support/plans.ts'
import { reportBody } from '../../support/reports.ts'

let app: TestApp
let admin: string
let svc: string
let planId: string
beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  svc = await app.token('svc')
  planId = await addPlan(app.services.db, { name: 'Max' })
})
afterAll(() => app.close())

const RULES = '/api/v1/funding-rules'
const call = (methodAndPath: string, json?: object, session = admin) =>
  app.call(methodAndPath, { session, ...(json && { json }) })
const report = async (more: Record<string, unknown>) =>
  (await app.call('POST /api/v1/token-entries', { token: svc, json: reportBody(more) })).json
const CI = { field: 'labels.entrypoint', matches: 'ci' }

test('a rule is added, changed, ordered and removed, and decides', async () => {
  const { status, json: ci } = await call(`POST ${RULES}`, { name: 'CI', conditions: [CI], funding: 'metered' })
  expect([status, ci]).toMatchObject([
    201,
    { position: 1, name: 'CI', enabled: true, conditions: [CI], funding: 'metered', plan: null, version: 1 },
  ])
  const { json: all } = await call(`POST ${RULES}`, { name: 'All', conditions: [], funding: 'credits', plan: 'max' })
  expect(all).toMatchObject({ position: 2, plan: { id: planId, name: 'Max' } })
  expect((await report({ labels: { entrypoint: 'ci' } })).funding).toMatchObject({
    kind: 'metered',
    rule: { name: 'CI' },
  })
  const { json: order } = await call(`PUT ${RULES}/order`, { rules: [all.id, ci.id] })
  expect(order.data.map(({ name }: { name: string }) => name)).toEqual(['All', 'CI'])
  expect((await report({ labels: { entrypoint: 'ci' }, summary: '2' })).funding).toMatchObject({
    kind: 'credits',
    plan: { name: 'Max' },
    reason: 'rule',
  })
  const { json: changed } = await call(`PATCH ${RULES}/All`, { funding: 'unknown', enabled: false })
  expect(changed).toMatchObject({ funding: 'unknown', plan: null, version: 2, enabled: false })
  expect((await call(`DELETE ${RULES}/${all.id}`)).status).toBe(204)
  expect((await call(`DELETE ${RULES}/CI`)).status).toBe(204)
  expect((await call(`GET ${RULES}`)).json.data).toEqual([])
  const { json: log } = await call('GET /api/v1/audit?limit=20')
  expect(log.data.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining([
      'funding_rule.added',
      'funding_rule.changed',
      'funding_rules.ordered',
      'funding_rule.removed',
    ]),
  )
})

test('what a rule cannot be is refused with what to do', async () => {
  const refused = async (rule: object) => {
    const { status, json } = await call(`POST ${RULES}`, { name: 'R', conditions: [], ...rule })
    expect(status).toBe(422)
    return json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)
  }
  expect(await refused({ funding: 'plan' })).toEqual(['/plan required'])
  expect(await refused({ funding: 'metered', plan: 'Max' })).toEqual(['/plan not_allowed'])
  expect(await refused({ funding: 'plan', plan: 'Ultra' })).toEqual(['/plan unknown_plan'])
  expect(await refused({ funding: 'mixed' })).toEqual(['/funding not_allowed'])
  expect(await refused({ funding: 'metered', conditions: [{ field: 'model', matches: '/(/' }] })).toEqual([
    '/conditions/0/matches bad_expression',
  ])
  const body = reportBody({ funding: 'mixed' })
  const { status, json } = await app.call('POST /api/v1/token-entries', { token: svc, json: body })
  expect([status, json.errors[0]]).toMatchObject([
    422,
    { pointer: '/funding', message: 'must be one of metered, plan, credits, unknown' },
  ])
})

test('a preview counts entries by what pays before and after, and a test says why', async () => {
  await report({ summary: 'previewed', labels: { entrypoint: 'ci' }, reported_cost: 2 })
  const rule = { name: 'CI', conditions: [CI, { field: 'summary', matches: 'previewed' }], funding: 'metered' }
  const { json } = await call(`POST ${RULES}/preview`, { rule })
  expect(json).toEqual({
    changes: [
      {
        from: { funding: 'plan', plan: { id: planId, name: 'Max' } },
        to: { funding: 'metered', plan: null },
        entries: 1,
        cost: 2,
        unpriced_entries: 0,
      },
    ],
    entries: 1,
    locked_entries: 0,
    searched_to: null,
  })
  expect((await call(`GET ${RULES}`)).json.data).toEqual([])
  expect((await call(`POST ${RULES}/preview`, { rule, removes: 'x' })).status).toBe(422)
  await call(`POST ${RULES}`, { ...rule, conditions: [CI] })
  const sample = { agent_harness: 'codex', labels: { entrypoint: 'cli' } }
  expect((await call(`POST ${RULES}/test`, { sample })).json).toMatchObject({
    funding: 'plan',
    plan: { name: 'Max' },
    reason: 'person',
    steps: [{ rule: { name: 'CI' }, verdict: 'not_met', failed: [{ ...CI, value: 'cli' }] }],
  })
  expect((await call(`POST ${RULES}/test`, { sample: { labels: { entrypoint: 'ci' } } })).json).toMatchObject({
    funding: 'metered',
    reason: 'rule',
    steps: [{ verdict: 'takes' }],
  })
  expect((await call(`POST ${RULES}/test`, { sample, funding: 'credits', plan: 'Max' })).json).toMatchObject({
    funding: 'credits',
    reason: 'report',
    steps: [],
  })
  await call(`DELETE ${RULES}/CI`)
})

test('entries are listed by what pays, and reports count the same', async () => {
  const labels = { entrypoint: 'filtered' }
  await report({ labels, summary: 'f1', plan: 'Max' })
  await report({ labels, summary: 'f2', funding: 'metered' })
  await report({ labels, summary: 'f3', funding: 'unknown' })
  const listed = async (query: string) => {
    const filter = `label=entrypoint:filtered&${query}`
    const { json } = await call(`GET /api/v1/token-entries?${filter}`)
    const period = 'starting_at=2026-11-01&ending_at=2026-12-01&bucket_width=all'
    const { json: usage } = await call(`GET /api/v1/reports/usage?${period}&${filter}`)
    expect(usage.totals.entries).toBe(json.data.length)
    return json.data.map(({ summary }: { summary: string }) => summary).sort()
  }
  expect(await listed('funding=plan')).toEqual(['f1'])
  expect(await listed('funding=metered&funding=unknown')).toEqual(['f2', 'f3'])
  expect(await listed('plan=Max')).toEqual(['f1'])
  expect(await listed(`plan=${planId}`)).toEqual(['f1'])
  expect(await listed('plan=none')).toEqual(['f2', 'f3'])
  const { text } = await call('GET /api/v1/token-entries?format=csv&label=entrypoint:filtered&funding=plan')
  expect(text).toContain(',plan,Max,')
})

test('members read no rules', async () => {
  const member = await app.session('member')
  expect((await call(`GET ${RULES}`, undefined, member)).status).toBe(403)
  expect((await call(`POST ${RULES}/preview`, { removes: 'x' }, member)).status).toBe(403)
})
