import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import expected from '../../../fixtures/agents-expected.json'
import { PASSWORD, startApp, type TestApp } from '../../../support/app.ts'
import { reportBody } from '../../../support/reports.ts'

let app: TestApp
let admin: string
let billing: string
/** A member whose entries these are, another one, and one who leads the project LED. */
let owner: { email: string; session: string; token: string }
let member: string
let lead: string

const signIn = async (email: string) =>
  `tally_session=${(await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })).secret}`

beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  billing = await app.session('billing')
  member = await app.session('member')
  const email = await app.person('member', { password: true })
  owner = { email, session: await signIn(email), token: await app.token('svc', email) }
  const leadEmail = await app.person('member', { password: true })
  lead = await signIn(leadEmail)
  await add('projects', { key: 'LED', leads: [leadEmail] })
  await add('projects', { key: 'ACME' })
})
afterAll(() => app.close())

async function add(what: string, json: Record<string, unknown>) {
  const answer = await app.call(`POST /api/v1/${what}`, { session: admin, json })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return answer.json
}

let made = 0
async function report(what: Record<string, unknown> = {}) {
  made += 1
  const { json } = await app.call('POST /api/v1/token-entries', {
    token: owner.token,
    json: reportBody({
      model: 'gpt-5',
      tokens: { input: 100, output: 10 },
      reported_cost: 0.5,
      session_id: `s-${made}`,
      ...what,
    }),
  })
  return json
}

const patch = (id: string, json: unknown, session = owner.session) =>
  app.call(`PATCH /api/v1/token-entries/${id}`, { session, json })
const where = ({ json }: { json: unknown }) => {
  const { project, ticket, placement } = json as {
    project: { key: string } | null
    ticket: { key: string } | null
    placement: { by: string }
  }
  return [project?.key ?? null, ticket?.key ?? null, placement.by]
}
const read = (id: string) => app.call(`GET /api/v1/token-entries/${id}`, { session: admin })
const issuesOf = (json: { errors: { pointer: string; code: string }[] }) =>
  json.errors.map(({ pointer, code }) => `${pointer} ${code}`)

describe('placing an entry by hand', () => {
  test('takes a ticket with its project, by key, id or name, and makes a ticket where its project is known', async () => {
    const { id } = await report()
    expect(where(await patch(id, { project: 'acme' }))).toEqual(['ACME', null, 'manual'])
    const onTicket = await patch(id, { ticket: 'ACME-7' })
    expect(where(onTicket)).toEqual(['ACME', 'ACME-7', 'manual'])
    expect(where(await patch(id, { project: 'LED' }))).toEqual(['LED', null, 'manual'])
    expect(where(await patch(id, { ticket: onTicket.json.ticket.id }))).toEqual(['ACME', 'ACME-7', 'manual'])
    expect(where(await patch(id, { ticket: null }))).toEqual(['ACME', null, 'manual'])
    expect(where(await patch(id, { project: null }))).toEqual([null, null, 'manual'])
  })

  test('makes nothing of a slip, and tells what is wrong', async () => {
    const { id } = await report()
    await add('tickets', { key: 'LED-1', project: 'LED' })
    const refusals: [unknown, string[]][] = [
      [{ project: 'nope' }, ['/project unknown_project']],
      [{ ticket: 'nope' }, ['/ticket unknown_ticket']],
      [{ ticket: 'tkt_00000000000000000000000000000000' }, ['/ticket unknown_ticket']],
      [{ ticket: 'LED-1', project: 'ACME' }, ['/ticket other_project']],
      [{ ticket: 'LED-1', project: null }, ['/project ticket_has_project']],
      [{ agent_name: 'x', session_id: 's' }, ['/agent_name fixed', '/session_id fixed']],
      [{ tokens: { input: 1 }, reported_cost: 2 }, ['/tokens/output required']],
      [{ reported_cost: 2 }, ['/reason required']],
      [{ reported_cost: -2, reason: 'x' }, ['/reported_cost too_small']],
      [{ agent_manager: 'ada' }, ['/agent_manager unknown_field']],
      [{ project: 7, labels: { A: 'b' } }, ['/project not_allowed', '/labels/A unknown_field']],
      [{}, [' too_few']],
    ]
    for (const [json, issues] of refusals) {
      const answer = await patch(id, json)
      expect([json, answer.status, issuesOf(answer.json).sort()]).toEqual([json, 422, issues.sort()])
    }
    expect(where(await read(id))).toEqual([null, null, 'unattributed'])
    const archived = await add('projects', { key: 'OLD' })
    await app.call(`POST /api/v1/projects/${archived.id}/archive`, { session: admin })
    expect(issuesOf((await patch(id, { project: 'OLD' })).json)).toEqual(['/project archived_project'])
  })

  test('is for the owner, for who leads the project it is in, and for billing and admin', async () => {
    const { id } = await report()
    expect((await patch(id, { project: 'ACME' }, member)).status).toBe(404)
    expect((await patch(id, { project: 'ACME' }, lead)).status).toBe(404)
    expect(where(await patch(id, { project: 'LED' }))).toEqual(['LED', null, 'manual'])
    expect((await patch(id, { summary: 'Not mine' }, lead)).status).toBe(403)
    expect(where(await patch(id, { project: 'ACME' }, lead))).toEqual(['ACME', null, 'manual'])
    expect((await patch(id, { project: 'LED' }, lead)).status).toBe(404)
    expect(where(await patch(id, { project: 'LED', summary: 'Billing may' }, billing))).toEqual(['LED', null, 'manual'])
    expect((await patch(id, { summary: 'Admin may' }, admin)).json.summary).toBe('Admin may')
    const reading = await app.token('read', await app.person('admin'))
    const sent = { json: { project: 'ACME' }, token: reading }
    expect((await app.call(`PATCH /api/v1/token-entries/${id}`, sent)).status).toBe(403)
  })

  test('moves no other entry of a ticket without a project, unless by billing and admin, who decide on it', async () => {
    const [theirs, entry] = [await report({ ticket: 'LOOSE-1' }), await report({ project: 'LED' })]
    const placed = await patch(entry.id, { project: 'LED', ticket: 'LOOSE-1' }, lead)
    expect([placed.status, ...where(placed)]).toEqual([200, 'LED', 'LOOSE-1', 'manual'])
    expect((await app.call(`GET /api/v1/token-entries/${theirs.id}`, { session: lead })).status).toBe(404)
    expect(where(await read(theirs.id))).toEqual([null, 'LOOSE-1', 'named'])

    const [another, more] = [await report({ ticket: 'LOOSE-2' }), await report()]
    expect((await patch(more.id, { project: 'LED', ticket: 'LOOSE-2' }, billing)).status).toBe(200)
    expect((await app.call(`GET /api/v1/token-entries/${another.id}`, { session: lead })).status).toBe(200)
    const decided = await app.call('GET /api/v1/tickets/LOOSE-2', { session: member })
    expect([decided.json.project.key, decided.json.project_decided]).toEqual(['LED', true])
  })

  test('keeps its project on a ticket that has none', async () => {
    await report({ ticket: 'LOOSE-3' })
    const { id } = await report({ project: 'ACME' })
    expect(where(await patch(id, { ticket: 'LOOSE-3' }))).toEqual(['ACME', 'LOOSE-3', 'manual'])
  })

  test('stays when the session reports on, also on nothing, and rules leave it', async () => {
    const { id } = await report({ session_id: 'kept', project: 'LED' })
    await patch(id, { project: 'ACME' })
    const later = { session_id: 'kept', project: 'LED', tokens: { input: 200, output: 20 }, reported_cost: 1 }
    const grown = await report({ ...later, ended_at: '2026-11-20T11:30:00Z' })
    expect([grown.id, grown.tokens.input, ...where({ json: grown })]).toEqual([id, 200, 'ACME', null, 'manual'])
    await patch(id, { project: null })
    await report({ ...later, tokens: { input: 300, output: 20 }, ended_at: '2026-11-20T11:40:00Z' })
    expect(where(await read(id))).toEqual([null, null, 'manual'])
    const unattributed = await app.call('GET /api/v1/token-entries?placed=none&session_id=kept', { session: admin })
    expect(unattributed.json.data).toEqual([])
    const { json } = await app.call('GET /api/v1/reports/unattributed?session_id=kept', { session: admin })
    expect([json.totals.entries, json.placed_on_nothing]).toEqual([0, { entries: 1, cost: 1 }])
  })

  test('is refused while the entry is approved, with what to do', async () => {
    const { id } = await report({ project: 'ACME' })
    await app.call(`POST /api/v1/token-entries/${id}/approve`, { session: billing })
    for (const json of [{ project: 'LED' }, { summary: 'New' }]) {
      const { status, json: problem } = await patch(id, json)
      expect([status, problem.code]).toEqual([409, 'entry_locked'])
      expect(problem.detail).toContain('Withdraw the approval first')
    }
    await app.call(`POST /api/v1/token-entries/${id}/withdraw-approval`, { session: billing })
    expect((await patch(id, { project: 'LED' })).status).toBe(200)
  })

  test('leaves its trace with the entry and in the audit trail, and no trace where nothing changes', async () => {
    const { id } = await report()
    await patch(id, { project: 'ACME', summary: 'Two\nlines', labels: { b: '2', a: '1' } })
    await patch(id, { project: 'ACME', summary: 'Two lines', labels: { a: '1', b: '2' } })
    const { json } = await app.call(`GET /api/v1/token-entries/${id}/history`, { session: owner.session })
    const { data: history, names } = json
    expect(names).toEqual([{ id: history[1].details.to.project.id, name: 'ACME' }])
    expect(history.map(({ action }: { action: string }) => action)).toEqual(['created', 'placed'])
    expect(history[1].details).toEqual({
      because: 'by_hand',
      from: { project: null, ticket: null, placed_by: 'unattributed' },
      to: { project: { id: expect.any(String), key: 'ACME' }, ticket: null, placed_by: 'manual' },
      summary: { from: null, to: 'Two lines' },
      labels: { from: {}, to: { a: '1', b: '2' } },
    })
    const trail = await app.call(`GET /api/v1/audit?object=${id}`, { session: admin })
    expect(trail.json.data).toHaveLength(1)
    expect(trail.json.data[0]).toMatchObject({ action: 'entry.placed', after: { summary: 'Two lines' } })
  })
})

describe('the agents’ sessions, reported with labels and no project', () => {
  const rule = {
    name: 'ACME by branch',
    conditions: [
      { field: 'labels.repository', matches: 'acme/web' },
      { field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' },
    ],
    project: 'ACME',
    ticket: '{ticket}',
  }
  const apply = async (json: Record<string, unknown>, filters = '?label=repository:acme/web') =>
    (await app.call(`POST /api/v1/placement-rules/apply${filters}`, { session: admin, json })).json
  const bodies = expected.map(({ agent_harness, session_id, model, reported_cost_otlp, requests, ...tokens }) => ({
    agent_harness,
    agent_name: agent_harness,
    session_id,
    model,
    requests,
    tokens,
    reported_cost: reported_cost_otlp,
    labels: { repository: 'acme/web', branch: 'feature/ACME-42' },
  }))
  let ids: string[]

  test('are one group of the unattributed, which carries its rule and its list', async () => {
    ids = []
    for (const body of bodies) ids.push((await report(body)).id)
    const { json } = await app.call('GET /api/v1/reports/unattributed?label=repository:acme/web', { session: admin })
    expect(json.data).toHaveLength(1)
    const [group] = json.data
    expect(group).toMatchObject({
      name: 'acme/web',
      entries: expected.length,
      agent_harness: null,
      rule: { name: 'acme/web', conditions: [{ field: 'labels.repository', matches: 'acme/web' }] },
    })
    expect(group.common).toContainEqual({ field: 'labels.branch', matches: 'feature/ACME-42' })
    const listed = await app.call(`GET ${group.list}`, { session: admin })
    expect(listed.json.data.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort())
    const seen = async (session: string) =>
      (await app.call('GET /api/v1/reports/unattributed', { session })).json.totals.entries
    expect(await seen(member)).toBe(0)
    expect(await seen(owner.session)).toBeGreaterThanOrEqual(expected.length)
    const csv = await app.call('GET /api/v1/reports/unattributed?format=csv', { session: admin })
    expect(csv.text).toContain(`acme/web,${expected.length},`)
  })

  test('would be taken by a rule that is not saved, of which each entry tells', async () => {
    const { json, status } = await app.call('POST /api/v1/placement-rules/test/entries?label=repository:acme/web', {
      session: billing,
      json: { rule, limit: 2 },
    })
    expect([status, json.data.length, json.has_more]).toEqual([200, 2, true])
    expect(json.data[0]).toMatchObject({
      applies: true,
      entry: { placed_by: 'unattributed' },
      taken: { rule: { id: null, name: rule.name }, project: { key: 'ACME' }, ticket: 'ACME-42' },
    })
    const next = await app.call('POST /api/v1/placement-rules/test/entries?label=repository:acme/web', {
      session: billing,
      json: { limit: 1_000, page: json.next_page },
    })
    expect([next.json.data.length, next.json.has_more, next.json.data[0].taken]).toEqual([
      expected.length - 2,
      false,
      null,
    ])
  })

  test('go to ticket ACME-42 of project ACME by one rule, exactly as the dry run said before', async () => {
    await add('placement-rules', rule)
    const planned = await apply({ scope: 'unattributed', dry_run: true })
    expect(planned).toMatchObject({ dry_run: true, entries: expected.length, complete: true, next_page: null })
    expect(planned.moves.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort())
    for (const { from, to, rule: by } of planned.moves) {
      expect([from.project, to.project.key, to.ticket.key, to.placed_by, by.name]).toEqual([
        null,
        'ACME',
        'ACME-42',
        'rule',
        rule.name,
      ])
    }
    expect(where(await read(ids[0]!))).toEqual([null, null, 'unattributed'])

    const done = await apply({ scope: 'unattributed', limit: 1_000 })
    const known = (answer: { moves: { to: { ticket: { key: string } } }[] }) =>
      JSON.parse(JSON.stringify(answer, (name, value) => (name === 'ticket' && value ? { key: value.key } : value)))
    expect({ ...known(done), dry_run: true }).toEqual(known(planned))
    for (const id of ids) {
      const entry = await read(id)
      expect(where(entry)).toEqual(['ACME', 'ACME-42', 'rule'])
      expect(entry.json.placement.rule).toMatchObject({ name: rule.name, version: 1 })
    }
    expect(await apply({ scope: 'rule_placed', dry_run: true })).toMatchObject({ entries: 0, moves: [], groups: [] })
    const history = (await app.call(`GET /api/v1/token-entries/${ids[0]}/history`, { session: admin })).json.data
    expect(history.at(-1)).toMatchObject({
      action: 'placed',
      details: { because: 'rules_applied', to: { ticket: { key: 'ACME-42' } }, rule: { name: rule.name, version: 1 } },
    })
  })

  test('have the name of the rule in their history and events for those who may read rules alone', async () => {
    const email = await app.person('member', { password: true })
    await app.call('PATCH /api/v1/projects/ACME', { session: admin, json: { leads: [email] } })
    const rules = (await app.call('GET /api/v1/placement-rules', { session: admin })).json.data
    const { id } = rules.find(({ name }: { name: string }) => name === rule.name)
    const recorded = async (session: string) => {
      const { json } = await app.call(`GET /api/v1/token-entries/${ids[0]}/history`, { session })
      const events = (await app.call('GET /api/v1/events?types=entry.placed&limit=1000', { session })).json.data
      const ofEntry = events.filter(({ object }: { object: { id: string } }) => object.id === ids[0])
      return [json.data.at(-1).details.rule, ofEntry.at(-1).after.rule]
    }
    const named = { id, name: rule.name, version: 1 }
    for (const session of [admin, billing]) expect(await recorded(session)).toEqual([named, named])
    const unnamed = { id, version: 1 }
    for (const session of [owner.session, await signIn(email)]) {
      expect(await recorded(session)).toEqual([unnamed, unnamed])
    }
  })

  test('are asked of the rules again where their labels are corrected', async () => {
    const corrected = await patch(ids[0]!, { labels: { repository: 'acme/web', branch: 'ACME-43' } })
    expect(where(corrected)).toEqual(['ACME', 'ACME-43', 'rule'])
    expect(where(await patch(ids[0]!, { labels: null }))).toEqual([null, null, 'unattributed'])
  })

  test('move only where an admin asks', async () => {
    for (const session of [member, billing]) {
      const json = { scope: 'unattributed', dry_run: true }
      expect((await app.call('POST /api/v1/placement-rules/apply', { session, json })).status).toBe(403)
    }
    const wrong = await app.call('POST /api/v1/placement-rules/apply', {
      session: admin,
      json: { scope: 'unattributed', page: 'x' },
    })
    expect(issuesOf(wrong.json)).toEqual(['/page bad_page'])
  })
})

test('many are placed at once, and each is told of', async () => {
  const open = await report()
  const locked = await report({ project: 'ACME' })
  await app.call(`POST /api/v1/token-entries/${locked.id}/approve`, { session: billing })
  const { json } = await app.call('POST /api/v1/token-entries/actions', {
    session: owner.session,
    json: { action: 'place', ids: [open.id, locked.id, 'ent_none'], ticket: 'ACME-9' },
  })
  expect(
    json.results.map(({ result, problem }: { result: string; problem: { code: string } | null }) => [
      result,
      problem?.code,
    ]),
  ).toEqual([
    ['done', undefined],
    ['refused', 'entry_locked'],
    ['refused', 'not_found'],
  ])
  expect(where(await read(open.id))).toEqual(['ACME', 'ACME-9', 'manual'])
})

test('what a dry run showed is done once, by the same person, unless an entry has changed', async () => {
  const [one, other] = [await report(), await report()]
  const act = (json: object, session = owner.session) =>
    app.call('POST /api/v1/token-entries/actions', { session, json: { action: 'place', project: 'ACME', ...json } })
  const ids = [one.id, other.id]
  const { digest } = (await act({ ids, dry_run: true })).json
  expect((await act({ ids: ids.toReversed(), dry_run: true })).json.digest).toBe(digest)
  const refused = [
    await act({ ids: [one.id], digest }),
    await act({ ids, digest, project: null }),
    await act({ ids, digest }, billing),
  ]
  expect(refused.map(({ status, json }) => [status, json.code])).toEqual(Array(3).fill([409, 'preview_changed']))
  const summary = { summary: 'Looked at meanwhile' }
  await app.call(`PATCH /api/v1/token-entries/${one.id}`, { session: owner.session, json: summary })
  expect((await act({ ids, digest })).json.code).toBe('preview_changed')
  expect(where(await read(other.id))).toEqual([null, null, 'unattributed'])
  const again = (await act({ ids, dry_run: true })).json.digest
  const { status, json } = await act({ ids, digest: again })
  expect([status, json.done, json.digest]).toEqual([200, 2, undefined])
  expect((await act({ ids, digest: again })).json.code).toBe('preview_changed')
  const unplacing = { session: owner.session, json: { action: 'unplace', ids, digest } }
  expect((await app.call('POST /api/v1/token-entries/actions', unplacing)).status).toBe(422)
})

test('what a person placed becomes unattributed again, and only that', async () => {
  const placed = await report()
  const named = await report({ project: 'ACME' })
  const act = (session: string, json: object) => app.call('POST /api/v1/token-entries/actions', { session, json })
  await act(owner.session, { action: 'place', ids: [placed.id], ticket: 'ACME-9' })
  const ids = [placed.id, named.id]
  const { json } = await act(owner.session, { action: 'unplace', ids })
  expect(json.results.map(({ result }: { result: string }) => result)).toEqual(['done', 'unchanged'])
  expect(where(await read(placed.id))).toEqual([null, null, 'unattributed'])
  expect(where(await read(named.id))).toEqual(['ACME', null, 'named'])
  expect((await act(owner.session, { action: 'unplace', ids, project: 'ACME' })).status).toBe(422)
})
