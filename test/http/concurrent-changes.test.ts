/** Objects that people change have a version, and a change that requires another one is refused. */
import { expect, test } from 'bun:test'
import type { Call } from '../support/app.ts'
import { startApp } from '../support/app.ts'
import { forEachEngine } from '../support/databases.ts'
import { pngOf } from '../support/picture.ts'
import { reportBody } from '../support/reports.ts'

/** Operations on an object that don't take `If-Match`, and why. */
const UNCONDITIONAL: Record<string, string> = {
  'post /api/v1/users/{id}/invitation': 'changes no person',
  'post /api/v1/users/{id}/password-link': 'changes no person',
  'post /api/v1/share-links/{id}/revoke': 'can only be done once',
  'delete /api/v1/deputies/{id}': 'can only be done once',
  'put /api/v1/me/password': 'takes the current password',
  'delete /api/v1/price-aliases': 'an alias is replaced as a whole',
  'post /api/v1/budgets/{id}/test': 'changes no budget',
  'put /api/v1/agent-status': 'a machine says what it last found',
  'post /api/v1/webhooks/{id}/test': 'changes no webhook',
  'post /api/v1/webhooks/{id}/deliveries/{event}/resend': 'changes no webhook',
  'delete /api/v1/session': 'signs out',
  'post /api/v1/placement-rules/proposals/{id}/accept': 'can only be decided once, and what is proposed never changes',
  'post /api/v1/placement-rules/proposals/{id}/decline': 'can only be decided once',
  'post /api/v1/placement-rules/proposals/{id}/withdraw': 'can only be decided once',
  'patch /api/v1/placement-rules/of-leads/{id}': 'adds a version, and the others stay',
  'delete /api/v1/placement-rules/of-leads/{id}': 'can only be done once',
  'patch /api/v1/me/preferences': 'the last choice counts, and each table is replaced as a whole',
  'put /api/v1/bill-drafts/{id}': 'names the revision that it replaces',
  'delete /api/v1/bill-drafts/{id}': 'can only be done once',
  'patch /api/v1/report-views/{id}': 'only its owner changes it, and the last choice counts',
  'delete /api/v1/report-views/{id}': 'can only be done once',
}

forEachEngine('changes with If-Match', (open) => {
  async function stage() {
    const app = await startApp({ db: await open() })
    const [ada, grace] = [await app.session('admin'), await app.session('admin')]
    const svc = await app.token('svc')
    const call = (session: string, methodAndPath: string, { json, tag }: { json?: unknown; tag?: string } = {}) =>
      app.call(methodAndPath, {
        session,
        ...(json !== undefined && { json }),
        ...(tag !== undefined && { headers: { 'if-match': tag } }),
      } as Call)
    const add = async (what: string, json: unknown) => (await call(ada, `POST /api/v1/${what}`, { json })).json
    const tagOf = async (path: string, session = ada) => (await call(session, `GET ${path}`)).headers.get('etag')!
    const report = async (more: Record<string, unknown> = {}) =>
      (await app.call('POST /api/v1/token-entries', { token: svc, json: reportBody(more) })).json
    return { app, ada, grace, call, add, tagOf, report }
  }

  test('are refused after a change by somebody else, whom they name, and write nothing', async () => {
    const { app, ada, grace, call, add, tagOf, report } = await stage()
    const client = await add('clients', { name: 'Acme Ltd' })
    const project = await add('projects', { key: 'ACME' })
    const ticket = await add('tickets', { key: 'ACME-1', project: 'ACME' })
    const rule = await add('placement-rules', {
      name: 'all',
      conditions: [{ field: 'labels.branch', matches: 'ops/*' }],
      project: 'ACME',
    })
    const user = await add('users', { email: 'eve@example.com', name: 'Eve', role: 'member' })
    const entry = await report({ project: 'ACME' })
    const sheet = await add('token-sheets', { month: '2026-11' })
    const changes: [path: string, one: object, other: object][] = [
      [`/api/v1/clients/${client.id}`, { name: 'Acme' }, { name: 'Acme Inc' }],
      [`/api/v1/projects/${project.id}`, { name: 'Web' }, { name: 'Shop' }],
      [`/api/v1/projects/${project.id}`, { aliases: ['web site'] }, { name: 'Front' }],
      [`/api/v1/tickets/${ticket.id}`, { title: 'One' }, { title: 'Two' }],
      [`/api/v1/placement-rules/${rule.id}`, { enabled: false }, { name: 'every' }],
      [`/api/v1/users/${user.user?.id ?? user.id}`, { name: 'Eva' }, { role: 'billing' }],
      ['/api/v1/settings', { name: 'Studio' }, { week_start: 'sunday' }],
      [`/api/v1/token-entries/${entry.id}`, { summary: 'One' }, { ticket: 'ACME-1' }],
    ]
    for (const [path, one, other] of changes) {
      const tag = await tagOf(path)
      expect([path, tag]).toEqual([path, expect.stringMatching(/^"[\w-]{12}\.[\w-]+"$/)])
      expect((await call(grace, `PATCH ${path}`, { json: one, tag })).status).toBe(200)
      const before = (await call(ada, `GET ${path}`)).json
      const refused = await call(ada, `PATCH ${path}`, { json: other, tag })
      expect([path, refused.status, refused.json?.code]).toEqual([path, 412, 'changed_meanwhile'])
      expect(refused.json.changed).toEqual({ at: expect.any(String), by: { id: expect.any(String), name: 'Person 2' } })
      expect((await call(ada, `GET ${path}`)).json).toEqual(before)
      const weak = (await tagOf(path)).replace(/^/, 'W/')
      expect((await call(ada, `PATCH ${path}`, { json: other, tag: `"other", ${weak}` })).status).toBe(200)
      expect((await call(ada, `PATCH ${path}`, { json: one, tag: '*' })).status).toBe(200)
      expect((await call(ada, `PATCH ${path}`, { json: other })).status).toBe(200)
    }
    const actions: [path: string, action: string, other: string][] = [
      [`/api/v1/projects/${project.id}`, 'archive', 'restore'],
      [`/api/v1/clients/${client.id}`, 'archive', 'restore'],
      [`/api/v1/tickets/${ticket.id}`, 'archive', 'restore'],
      [`/api/v1/users/${user.user?.id ?? user.id}`, 'disable', 'enable'],
      [`/api/v1/token-entries/${entry.id}`, 'approve', 'withdraw-approval'],
    ]
    for (const [path, action, other] of actions) {
      const tag = await tagOf(path)
      const done = await call(ada, `POST ${path}/${action}`, { tag })
      expect([path, done.status]).toEqual([path, 200])
      const refused = await call(grace, `POST ${path}/${other}`, { tag })
      expect([path, refused.status]).toEqual([path, 412])
      expect((await call(grace, `POST ${path}/${other}`, { tag: await tagOf(path, grace) })).status).toBe(200)
    }
    const sheetPath = `/api/v1/token-sheets/${sheet.id}`
    const sheetTag = await tagOf(sheetPath)
    const line = {
      agent_harness: 'codex',
      agent_name: 'codex',
      model: 'gpt-5',
      started_at: '2026-11-03T10:00:00Z',
      ended_at: '2026-11-03T11:00:00Z',
      project: 'ACME',
    }
    const added = await call(ada, `POST ${sheetPath}/entries`, {
      json: { ...line, tokens: { input: 1, output: 1 } },
      tag: sheetTag,
    })
    expect([added.status, added.text]).toEqual([201, added.text])
    expect((await call(ada, `POST ${sheetPath}/submit`, { json: {}, tag: sheetTag })).status).toBe(412)
    expect((await call(ada, `DELETE ${sheetPath}`, { tag: sheetTag })).status).toBe(412)
    const removed = `/api/v1/placement-rules/${rule.id}`
    const tag = await tagOf(removed)
    await call(grace, `PATCH ${removed}`, { json: { name: 'other' } })
    expect((await call(ada, `DELETE ${removed}`, { tag })).status).toBe(412)
    expect((await call(ada, `DELETE ${removed}`, { tag: await tagOf(removed) })).status).toBe(204)
    await app.close()
  }, 180_000)

  test('of the order of the placement rules and of the logo, too', async () => {
    const { app, ada, grace, call, add, tagOf } = await stage()
    await add('projects', { key: 'ACME' })
    const conditions = [{ field: 'labels.branch', matches: 'ops/*' }]
    const rules: string[] = []
    for (const name of ['one', 'two', 'three', 'four']) {
      rules.push((await add('placement-rules', { name, conditions, project: 'ACME' })).id)
    }
    const [one, two, three, four] = rules
    const order = (session: string, tag: string, ...ids: unknown[]) =>
      call(session, 'PUT /api/v1/placement-rules/order', { json: { rules: ids }, tag })
    const tag = await tagOf('/api/v1/placement-rules')
    expect(tag).toMatch(/^"[\w-]{12}\.[\w-]+(-\w+)?"$/)
    const both = await Promise.all([order(grace, tag, two, one, three, four), order(ada, tag, one, two, four, three)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
    const refused = await order(ada, tag, four, three, two, one)
    expect([refused.status, refused.json.code]).toEqual([412, 'changed_meanwhile'])
    expect((await order(ada, await tagOf('/api/v1/placement-rules'), four, three, two, one)).status).toBe(200)

    const path = '/api/v1/settings/logo'
    const picture = async (session: string, width: number, tag?: string) => {
      const headers = { 'content-type': 'image/png', ...(tag !== undefined && { 'if-match': tag }) }
      return (await app.call(`PUT ${path}`, { session, body: pngOf(width), headers } as Call)).status
    }
    expect(await picture(ada, 1)).toBe(200)
    const logo = await tagOf(path)
    const settings = await tagOf('/api/v1/settings')
    expect(logo).toMatch(/^"[\w-]{12}\.[\w-]+"$/)
    expect(await picture(grace, 2, logo)).toBe(200)
    expect([await picture(ada, 3, logo), (await call(ada, `DELETE ${path}`, { tag: logo })).status]).toEqual([412, 412])
    expect(await picture(ada, 3, await tagOf(path))).toBe(200)
    // The form of the settings stays valid while the logo changes.
    expect((await call(ada, 'PATCH /api/v1/settings', { json: { name: 'Studio' }, tag: settings })).status).toBe(200)
    await app.close()
  }, 180_000)

  test('of bills and tokens, too, whatever the change records', async () => {
    const { app, ada, call, add, tagOf, report } = await stage()
    await add('clients', { name: 'Acme Ltd' })
    await add('projects', { key: 'ACME', client: 'Acme Ltd' })
    const entry = await report({ project: 'ACME', reported_cost: 10 })
    await call(ada, `POST /api/v1/token-entries/${entry.id}/approve`)
    const month = entry.ended_at.slice(0, 7)
    const bill = await add('bills', { client: 'Acme Ltd', month })
    const path = `/api/v1/bills/${bill.id}`
    const stale = await tagOf(path)
    expect((await call(ada, `POST ${path}/payments`, { json: { amount: 1 }, tag: stale })).status).toBe(201)
    const { payments } = (await call(ada, `GET ${path}`)).json
    const acts: [string, unknown][] = [
      ['payments', { amount: 1 }],
      [`payments/${payments[0].number}/reverse`, { reason: 'Twice.' }],
      ['paid', {}],
      ['unpaid', { reason: 'Returned.' }],
      ['credit-note', { lines: [{ text: 'Billed twice', amount: 1 }] }],
    ]
    for (const [act, json] of acts) {
      const refused = await call(ada, `POST ${path}/${act}`, { json, tag: stale })
      expect([act, refused.status, refused.json.code]).toEqual([act, 412, 'changed_meanwhile'])
    }
    const credited = await call(ada, `POST ${path}/credit-note`, { json: acts[4]![1], tag: await tagOf(path) })
    expect([credited.status, credited.text]).toEqual([201, credited.text])

    const token = await add('tokens', { kind: 'read', name: 'dashboard' })
    const tokenPath = `/api/v1/tokens/${token.id}`
    const tag = await tagOf(tokenPath)
    expect((await call(ada, `POST ${tokenPath}/revoke`, { tag: '"other"' })).status).toBe(412)
    expect((await call(ada, `POST ${tokenPath}/revoke`, { tag })).status).toBe(200)
    await app.close()
  })

  test('do not mind usage that arrives, nor the address by another name', async () => {
    const { app, ada, call, add, tagOf, report } = await stage()
    const project = await add('projects', { key: 'ACME' })
    const path = `/api/v1/projects/${project.id}`
    const tag = await tagOf(path)
    const entry = await report({ project: 'ACME', session_id: 's' })
    const entryTag = await tagOf(`/api/v1/token-entries/${entry.id}`)
    await report({ project: 'ACME', session_id: 's', tokens: { input: 9_000, output: 900 } })
    const after = await tagOf(`/api/v1/token-entries/${entry.id}`)
    expect(after).not.toBe(entryTag)
    expect(after.slice(0, 13)).toBe(entryTag.slice(0, 13))
    const summary = { json: { summary: 'Done' }, tag: entryTag }
    expect((await call(ada, `PATCH /api/v1/token-entries/${entry.id}`, summary)).status).toBe(200)
    expect((await call(ada, 'PATCH /api/v1/projects/ACME', { json: { name: 'Web' }, tag })).status).toBe(200)
    expect((await call(ada, 'PATCH /api/v1/projects/ACME', { json: { name: 'Shop' }, tag })).status).toBe(412)
    expect((await call(ada, 'GET /api/v1/projects/ACME')).headers.get('etag')).toStartWith('W/')
    const merged = await add('projects', { key: 'OLD' })
    const mergedTag = await tagOf(`/api/v1/projects/${merged.id}`)
    const merging = { json: { into: 'ACME' }, tag: mergedTag }
    expect((await call(ada, `POST /api/v1/projects/${merged.id}/merge`, merging)).json.complete).toBe(true)
    await app.close()
  })

  test('of two at the same time with one tag, one is made', async () => {
    const { app, ada, grace, call, add, tagOf, report } = await stage()
    const project = await add('projects', { key: 'ACME' })
    const entry = await report({ project: 'ACME' })
    const pairs: [string, object, object][] = [
      [`/api/v1/projects/${project.id}`, { name: 'One' }, { aliases: ['two words'] }],
      [`/api/v1/token-entries/${entry.id}`, { summary: 'One' }, { labels: { branch: 'two' } }],
      ['/api/v1/settings', { name: 'One' }, { week_start: 'sunday' }],
    ]
    for (const [path, one, other] of pairs) {
      const tag = await tagOf(path)
      const both = await Promise.all([
        call(ada, `PATCH ${path}`, { json: one, tag }),
        call(grace, `PATCH ${path}`, { json: other, tag }),
      ])
      expect([path, both.map(({ status }) => status).sort()]).toEqual([path, [200, 412]])
    }
    await app.close()
  })
})

test('every operation that changes an object takes If-Match, or is named with the reason', async () => {
  const app = await startApp()
  const paths = Object.entries(
    app.document.paths as Record<string, Record<string, { parameters?: { $ref?: string }[] }>>,
  )
  const changing = paths.flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const isChange = method === 'patch' || method === 'put' || method === 'delete'
      if (method === 'get' || !(isChange || path.includes('{id}'))) return []
      const isConditional = operation.parameters?.some(({ $ref }) => $ref === '#/components/parameters/If-Match')
      return [{ name: `${method} ${path}`, isConditional }]
    }),
  )
  const unconditional = changing.filter(({ isConditional }) => !isConditional).map(({ name }) => name)
  expect(unconditional.sort()).toEqual(Object.keys(UNCONDITIONAL).sort())
  await app.close()
})
