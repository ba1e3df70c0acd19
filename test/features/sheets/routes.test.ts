import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../../src/database/schema/values.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
/** A signed-in person, with what they report by. */
interface Signed {
  email: string
  session: string
  token: string
}
let mia: Signed
let leo: Signed
let bea: Signed
let ada: Signed

beforeAll(async () => {
  app = await startApp()
  await app.services.prices.loadDefaultPrices()
  const signIn = async (role: Role): Promise<Signed> => {
    const email = await app.person(role, { password: true })
    const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    return { email, session: `tally_session=${secret}`, token: await app.token('svc', email) }
  }
  ada = await signIn('admin')
  bea = await signIn('billing')
  mia = await signIn('member')
  leo = await signIn('member')
  // Leo leads acme.
  await report(ada, { project: 'acme' })
  const leader = (await app.services.people.findUser(leo.email))!
  await app.services.db.write(async (tx) => {
    const acme = await app.services.projects.findProject(tx, 'acme')
    await tx.insert(tx.tables.projectLeads).values({ projectId: acme!.id, userId: leader.id })
  })
})
afterAll(() => app.close())

const ENTRY = {
  agent_harness: 'codex',
  agent_name: 'builder',
  model: 'gpt-5',
  started_at: '2026-11-10T10:00:00Z',
  ended_at: '2026-11-10T11:00:00Z',
  tokens: { input: 1_000_000, output: 0 },
}

async function report({ token }: Signed, more: object = {}) {
  const { status, json } = await app.call('POST /api/v1/token-entries', { token, json: { ...ENTRY, ...more } })
  expect(status).toBeLessThan(300)
  return json
}

const call = async ({ session }: Signed, methodAndPath: string, json?: unknown) => {
  const [method, path] = methodAndPath.split(' ')
  return app.call(`${method} /api/v1${path}`, { session, ...(json === undefined ? {} : { json }) })
}

const openSheet = async (who: Signed, month = '2026-11'): Promise<string> =>
  (await call(who, 'POST /token-sheets', { month })).json.id

const importCsv = ({ session }: Signed, sheet: string, body: string) =>
  app.call(`POST /api/v1/token-sheets/${sheet}/import`, { session, body, headers: { 'content-type': 'text/csv' } })

describe('a sheet', () => {
  test('goes from CSV to approved, with a return between', async () => {
    const template = await call(mia, 'GET /token-sheets/template')
    expect(template.headers.get('content-type')).toStartWith('text/csv')
    const columns = template.text.trim().split(',')
    const row = (cells: Record<string, string>) => columns.map((column) => cells[column] ?? '').join(',')
    const cells = {
      agent_harness: 'codex',
      agent_name: 'builder',
      model: 'gpt-5',
      started_at: '2026-11-03T10:00:00+01:00',
      ended_at: '2026-11-03T11:00:00+01:00',
      input: '1000000',
      output: '0',
      project: 'acme',
      'label:branch': 'main',
    }
    const file = `${template.text}${row(cells)}\r\n${row({ ...cells, reported_cost: '123456789.123456789' })}\r\n`

    const sheet = await openSheet(mia)
    const imported = await importCsv(mia, sheet, file)
    expect([imported.status, imported.json.added]).toEqual([200, 2])
    expect(imported.json.data[0]).toMatchObject({
      status: 'draft',
      source: 'sheet',
      cost: 1.25,
      started_at: '2026-11-03T09:00:00.000Z',
      project: { key: 'acme' },
      labels: { branch: 'main' },
      sheet: { id: sheet },
    })
    // Exact to the last digit.
    expect(imported.text).toContain('"cost":123456789.123456789')
    expect((await call(mia, `POST /token-sheets/${sheet}/submit`, {})).json).toMatchObject({
      status: 'submitted',
      entries: 2,
    })

    const waiting = await call(leo, 'GET /approvals')
    expect(waiting.json.sheets).toMatchObject({ sheets: 1, entries: 2, data: [{ id: sheet }] })
    expect((await call(mia, 'GET /approvals')).json.sheets.sheets).toBe(0)

    const [{ version }] = waiting.json.sheets.data
    const returned = await call(leo, `POST /token-sheets/${sheet}/return`, { reason: 'Too dear' })
    expect(returned.json).toMatchObject({
      status: 'returned',
      reason: 'Too dear',
      decided_by: { name: expect.any(String) },
    })
    const dear = imported.json.data[1].id
    const changed = await call(mia, `PATCH /token-sheets/${sheet}/entries/${dear}`, {
      reported_cost: 0.5,
      summary: 'corrected',
      labels: null,
    })
    expect(changed.json).toMatchObject({
      cost: 0.5,
      summary: 'corrected',
      labels: {},
      status: 'draft',
      project: { key: 'acme' },
    })
    await call(mia, `POST /token-sheets/${sheet}/submit`, {})
    const approve = (version: string) =>
      app.call(`POST /api/v1/token-sheets/${sheet}/approve`, {
        session: leo.session,
        headers: { 'if-match': `"${version}"` },
      })
    // It has changed since it was listed.
    const outdated = await approve(version)
    expect([outdated.status, outdated.json.code]).toEqual([412, 'changed_meanwhile'])
    const listed = await call(leo, 'GET /approvals')
    const approved = await approve(listed.json.sheets.data[0].version)
    expect(approved.json).toMatchObject({ status: 'approved', cost: 1.75, reason: null })

    const { json: list } = await call(mia, `GET /token-sheets/${sheet}/entries`)
    expect(list.data.map((entry: { status: string }) => entry.status)).toEqual(['approved', 'approved'])
    const { json: history } = await call(mia, `GET /token-entries/${dear}/history`)
    expect(history.data.map(({ action }: { action: string }) => action)).toEqual([
      'created',
      'sheet_submitted',
      'sheet_returned',
      'sheet_submitted',
      'sheet_approved',
    ])
    const single = await call(ada, `POST /token-entries/${dear}/withdraw-approval`)
    expect([single.status, single.json.code]).toEqual([409, 'on_a_sheet'])
    expect(single.json.detail).toContain(sheet)
  })

  test('adds all rows of a file or none, and reports every issue with its line', async () => {
    const sheet = await openSheet(mia)
    const file = [
      'agent_harness,agent_name,model,started_at,ended_at,input,output',
      'codex,builder,gpt-5,2026-11-03T10:00:00Z,2026-11-03T11:00:00Z,1000,1',
      ',builder,gpt-5,2026-11-03T10:00:00Z,2026-11-03T09:00:00Z,many,1',
      '',
      '"co',
      'dex",builder,gpt-5,2026-10-03T10:00:00Z,2026-10-03T11:00:00Z,1000,1',
      'codex,builder,gpt-5,2026-10-31T10:00:00Z,2026-10-31T11:00:00Z,1000,1',
    ].join('\n')
    const { status, json } = await importCsv(mia, sheet, file)
    expect([status, json.code]).toEqual([422, 'validation_failed'])
    expect(json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)).toEqual([
      '/lines/3/input wrong_type',
      '/lines/3/agent_harness required',
      '/lines/3/ended_at ends_before_start',
      '/lines/5/agent_harness bad_format',
      '/lines/7/started_at outside_period',
    ])
    expect((await call(mia, `GET /token-sheets/${sheet}`)).json.entries).toBe(0)
    for (const [text, pointer] of [
      ['agent_harness,agent,model\na,b,c', '/lines/1/agent'],
      ['agent_harness;agent_name\na;b', '/lines/1/agent_harness;agent_name'],
      ['model,model\na,b', '/lines/1/model'],
      ['model\n', '/lines/2'],
      ['model\n"a', '/lines'],
    ]) {
      const wrong = await importCsv(mia, sheet, text!)
      expect([text, wrong.status, wrong.json.errors[0].pointer]).toEqual([text, 422, pointer])
    }
  })

  test('is checked as a report is, without a session, and within its period', async () => {
    const sheet = await openSheet(mia)
    const refusalOf = async (more: object) => {
      const { status, json } = await call(mia, `POST /token-sheets/${sheet}/entries`, { ...ENTRY, ...more })
      return [status, json.errors?.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)]
    }
    expect(await refusalOf({ session_id: 's-1' })).toEqual([422, ['/session_id unknown_field']])
    expect(await refusalOf({ ended_at: '2026-11-10T09:00:00Z' })).toEqual([422, ['/ended_at ends_before_start']])
    expect(await refusalOf({ started_at: '2026-10-31T23:59:59Z' })).toEqual([422, ['/started_at outside_period']])
    expect(await refusalOf({})).toEqual([201, undefined])
  })

  test('shows overlaps with reported entries, and is submitted when they are confirmed', async () => {
    const reported = await report(mia, {
      agent_harness: 'claude-code',
      started_at: '2026-11-12T10:30:00Z',
      ended_at: '2026-11-12T12:00:00Z',
    })
    const sheet = await openSheet(mia)
    const { json: draft } = await call(mia, `POST /token-sheets/${sheet}/entries`, {
      ...ENTRY,
      agent_harness: 'Claude-Code',
      started_at: '2026-11-12T10:00:00Z',
      ended_at: '2026-11-12T11:00:00Z',
    })
    expect((await call(mia, `GET /token-sheets/${sheet}/overlaps`)).json.data).toMatchObject([
      { entry: { id: draft.id }, reported: { id: reported.id } },
    ])
    const refused = await call(mia, `POST /token-sheets/${sheet}/submit`, {})
    expect([refused.status, refused.json.code, refused.json.errors.length]).toEqual([409, 'overlapping_entries', 1])
    expect(refused.json.errors[0].pointer).toBe(`/entries/${draft.id}`)
    expect(refused.json.errors[0].message).toContain(reported.id)
    expect((await call(mia, `GET /token-sheets/${sheet}`)).json.status).toBe('open')
    const confirmed = await call(mia, `POST /token-sheets/${sheet}/submit`, { confirm_overlaps: true })
    expect(confirmed.json.status).toBe('submitted')
  })

  test('is seen and moved by those alone whom the roles let', async () => {
    const sheet = await openSheet(mia)
    await call(mia, `POST /token-sheets/${sheet}/entries`, {
      ...ENTRY,
      started_at: '2026-11-01T00:00:00Z',
      ended_at: '2026-11-01T00:00:00Z',
      project: 'other',
    })
    const status = async (who: Signed, methodAndPath: string, json?: unknown) =>
      (await call(who, methodAndPath, json)).status
    expect(await status(leo, `GET /token-sheets/${sheet}`)).toBe(404)
    expect(await status(bea, `GET /token-sheets/${sheet}`)).toBe(200)
    expect(await status(bea, `POST /token-sheets/${sheet}/entries`, ENTRY)).toBe(403)
    expect(await status(bea, `POST /token-sheets/${sheet}/submit`, {})).toBe(403)
    expect(await status(mia, `POST /token-sheets/${sheet}/submit`, {})).toBe(200)
    expect(await status(mia, `POST /token-sheets/${sheet}/approve`)).toBe(403)
    expect(await status(mia, `POST /token-sheets/${sheet}/entries`, ENTRY)).toBe(409)
    expect(await status(mia, `DELETE /token-sheets/${sheet}`)).toBe(409)
    expect(await status(bea, `POST /token-sheets/${sheet}/approve`)).toBe(200)
    expect(await status(bea, `POST /token-sheets/${sheet}/approve`)).toBe(409)
    expect(await status(bea, `POST /token-sheets/${sheet}/withdraw-approval`)).toBe(200)
    expect(await status(bea, `POST /token-sheets/${sheet}/return`, { reason: 'no' })).toBe(200)
    expect(await status(mia, `DELETE /token-sheets/${sheet}`)).toBe(204)
    expect(await status(mia, `GET /token-sheets/${sheet}`)).toBe(404)
    // Only an admin opens one for another person.
    expect(await status(bea, 'POST /token-sheets', { month: '2026-11', person: mia.email })).toBe(403)
    expect(await status(ada, 'POST /token-sheets', { month: '2026-11', person: mia.email })).toBe(201)
  })

  test('has days of the organization’s zone', async () => {
    await call(ada, 'PATCH /settings', { time_zone: 'Europe/Berlin' })
    const { json } = await call(mia, 'POST /token-sheets', { period: { from: '2026-10-01', to: '2026-10-31' } })
    await call(ada, 'PATCH /settings', { time_zone: 'UTC' })
    expect([json.starting_at, json.ending_at]).toEqual(['2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z'])
    for (const [body, pointer] of [
      [{}, '/period'],
      [{ month: '2026-11', period: { from: '2026-11-01', to: '2026-11-02' } }, '/period'],
      [{ period: { from: '2026-11-31', to: '2026-12-02' } }, '/period/from'],
      [{ period: { from: '2026-11-03', to: '2026-11-02' } }, '/period/to'],
      [{ period: { from: '2024-11-03', to: '2026-11-02' } }, '/period/to'],
      [{ month: '2026-13' }, '/month'],
    ] as const) {
      const wrong = await call(mia, 'POST /token-sheets', body)
      expect([body, wrong.status, wrong.json.errors[0].pointer]).toEqual([body, 422, pointer])
    }
  })

  test('is listed with filters, a page at a time, and as CSV', async () => {
    const { json: all } = await call(bea, 'GET /token-sheets?limit=2')
    expect([all.data.length, all.has_more]).toEqual([2, true])
    const { json: next } = await call(bea, `GET /token-sheets?limit=2&page=${all.next_page}`)
    expect(next.data[0].id).not.toBe(all.data[1].id)
    const { json: approved } = await call(bea, `GET /token-sheets?status=approved&agent_manager=${mia.email}`)
    expect(approved.data.map(({ status }: { status: string }) => status)).toEqual(['approved'])
    expect((await call(leo, 'GET /token-sheets')).json.data.length).toBeLessThan(5)
    const csv = await call(bea, 'GET /token-sheets?format=csv')
    expect(csv.text).toStartWith('id,status,agent_manager,from,to,entries,')
    const [heading, ...rows] = csv.text.trim().split('\r\n')
    expect(heading).toEndWith(',agent_manager_id,agent_manager_email,decided_by_id,decided_by_email')
    expect(rows.some((row) => /,usr_\w{32},[^,]+@[^,]+,usr_\w{32},[^,]+@[^,]+$/.test(row))).toBe(true)
    expect((await call(bea, 'GET /token-sheets?status=lost')).status).toBe(422)
  })
})

describe('a reported entry', () => {
  const act = (who: Signed, id: string, action: string, json?: unknown) =>
    call(who, `POST /token-entries/${id}/${action}`, json)

  test('that was approved refuses changes, and its session goes on in a new part', async () => {
    const session = { session_id: 'grows', project: 'acme' }
    const first = await report(mia, session)
    expect((await act(leo, first.id, 'approve')).json.status).toBe('approved')
    const placed = await call(mia, `PATCH /token-entries/${first.id}`, { project: 'other' })
    expect([placed.status, placed.json.code]).toEqual([409, 'entry_locked'])
    const grown = await report(mia, {
      ...session,
      ended_at: '2026-11-10T12:00:00Z',
      tokens: { input: 1_500_000, output: 0 },
    })
    expect(grown).toMatchObject({ part: 2, continues: first.id, status: 'submitted', tokens: { input: 500_000 } })
    expect((await call(mia, `GET /token-entries/${first.id}`)).json).toMatchObject({
      status: 'approved',
      tokens: { input: 1_000_000 },
    })
  })

  test('that was rejected stays so when its session goes on, until it is re-opened', async () => {
    const session = { session_id: 'rejected', project: 'acme' }
    const { id } = await report(mia, session)
    expect((await act(leo, id, 'reject', {})).status).toBe(422)
    expect((await act(leo, id, 'reject', { reason: 'A test run' })).json.status).toBe('rejected')
    const grown = await report(mia, {
      ...session,
      ended_at: '2026-11-10T12:00:00Z',
      tokens: { input: 1_500_000, output: 0 },
    })
    expect(grown).toMatchObject({ id, status: 'rejected', tokens: { input: 1_500_000 } })
    const wrong = await act(leo, id, 'approve')
    expect([wrong.status, wrong.json.code]).toEqual([409, 'wrong_status'])
    expect(wrong.json.detail).toContain('it must be submitted, but is rejected. Reopen it first.')
    expect((await act(leo, id, 'reopen')).json.status).toBe('submitted')
    const { json } = await call(mia, `GET /token-entries/${id}/history`)
    expect(json.data.slice(1)).toMatchObject([
      { action: 'rejected', details: { status: { from: 'submitted', to: 'rejected' }, reason: 'A test run' } },
      { action: 'reopened' },
    ])
  })

  test('is decided about by whom the roles let, and by nobody for themselves but an admin', async () => {
    const status = async (who: Signed, id: string, action = 'approve') => (await act(who, id, action)).status
    const elsewhere = await report(mia, { project: 'other' })
    expect(await status(mia, elsewhere.id)).toBe(403)
    expect(await status(leo, elsewhere.id)).toBe(404)
    const own = await report(leo, { project: 'acme' })
    expect(await status(leo, own.id)).toBe(403)
    expect(await status(bea, own.id)).toBe(200)
    const admins = await report(ada, { project: 'acme' })
    expect(await status(ada, admins.id)).toBe(200)
    expect(await status(ada, admins.id, 'withdraw-approval')).toBe(200)
  })
})

describe('many entries', () => {
  test('are decided about in one call, each told, with one line in the audit trail', async () => {
    const made = [
      await report(mia, { project: 'bulk' }),
      await report(mia, { project: 'bulk' }),
      await report(bea, { project: 'bulk' }),
    ]
    const { status, json } = await call(bea, 'POST /token-entries/actions', {
      action: 'approve',
      ids: [...made.map(({ id }) => id), made[0].id, 'ent_none'],
    })
    expect([status, json.done, json.refused, json.cost, json.unpriced_entries]).toEqual([200, 2, 2, 2.5, 0])
    expect(
      json.results.map(
        ({ result, status: now, problem }: { result: string; status: string; problem: { code: string } | null }) => [
          result,
          now,
          problem?.code,
        ],
      ),
    ).toEqual([
      ['done', 'approved', undefined],
      ['done', 'approved', undefined],
      ['refused', 'submitted', 'forbidden'],
      ['refused', null, 'not_found'],
    ])
    const { json: trail } = await call(ada, 'GET /audit?limit=1')
    expect(trail.data[0]).toMatchObject({ action: 'entries.approved', after: { entries: 2, cost: 2.5 } })
  })

  test('are chosen by filters, tried before, and never more than the caller may', async () => {
    const reason = 'All of it was a test'
    const tried = await call(bea, 'POST /token-entries/actions?project=bulk&status=approved', {
      action: 'withdraw_approval',
      dry_run: true,
    })
    expect(tried.json).toMatchObject({ dry_run: true, done: 2 })
    expect((await call(bea, 'GET /token-entries?project=bulk&status=approved')).json.data).toHaveLength(2)
    expect(
      (await call(bea, 'POST /token-entries/actions?project=bulk&status=approved', { action: 'withdraw_approval' }))
        .json.done,
    ).toBe(2)
    expect(
      (await call(leo, 'POST /token-entries/actions?project=bulk', { action: 'reject', reason })).json,
    ).toMatchObject({ done: 0, results: [] })
    expect((await call(bea, 'POST /token-entries/actions?project=bulk', { action: 'reject', reason })).json.done).toBe(
      3,
    )
    for (const [path, body] of [
      ['', { action: 'approve' }],
      ['?project=bulk', { action: 'approve', ids: ['ent_none'] }],
      ['?project=bulk', { action: 'reject' }],
      ['?project=bulk', { action: 'approve', reason }],
      ['?project=bulk', { action: 'approve', project: 'acme' }],
      ['?project=bulk', { action: 'delete' }],
    ] as const) {
      const wrong = await call(bea, `POST /token-entries/actions${path}`, body)
      expect([path, body, wrong.status]).toEqual([path, body, 422])
    }
  })

  test('are placed together', async () => {
    const { id, cost } = await report(mia)
    const body = { action: 'place', ids: [id], project: 'acme' }
    const planned = await call(bea, 'POST /token-entries/actions', { ...body, dry_run: true })
    expect(planned.json).toMatchObject({ dry_run: true, done: 1, cost, results: [{ id, result: 'done' }] })
    expect((await call(mia, `GET /token-entries/${id}`)).json).toMatchObject({ placement: { by: 'unattributed' } })
    const { json } = await call(bea, 'POST /token-entries/actions', body)
    expect(json).toMatchObject({ dry_run: false, done: 1, cost, results: [{ id, result: 'done' }] })
    expect((await call(mia, `GET /token-entries/${id}`)).json).toMatchObject({
      project: { key: 'acme' },
      placement: { by: 'manual' },
    })
  })
})

test('the sheets that wait for a person come in pages, longest waiting first, with the totals of all', async () => {
  const before: string[] = (await call(ada, 'GET /approvals')).json.sheets.data.map(({ id }: { id: string }) => id)
  const ids: string[] = []
  for (const month of ['2026-03', '2026-01', '2026-02']) {
    const sheet = await openSheet(mia, month)
    const at = { started_at: `${month}-10T10:00:00Z`, ended_at: `${month}-10T11:00:00Z` }
    await call(mia, `POST /token-sheets/${sheet}/entries`, { ...ENTRY, ...at })
    await call(mia, `POST /token-sheets/${sheet}/submit`, {})
    ids.push(sheet)
  }
  const found: string[] = []
  for (let page = ''; ; ) {
    const { sheets } = (await call(ada, `GET /approvals?limit=2${page}`)).json
    expect(sheets.sheets).toBe(before.length + 3)
    found.push(...sheets.data.map(({ id }: { id: string }) => id))
    if (!sheets.has_more) break
    page = `&page=${sheets.next_page}`
  }
  expect(found).toEqual([...before, ...ids])
  for (const id of ids) await call(ada, `POST /token-sheets/${id}/return`, { reason: 'Test' })
})

test('what waits for a person is what they could approve, with sums', async () => {
  const waiting = async (who: Signed) => (await call(who, 'GET /approvals')).json.entries
  expect((await waiting(mia)).entries).toBe(0)
  const ofLead = await waiting(leo)
  expect(ofLead.projects.map(({ project }: { project: { key: string } }) => project.key)).toEqual(['acme'])
  const { json } = await call(leo, 'POST /token-entries/actions?project=acme&status=submitted', {
    action: 'approve',
    dry_run: true,
  })
  expect([json.done, json.cost]).toEqual([ofLead.entries, ofLead.cost])
  // The report of the list to which the sum leads.
  const list = `project=acme&status=submitted&without_agent_manager=${leo.email}&starting_at=2000-01-01`
  const { totals } = (await call(leo, `GET /reports/usage?${list}&ending_at=2100-01-01&bucket_width=all`)).json
  expect([totals.entries, totals.cost]).toEqual([ofLead.entries, ofLead.cost])
  expect((await waiting(ada)).entries).toBeGreaterThan(ofLead.entries)
})
