/** The inbox: each role gets exactly what concerns it, and each count is the total of its list. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { billRow } from '../../support/bills.ts'
import { reportBody } from '../../support/reports.ts'

let app: TestApp
const sessions: Record<string, string> = {}
const ids: Record<string, string> = {}

interface Item {
  kind: string
  count: number
  decisions: number
  cost: number | null
  list: string
}

const call = async (name: string, what: string, json?: unknown) => {
  const answer = await app.call(what, { session: sessions[name], json })
  if (answer.status >= 300) throw new Error(`${what}: ${JSON.stringify(answer.json)}`)
  return answer.json
}

async function add(name: string, role: 'admin' | 'billing' | 'member') {
  const email = await app.person(role, { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  sessions[name] = `tally_session=${secret}`
  ids[name] = (await call(name, 'GET /api/v1/me')).person.id
  return email
}

async function report(email: string, body: Record<string, unknown>): Promise<string> {
  const token = await app.token('svc', email)
  const { status, json } = await app.call('POST /api/v1/token-entries', { token, json: reportBody(body) })
  expect(status).toBe(201)
  return json.id
}

async function sheetOf(name: string, project: string): Promise<string> {
  const { id } = await call(name, 'POST /api/v1/token-sheets', { month: '2026-10' })
  await call(name, `POST /api/v1/token-sheets/${id}/entries`, {
    agent_harness: 'claude.ai',
    agent_name: 'chat',
    model: 'gpt-5-codex',
    started_at: '2026-10-05T10:00:00Z',
    ended_at: '2026-10-05T11:00:00Z',
    tokens: { input: 10, output: 5 },
    project,
  })
  return id
}

beforeAll(async () => {
  app = await startApp()
  await app.services.prices.loadDefaultPrices()
  await add('admin', 'admin')
  const billing = await add('billing', 'billing')
  const worker = await add('worker', 'member')
  const lead = await add('lead', 'member')
  const deputy = await add('deputy', 'member')
  await add('other', 'member')
  const { id: client } = await call('admin', 'POST /api/v1/clients', { name: 'Acme' })
  for (const key of ['APPLE', 'BANANA', 'CHERRY']) {
    await call('admin', 'POST /api/v1/projects', { key, name: key, client })
  }
  await call('admin', 'PATCH /api/v1/projects/APPLE', { leads: [lead] })
  await call('admin', 'PATCH /api/v1/projects/BANANA', { leads: [deputy] })
  await call('admin', 'PATCH /api/v1/settings', { approval_required: true, same_session: 'hold', api_tokens: true })
  await call('lead', 'POST /api/v1/deputies', { deputy, from: '2026-11-01', to: '2027-01-31' })

  await report(worker, { project: 'APPLE', session_id: 'a' })
  await report(worker, { project: 'APPLE', session_id: 'b', model: 'nobody-knows-it' })
  await report(lead, { project: 'APPLE', session_id: 'c' })
  await report(lead, { project: 'BANANA', session_id: 'd' })
  await report(deputy, { project: 'APPLE', session_id: 'e' })
  await report(worker, { project: 'CHERRY', session_id: 'f' })
  await report(worker, { session_id: '7abded9e-af37-492b-8216-95394ad33034' })
  // Held, because the worker has reported it.
  await report(lead, { session_id: '7abded9e-af37-492b-8216-95394ad33034' })
  // Under two projects.
  await report(worker, { session_id: 'h', ticket: 'T-1', project: 'APPLE' })
  await report(deputy, { session_id: 'i', ticket: 'T-1', project: 'BANANA' })

  const submitted = await sheetOf('worker', 'APPLE')
  await call('worker', `POST /api/v1/token-sheets/${submitted}/submit`, {})
  const returned = await sheetOf('worker', 'BANANA')
  await call('worker', `POST /api/v1/token-sheets/${returned}/submit`, {})
  await call('admin', `POST /api/v1/token-sheets/${returned}/return`, { reason: 'Twice' })
  await sheetOf('worker', 'APPLE')
  // Not over yet.
  await call('worker', 'POST /api/v1/token-sheets', { month: '2026-12' })

  await app.services.db.write(async (tx) => {
    const { bills, billDeliveries } = tx.tables
    const rows = await tx
      .insert(bills)
      .values([
        billRow({ number: '2026-0001' }),
        billRow({ number: '2026-0002' }),
        billRow({ number: '2026-0003', state: 'void', voidedAt: 1, voidReason: 'Twice' }),
      ])
      .returning({ id: bills.id })
    const [failed, repeated, voided] = rows.map(({ id }) => id)
    const delivery = { notice: 'sent', recipient: 'bills@acme.example', attempts: 1, createdBy: null } as const
    await tx.insert(billDeliveries).values([
      { ...delivery, billId: failed!, state: 'failed', createdAt: 1_000 },
      { ...delivery, billId: failed!, notice: 'reminder', state: 'sent', createdAt: 2_000, sentAt: 3_000 },
      { ...delivery, billId: repeated!, state: 'failed', createdAt: 1_000 },
      { ...delivery, billId: repeated!, state: 'sent', createdAt: 2_000, sentAt: 3_000 },
      { ...delivery, billId: voided!, state: 'failed', createdAt: 1_000 },
    ])
    const { webhookEndpoints } = tx.tables
    const endpoint = (name: string) => ({
      uid: `whk_019c5a7e4d1b7c3a8f2e6d5c4b3a29${name}` as const,
      name,
      url: 'https://example.com/',
      format: 'standard' as const,
      types: ['*'],
      secret: new Uint8Array(32),
      createdAt: 1,
      cursor: 0,
    })
    await tx
      .insert(webhookEndpoints)
      .values([
        { ...endpoint('01') },
        { ...endpoint('02'), failingSince: 5, attempts: 1 },
        { ...endpoint('03'), disabledAt: 5, disabledReason: 'failing' },
        { ...endpoint('04'), disabledAt: 5, disabledReason: 'person' },
      ])
  })
  const plan = { vendor: 'V', fee: 10, period: 'week', from: '2026-11-16' }
  await call('admin', 'POST /api/v1/plans', { ...plan, product: 'Used' })
  await call('admin', 'POST /api/v1/plans', { ...plan, product: 'Unused', people: [{ person: billing }] })
  await app.services.entries.funding.decideOwed()
  await app.services.funding.calculateOwed()
  const project = await call('admin', 'PATCH /api/v1/projects/APPLE', { repositories: ['acme/apple'] })
  await call('lead', 'POST /api/v1/placement-rules/proposals', {
    name: 'Apple',
    repository: 'acme/apple',
    project: project.key,
  })
})
afterAll(() => app.close())

const inboxOf = (name: string): Promise<{ open: number; decisions: number; data: Item[] }> =>
  call(name, 'GET /api/v1/inbox')

const countsOf = async (name: string) =>
  Object.fromEntries(
    Map.groupBy((await inboxOf(name)).data, ({ kind }) => kind)
      .entries()
      .map(([kind, items]) => [kind, items.reduce((sum, { count }) => sum + count, 0)]),
  )

test('each person gets what concerns them, and nothing of others', async () => {
  expect(await countsOf('admin')).toEqual({
    sheets_to_approve: 1,
    entries_to_approve: 9,
    held_entries: 1,
    unattributed_entries: 1,
    unpriced_entries: 1,
    conflicting_tickets: 1,
    rule_proposals: 1,
    failed_deliveries: 1,
    unclosed_periods: 1,
    failing_webhooks: 2,
  })
  expect(await countsOf('billing')).toEqual({
    sheets_to_approve: 1,
    entries_to_approve: 9,
    held_entries: 1,
    unattributed_entries: 1,
    unpriced_entries: 1,
    conflicting_tickets: 1,
    failed_deliveries: 1,
    unclosed_periods: 1,
  })
  expect(await countsOf('worker')).toEqual({ returned_sheets: 1, overdue_sheets: 1, unattributed_entries: 1 })
  // Own entries are for others to approve.
  expect(await countsOf('lead')).toEqual({ sheets_to_approve: 1, entries_to_approve: 4, own_held_entries: 1 })
  expect(await countsOf('other')).toEqual({})
  expect(await inboxOf('other')).toEqual({ open: 0, decisions: 0, data: [] })
})

test('each count is the total of its list, also for a deputy, and they add up', async () => {
  for (const name of Object.keys(sessions)) {
    const { open, decisions, data } = await inboxOf(name)
    expect(open).toBe(data.reduce((sum, { count }) => sum + count, 0))
    expect(decisions).toBe(data.reduce((sum, item) => sum + item.decisions, 0))
    for (const { kind, count, cost, list } of data) {
      const body = await call(name, `GET ${list}`)
      if (kind === 'sheets_to_approve') {
        expect([body.sheets.sheets, body.sheets.cost]).toEqual([count, cost])
        continue
      }
      expect(`${name} ${kind} ${body.data.length}`).toBe(`${name} ${kind} ${count}`)
      if (kind !== 'entries_to_approve') continue
      expect(cost).toBeCloseTo(
        body.data.reduce((sum: number, one: { cost: number | null }) => sum + (one.cost ?? 0), 0),
      )
    }
    const approvals = await call(name, 'GET /api/v1/approvals')
    const waiting = data.filter(({ kind }) => kind === 'entries_to_approve')
    expect(waiting.reduce((sum, { count }) => sum + count, 0)).toBe(approvals.entries.entries)
    // A row for each project, however many entries it has.
    expect(waiting.reduce((sum, item) => sum + item.decisions, 0)).toBe(approvals.entries.projects.length)
  }
})

test('decisions are counted as the rows that the Inbox has', async () => {
  const { open, data } = await inboxOf('admin')
  const decisions = Object.fromEntries(data.map((item) => [item.kind, item.decisions]))
  expect(decisions).toEqual({
    sheets_to_approve: 1,
    // Three projects, and what is in none.
    entries_to_approve: 4,
    held_entries: 1,
    unattributed_entries: 1,
    unpriced_entries: 1,
    conflicting_tickets: 1,
    rule_proposals: 1,
    failed_deliveries: 1,
    unclosed_periods: 1,
    failing_webhooks: 1,
  })
  expect(open).toBe(19)
})

test('billing and admins have no entries to approve where bills need no approval', async () => {
  await call('admin', 'PATCH /api/v1/settings', { approval_required: false })
  expect((await countsOf('admin')).entries_to_approve).toBeUndefined()
  expect((await countsOf('lead')).entries_to_approve).toBe(4)
  await call('admin', 'PATCH /api/v1/settings', { approval_required: true })
})

test('a token reads what its scopes allow, and nothing that only people may see', async () => {
  const kinds = async (kind: 'read' | 'api', scopes?: string[]) => {
    const { email } = (await call('admin', 'GET /api/v1/me')).person
    const token = await app.token(kind, email, scopes ? { scopes } : {})
    const { status, json } = await app.call('GET /api/v1/inbox', { token })
    return status === 200 ? json.data.map((item: Item) => item.kind) : status
  }
  expect(await kinds('api', ['bills:read'])).toEqual(['failed_deliveries'])
  expect(await kinds('api', ['plans:read'])).toEqual(['unclosed_periods'])
  expect(await kinds('api', ['webhooks:manage'])).toEqual(['failing_webhooks'])
  expect(await kinds('api', ['prices:read'])).toBe(403)
  expect(await kinds('read')).not.toContain('rule_proposals')
  expect(await kinds('read')).not.toContain('failing_webhooks')
  expect(await kinds('read')).toContain('failed_deliveries')
})
