import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'

let app: TestApp
let admin: string
let svc: string
beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  svc = await app.token('svc')
  for (const key of ['ACME', 'OTHER', 'OLD', 'SHELF']) await app.services.projects.addProject(OPERATOR, { key })
  await app.services.projects.archiveProject(OPERATOR, 'OLD')
})
afterAll(() => app.close())

const RULES = '/api/v1/placement-rules'
const byBranch = {
  name: 'ACME by branch',
  conditions: [
    { field: 'labels.repository', matches: 'acme/*' },
    { field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' },
  ],
  project: 'ACME',
  ticket: '{ticket}',
}

const add = async (rule: Record<string, unknown>) => {
  const { status, json } = await app.call(`POST ${RULES}`, { session: admin, json: rule })
  expect([status, json]).toEqual([201, expect.anything()])
  return json
}
const names = async () => {
  const { json } = await app.call(`GET ${RULES}`, { session: admin })
  return json.data.map(({ name, position }: { name: string; position: number }) => `${position} ${name}`)
}
const clear = async () => {
  const { json } = await app.call(`GET ${RULES}`, { session: admin })
  for (const { id } of json.data) await app.call(`DELETE ${RULES}/${id}`, { session: admin })
}
const report = async (more: Record<string, unknown>, token = svc) => {
  const { status, json } = await app.call('POST /api/v1/token-entries', {
    token,
    json: reportBody({ agent_harness: 'claude-code', model: 'claude-sonnet-4-5', ...more }),
  })
  expect(status).toBeLessThan(300)
  return json
}

describe('rules', () => {
  test('are added, shown, changed and removed, and every change is in the audit trail', async () => {
    const added = await add(byBranch)
    expect(added).toMatchObject({
      position: 1,
      enabled: true,
      version: 1,
      warnings: [],
      project: { key: 'ACME' },
      ticket: '{ticket}',
      conditions: byBranch.conditions,
    })
    const { json: same } = await app.call(`PATCH ${RULES}/${added.id}`, { session: admin, json: { name: added.name } })
    expect(same.version).toBe(1)
    const { json: changed } = await app.call(`PATCH ${RULES}/ACME%20by%20branch`, {
      session: admin,
      json: { ticket: null, enabled: false },
    })
    expect(changed).toMatchObject({ id: added.id, ticket: null, enabled: false, version: 2 })
    const removed = await app.call(`DELETE ${RULES}/${added.id}`, { session: admin })
    expect(removed.status).toBe(204)
    expect((await app.call(`GET ${RULES}/${added.id}`, { session: admin })).status).toBe(404)
    const { read } = app.services.db
    const rows = await read.select().from(read.tables.audit)
    const own = rows.filter(({ objectId }) => objectId === added.id)
    expect(own.map(({ action }) => action)).toEqual([
      'placement_rule.added',
      'placement_rule.changed',
      'placement_rule.removed',
    ])
    expect(own[1]).toMatchObject({
      before: { ticket: '{ticket}', enabled: true },
      after: { ticket: null, enabled: false },
    })
  })

  test('are refused with every issue and where it is, the project among them', async () => {
    const { status, json } = await app.call(`POST ${RULES}`, {
      session: admin,
      json: { ...byBranch, project: 'nowhere', ticket: '{number}', conditions: [{ field: 'model', matches: '/(/' }] },
    })
    expect(status).toBe(422)
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/conditions/0/matches',
      '/ticket',
      '/project',
    ])
    const shape = await app.call(`POST ${RULES}`, { session: admin, json: { ...byBranch, conditions: [] } })
    expect([shape.status, shape.json.errors[0].pointer]).toEqual([422, '/conditions'])
  })

  test('have names of their own', async () => {
    await add(byBranch)
    const again = await app.call(`POST ${RULES}`, { session: admin, json: { ...byBranch, name: ' acme BY branch' } })
    expect([again.status, again.json.code]).toEqual([409, 'already_exists'])
    await clear()
  })

  test('stand in an order, which names every one exactly once', async () => {
    const ids: string[] = []
    for (const name of ['one', 'two', 'three']) ids.push((await add({ ...byBranch, name })).id)
    await add({ ...byBranch, name: 'first', position: 1 })
    expect(await names()).toEqual(['1 first', '2 one', '3 two', '4 three'])
    const order = (rules: string[]) => app.call(`PUT ${RULES}/order`, { session: admin, json: { rules } })
    for (const wrong of [ids, [...ids, ids[0]!], [...ids, `rul_${'0'.repeat(32)}`], []]) {
      const refused = await order(wrong)
      expect([refused.status, refused.json.code]).toEqual([409, 'rules_changed'])
    }
    const { json } = await app.call(`GET ${RULES}/first`, { session: admin })
    expect((await order([...ids.reverse(), json.id])).status).toBe(200)
    expect(await names()).toEqual(['1 three', '2 two', '3 one', '4 first'])
    await clear()
  })

  test('can be tried in the place of a saved one, as if that one were changed', async () => {
    const everything = [{ field: 'agent_harness', matches: '*' }]
    const first = await add({ name: 'first', conditions: everything, project: 'ACME' })
    await add({ name: 'second', conditions: everything, project: 'OTHER' })
    const tried = { ...first, conditions: [{ field: 'model', matches: 'gpt-*' }], project: 'ACME' }
    const rule = { name: tried.name, conditions: tried.conditions, project: tried.project }
    const test = (body: object) => app.call(`POST ${RULES}/test`, { session: admin, json: body })
    const sample = { agent_harness: 'codex', model: 'claude-sonnet-4-5' }
    const { json } = await test({ sample, rule, replaces: first.id })
    expect(json.steps.map(({ rule, verdict }: { rule: object; verdict: string }) => [rule, verdict])).toEqual([
      [{ id: null, name: 'first' }, 'not_met'],
      [expect.objectContaining({ name: 'second' }), 'takes'],
    ])
    expect((await test({ sample, rule, replaces: 'nobody' })).status).toBe(404)
    const nothing = await test({ sample, replaces: first.id })
    expect([nothing.status, nothing.json.errors[0].pointer]).toEqual([422, '/replaces'])
    await clear()
  })

  test('for an archived project say when they are saved that they are skipped, and are', async () => {
    const everything = [{ field: 'agent_harness', matches: '*' }]
    const { warnings, id } = await add({ name: 'old', conditions: everything, project: 'OLD' })
    expect(warnings[0]).toContain('OLD is archived')
    expect((await report({})).placement.by).toBe('unattributed')
    await app.services.projects.restoreProject(OPERATOR, 'OLD')
    expect((await report({})).placement).toMatchObject({ by: 'rule', rule: { id, name: 'old', version: 1 } })
    await clear()
  })

  test('are read by billing and admins, and changed by admins alone', async () => {
    const reading = async (credential: { token?: string; session?: string }) =>
      (await app.call(`GET ${RULES}`, credential)).status
    expect(await reading({ session: await app.session('member') })).toBe(403)
    expect(await reading({ session: await app.session('billing') })).toBe(200)
    expect(await reading({ token: await app.token('read', await app.person('member')) })).toBe(403)
    expect(await reading({ token: await app.token('read') })).toBe(200)
    const billing = await app.session('billing')
    expect((await app.call(`POST ${RULES}`, { session: billing, json: byBranch })).status).toBe(403)
  })
})

describe('a sample', () => {
  test('is told which rule takes it, and why the earlier ones do not', async () => {
    await add({ name: 'codex', conditions: [{ field: 'agent_harness', matches: 'codex' }], project: 'OTHER' })
    const { id } = await add(byBranch)
    const sample = { agent_harness: 'claude-code', labels: { repository: 'acme/web', branch: 'fix-ACME-7' } }
    const { json } = await app.call(`POST ${RULES}/test`, { session: admin, json: { sample } })
    expect(json.taken).toMatchObject({ rule: { id }, project: { key: 'ACME' }, ticket: 'ACME-7' })
    expect(json.steps).toEqual([
      {
        rule: { id: expect.any(String), name: 'codex' },
        verdict: 'not_met',
        failed: [{ field: 'agent_harness', matches: 'codex', value: 'claude-code' }],
      },
      { rule: { id, name: byBranch.name }, verdict: 'takes', failed: [] },
    ])
  })

  test('is also tried on a rule that is not saved, at its position, and nothing is written', async () => {
    const before = await names()
    const rule = {
      name: 'new',
      position: 1,
      conditions: [{ field: 'agent_manager', matches: 'ada*' }],
      project: 'OTHER',
    }
    const sample = { agent_manager: 'ada@example.com' }
    const { json } = await app.call(`POST ${RULES}/test`, { session: admin, json: { sample, rule } })
    expect(json.taken).toMatchObject({ rule: { id: null, name: 'new' }, project: { key: 'OTHER' } })
    expect(json.steps).toHaveLength(1)
    expect(await names()).toEqual(before)
    const bad = await app.call(`POST ${RULES}/test`, {
      session: admin,
      json: { sample, rule: { ...rule, ticket: '{x}' } },
    })
    expect([bad.status, bad.json.errors[0].pointer]).toEqual([422, '/rule/ticket'])
    await clear()
  })
})

describe('an entry that nobody named a place for', () => {
  test('goes on the ticket that the first rule composes, and shows the rule as it was then', async () => {
    const { id } = await add(byBranch)
    const labels = { repository: 'acme/web', branch: 'feature/ACME-42' }
    const entry = await report({ labels })
    expect(entry).toMatchObject({ project: { key: 'ACME' }, ticket: { key: 'ACME-42' } })
    await app.call(`PATCH ${RULES}/${id}`, { session: admin, json: { name: 'renamed', ticket: null } })
    const { json } = await app.call(`GET /api/v1/token-entries/${entry.id}`, { token: await app.token('read') })
    expect(json.placement).toMatchObject({ by: 'rule', rule: { id, name: 'ACME by branch', version: 1 }, note: null })
    expect(json.placed_by_rule).toEqual({
      ticket: '{ticket}',
      conditions: [
        { ...byBranch.conditions[0], value: 'acme/web' },
        { ...byBranch.conditions[1], value: 'feature/ACME-42' },
      ],
    })
    const member = await app.person('member')
    const own = await report({ labels: { repository: 'acme/web', branch: 'ACME-1' } }, await app.token('svc', member))
    const seen = await app.call(`GET /api/v1/token-entries/${own.id}`, { token: await app.token('read', member) })
    expect([seen.json.placement.rule.id, seen.json.placed_by_rule]).toEqual([id, null])
    expect((await report({ labels })).placement.rule).toEqual({ id, name: 'renamed', version: 2 })
    await app.call(`DELETE ${RULES}/${id}`, { session: admin })
    expect((await report({ labels })).placement).toMatchObject({ by: 'unattributed', rule: null })
  })
})
