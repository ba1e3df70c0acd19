/** Who approves without a role: leads of projects and clients, approvers, and deputies; and what each of them sees. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../../../src/database/database.ts'
import { PASSWORD, startApp, type TestApp } from '../../../support/app.ts'
import { forEachEngine } from '../../../support/databases.ts'

forEachEngine('an approver', (open) => {
  let db: Database
  let app: TestApp
  let now = Date.parse('2026-11-20T12:00:00Z')
  let admin: string
  const people: Record<string, { email: string; id: string; session: string; token: string }> = {}
  let count = 0

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => now } })
    admin = await app.session('admin')
    for (const name of ['lead', 'approver', 'worker', 'friend']) {
      const email = await app.person('member', { password: true })
      const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
      const session = `tally_session=${secret}`
      const id = (await app.call('GET /api/v1/me', { session })).json.person.id
      people[name] = { email, id, session, token: await app.token('svc', email) }
    }
    await does('POST /api/v1/clients', 201, { name: 'Acme Ltd', leads: [people.lead!.email] })
    await does('POST /api/v1/projects', 201, { key: 'ACME', client: 'Acme Ltd', approvers: [people.approver!.email] })
    await does('POST /api/v1/projects', 201, { key: 'OTHER' })
  })
  afterAll(() => app.close())

  async function does(call: string, status: number, json?: unknown, session = admin) {
    const answer = await app.call(call, { session, json })
    expect([call, answer.status, answer.status === status ? '' : answer.text]).toEqual([call, status, ''])
    return answer.json
  }

  async function report(who: string, project = 'ACME'): Promise<string> {
    const day = `2026-11-${String(1 + (count++ % 19)).padStart(2, '0')}`
    const { json } = await app.call('POST /api/v1/token-entries', {
      token: people[who]!.token,
      json: {
        agent_harness: 'codex',
        agent_name: 'reviewer',
        model: 'gpt-5-codex',
        started_at: `${day}T10:00:00Z`,
        ended_at: `${day}T10:05:${String(count % 60).padStart(2, '0')}Z`,
        tokens: { input: 1000 + count, output: 10 },
        reported_cost: 1,
        project,
      },
    })
    return json.id
  }

  const as = (who: string) => people[who]!.session
  const decide = (who: string, entry: string, action = 'approve') =>
    app.call(`POST /api/v1/token-entries/${entry}/${action}`, { session: as(who) })
  const listed = async (who: string, query = '') =>
    (await does(`GET /api/v1/token-entries?limit=1000${query}`, 200, undefined, as(who))).data.map(
      ({ id }: { id: string }) => id,
    )

  test('who leads a client leads all of its projects, also later ones', async () => {
    const first = await report('worker')
    expect((await decide('lead', first)).status).toBe(200)
    await does('POST /api/v1/projects', 201, { key: 'LATER', client: 'Acme Ltd' })
    const later = await report('worker', 'LATER')
    expect(await listed('lead')).toEqual(expect.arrayContaining([first, later]))
    const project = await does('GET /api/v1/projects/LATER', 200, undefined, as('lead'))
    expect(project.client_leads).toEqual([{ id: people.lead!.id, name: expect.any(String) }])
    expect((await does(`GET /api/v1/projects?lead=${people.lead!.id}`, 200, undefined, as('lead'))).data).toHaveLength(
      2,
    )
    await does('PATCH /api/v1/projects/LATER', 200, { aliases: ['later work'] }, as('lead'))
    await does('PATCH /api/v1/projects/LATER', 200, { client: null })
    expect((await decide('lead', later)).status).toBe(404)
    expect(await listed('lead')).not.toContain(later)
  })

  test('who leads approves nothing of their own, alone or with others', async () => {
    const own = await report('lead')
    expect((await decide('lead', own)).json.detail).toContain('it is your own')
    const many = await does('POST /api/v1/token-entries/actions', 200, { action: 'approve', ids: [own] }, as('lead'))
    expect(many).toMatchObject({ done: 0 })
    expect((await decide('approver', own)).status).toBe(200)
  })

  test('who approves a project sees what they can decide, and nothing else of it', async () => {
    const entry = await report('worker')
    expect(await listed('approver')).toContain(entry)
    expect(await listed('approver', '&sort=cost')).toContain(entry)
    const waiting = await does('GET /api/v1/approvals', 200, undefined, as('approver'))
    expect(waiting.entries.entries).toBeGreaterThan(0)
    // Not in reports, which are about their own work, nor may they move it.
    const usage = 'GET /api/v1/reports/usage?starting_at=2026-11-01T00:00:00Z&group_by=agent_manager'
    expect((await does(usage, 200, undefined, as('approver'))).data).toEqual([])
    const place = { action: 'place', ids: [entry], project: 'OTHER' }
    expect(await does('POST /api/v1/token-entries/actions', 200, place, as('approver'))).toMatchObject({ done: 0 })
    await does(`PATCH /api/v1/token-entries/${entry}`, 404, { project: 'OTHER' }, as('approver'))
    const project = await does('GET /api/v1/projects/ACME', 200, undefined, as('approver'))
    expect(Object.keys(project)).not.toContain('budget')
    expect(Object.keys(project)).not.toContain('approvers')
    await does('PATCH /api/v1/projects/ACME', 403, { aliases: ['x y'] }, as('approver'))
    const found = await does(`GET /api/v1/projects?approver=${people.approver!.id}`, 200, undefined, as('approver'))
    expect(found.data.map(({ key }: { key: string }) => key)).toEqual(['ACME'])
    // Others' entries elsewhere, and their own in the project.
    expect((await decide('approver', await report('worker', 'OTHER'))).status).toBe(404)
    expect((await decide('approver', await report('approver'))).status).toBe(403)
    expect((await decide('approver', entry)).status).toBe(200)
    expect((await decide('approver', entry, 'withdraw-approval')).status).toBe(200)
    expect((await decide('approver', entry)).status).toBe(200)
    await does('POST /api/v1/bills', 201, { month: '2026-11', project: 'ACME' })
    expect(await listed('approver')).not.toContain(entry)
    expect((await decide('approver', entry, 'withdraw-approval')).status).toBe(404)
  })

  test('a sheet needs an approver of all of its projects, who sees it from its submission on', async () => {
    const { id } = await does('POST /api/v1/token-sheets', 201, { month: '2026-11' }, as('worker'))
    const add = (project: string) =>
      does(
        `POST /api/v1/token-sheets/${id}/entries`,
        201,
        {
          agent_harness: 'chatgpt',
          agent_name: 'reviewer',
          model: 'gpt-5-codex',
          started_at: '2026-11-20T10:00:00Z',
          ended_at: '2026-11-20T11:00:00Z',
          tokens: { input: 1, output: 1 },
          reported_cost: 1,
          project,
        },
        as('worker'),
      )
    await add('ACME')
    const elsewhere = await add('OTHER')
    await does(`GET /api/v1/token-sheets/${id}`, 404, undefined, as('approver'))
    await does(`POST /api/v1/token-sheets/${id}/submit`, 200, {}, as('worker'))
    expect(await does(`GET /api/v1/token-sheets/${id}`, 200, undefined, as('approver'))).toMatchObject({ entries: 1 })
    await does(`POST /api/v1/token-sheets/${id}/approve`, 403, undefined, as('approver'))
    await does(`POST /api/v1/token-sheets/${id}/return`, 200, { reason: 'Two projects' })
    await does(`DELETE /api/v1/token-sheets/${id}/entries/${elsewhere.id}`, 204, undefined, as('worker'))
    await does(`POST /api/v1/token-sheets/${id}/submit`, 200, {}, as('worker'))
    expect((await does('GET /api/v1/approvals', 200, undefined, as('approver'))).sheets.data).toHaveLength(1)
    const returned = await does(`POST /api/v1/token-sheets/${id}/return`, 200, { reason: 'Again' }, as('approver'))
    expect(returned).toMatchObject({ status: 'returned' })
    await does(`GET /api/v1/token-sheets/${id}`, 404, undefined, as('approver'))
    await does(`POST /api/v1/token-sheets/${id}/submit`, 200, {}, as('worker'))
    await does(`POST /api/v1/token-sheets/${id}/approve`, 200, undefined, as('approver'))
  })

  test('a deputy approves between two days, for the person who named them and is recorded with', async () => {
    const named = { deputy: people.friend!.email, from: '2026-11-22', to: '2026-11-23' }
    await does('POST /api/v1/deputies', 403, { ...named, person: people.lead!.id }, as('approver'))
    await does('POST /api/v1/deputies', 422, { ...named, deputy: people.worker!.email }, as('friend'))
    await does('POST /api/v1/deputies', 422, { ...named, deputy: people.lead!.email }, as('lead'))
    await does('POST /api/v1/deputies', 422, { ...named, to: '2026-11-21' }, as('lead'))
    await does('POST /api/v1/deputies', 422, { ...named, from: '2026-11-01', to: '2026-11-19' }, as('lead'))
    const deputy = await does('POST /api/v1/deputies', 201, named, as('lead'))
    expect(deputy).toMatchObject({ state: 'upcoming', from: '2026-11-22' })
    const [first, second, leads, own] = [
      await report('worker'),
      await report('worker'),
      await report('lead'),
      await report('friend'),
    ]
    expect((await decide('friend', first)).status).toBe(404)
    now = Date.parse('2026-11-22T00:00:00Z')
    expect((await does('GET /api/v1/me', 200, undefined, as('friend'))).acts_for).toHaveLength(1)
    // Nobody approves their own, and a deputy nothing of the person for whom they act.
    expect((await decide('friend', own)).json.detail).toContain('it is your own')
    expect((await decide('friend', leads)).json.detail).toContain('as the deputy of its owner')
    const waiting = await does('GET /api/v1/approvals', 200, undefined, as('friend'))
    const ids = (await listed('friend', '&status=submitted')).filter((id: string) => ![leads, own].includes(id))
    expect(waiting.entries.entries).toBe(ids.length)
    expect((await decide('friend', first)).status).toBe(200)
    const many = { action: 'approve', ids: [second, leads, own] }
    expect(await does('POST /api/v1/token-entries/actions', 200, many, as('friend'))).toMatchObject({ done: 1 })
    const { data: changes } = await does(`GET /api/v1/audit?user=${people.lead!.id}&action=entry,entries`, 200)
    expect(changes.slice(0, 2)).toMatchObject([
      { action: 'entries.approved', user: { id: people.friend!.id }, for: { id: people.lead!.id } },
      { action: 'entry.approved', user: { id: people.friend!.id }, for: { id: people.lead!.id } },
    ])
    const { data: history } = await does(`GET /api/v1/token-entries/${second}/history`, 200)
    expect(history.at(-1)).toMatchObject({
      actor: { user: { id: people.friend!.id } },
      details: { for: { id: people.lead!.id } },
    })
    // Neither the lead's other rights nor the right to name a deputy are passed on.
    await does('PATCH /api/v1/projects/ACME', 403, { aliases: ['some name'] }, as('friend'))
    await does('POST /api/v1/deputies', 422, { ...named, deputy: people.worker!.email }, as('friend'))
    await does(`DELETE /api/v1/deputies/${deputy.id}`, 404, undefined, as('worker'))
    now = Date.parse('2026-11-24T00:00:00Z')
    expect((await decide('friend', first, 'withdraw-approval')).status).toBe(404)
    expect((await does('GET /api/v1/deputies', 200, undefined, as('friend'))).data[0].state).toBe('ended')
    const again = await does(
      'POST /api/v1/deputies',
      201,
      { ...named, from: '2026-11-24', to: '2026-11-24' },
      as('lead'),
    )
    expect((await decide('friend', first, 'withdraw-approval')).status).toBe(200)
    await does(`DELETE /api/v1/deputies/${again.id}`, 204, undefined, as('friend'))
    expect((await decide('friend', first)).status).toBe(404)
  })
})
