import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'

const BILLS = '/api/v1/bills'
/** Past, whenever this runs. */
const OCTOBER = { month: '2026-10' }
const IN_OCTOBER = { started_at: '2026-10-20T10:00:00Z', ended_at: '2026-10-20T11:00:00Z' }

let app: TestApp
let billing: string
let agent: string
let client = 0

beforeAll(async () => {
  app = await startApp()
  billing = await app.session('billing')
  agent = await app.token('svc')
})
afterAll(() => app.close())

/** Reports an entry of October, and returns its id. */
async function report(changes: Record<string, unknown>): Promise<string> {
  const json = reportBody({ model: 'no-such-model', ...IN_OCTOBER, ...changes })
  return (await app.call('POST /api/v1/token-entries', { token: agent, json })).json.id
}

/** A new client with a project and entries of these costs in October. */
async function clientWith(
  ...costs: (number | undefined)[]
): Promise<{ name: string; project: string; entries: string[] }> {
  client += 1
  const [name, project] = [`Client ${client}`, `P${client}`]
  await app.services.projects.addClient(OPERATOR, { name, email: `bills@client-${client}.example` })
  await app.services.projects.addProject(OPERATOR, { key: project, client: name })
  const entries = []
  for (const cost of costs) {
    entries.push(await report({ project, ticket: `${project}-1`, ...(cost !== undefined && { reported_cost: cost }) }))
  }
  return { name, project, entries }
}

describe('a bill', () => {
  test('grouped by a label named like a member of every JavaScript object has one line', async () => {
    const { name, project } = await clientWith(1, 2)
    await report({ project, reported_cost: 4, labels: { team: 'core' } })
    for (const label of ['label:constructor', 'label:__proto__']) {
      const body = { ...OCTOBER, client: name, group_by: [label] }
      const { json } = await app.call(`POST ${BILLS}/preview`, { session: billing, json: body })
      expect(json.document.sections[0].lines.map(({ keys }: { keys: unknown }) => JSON.stringify(keys))).toEqual([
        `{"${label}":null}`,
      ])
    }
  })

  test('names the periods of plans that are to be closed, or is provisional', async () => {
    const { name, project } = await clientWith()
    const admin = await app.session('admin')
    const plan = await app.call('POST /api/v1/plans', {
      session: admin,
      json: {
        ...{ name: 'Max', vendor: 'Anthropic', product: 'Claude Max', holder: 'organization' },
        ...{ from: '2026-10-01', fee: 100, period: 'month', covers: [{ field: 'labels.paid', matches: 'max' }] },
      },
    })
    expect([plan.status, plan.json.detail]).toEqual([201, undefined])
    await report({ project, reported_cost: 4, labels: { paid: 'max' } })
    await app.services.entries.funding.decideOwed()
    const body = { ...OCTOBER, client: name, basis: 'allocated' }
    const refused = await app.call(`POST ${BILLS}/preview`, { session: billing, json: body })
    expect(refused.status).toBe(409)
    expect(refused.json).toMatchObject({
      code: 'period_not_closed',
      periods: [{ plan: { id: plan.json.id, name: 'Max' }, first_day: '2026-10-01', entries: 1 }],
    })
    const sent = await app.call(`POST ${BILLS}`, { session: billing, json: { ...body, provisional: true } })
    expect([sent.status, sent.json.detail]).toEqual([201, undefined])
    expect(sent.json).toMatchObject({ basis: 'allocated', provisional: true, subtotal: 100 })
    const { json: listed } = await app.call(`GET ${BILLS}/${sent.json.number}/entries`, { session: billing })
    expect(listed).toMatchObject({ basis: 'allocated', data: [{ cost: 100 }] })
    const { json: run } = await app.call(`GET ${BILLS}/run?month=2026-10&basis=allocated&provisional=true`, {
      session: billing,
    })
    expect(run.data.find((row: { client: { name: string } }) => row.client?.name === name)).toMatchObject({
      state: 'billed',
      basis: 'allocated',
      last_bill: { basis: 'allocated' },
    })
  })

  test('is previewed, sent, read, paid and corrected', async () => {
    const { name, entries } = await clientWith(10.005, 2)
    const body = { ...OCTOBER, client: name, markup: 10, tax: { percent: 19 } }
    const preview = await app.call(`POST ${BILLS}/preview`, { session: billing, json: body })
    expect(preview.status).toBe(200)
    expect(preview.json.document).toMatchObject({ number: null, subtotal: 13.21, total: 15.72 })
    const sent = await app.call(`POST ${BILLS}`, { session: billing, json: { ...body, digest: preview.json.digest } })
    expect(sent.status).toBe(201)
    expect(sent.json).toMatchObject({ state: 'sent', total: 15.72, document: { number: sent.json.number } })
    const path = sent.headers.get('location')!
    const read = await app.call(`GET ${path}`, { session: billing })
    expect(read.text).toBe(sent.text)
    expect((await app.call(`GET ${BILLS}/${sent.json.number}`, { session: billing })).text).toBe(sent.text)
    const listed = await app.call(`GET ${path}/entries?line=1`, { session: billing })
    expect(listed.json.data.map(({ id }: { id: string }) => id).sort()).toEqual(entries.sort())
    for (const asked of ['?format=ndjson&line=1', '?format=ndjson&limit=1']) {
      const { text, headers } = await app.call(`GET ${path}/entries${asked}`, { session: billing })
      expect(headers.get('content-disposition')).toContain('bill-entries.ndjson')
      expect(listed.text).toStartWith(`{"data":[${text.trimEnd().replaceAll('\n', ',')}],"has_more":false`)
    }
    const accepted = await app.call(`GET ${path}/entries`, { session: billing, headers: { accept: 'text/csv' } })
    expect(accepted.headers.get('content-type')).toContain('text/csv')
    expect(accepted.text.trimEnd().split('\r\n')).toHaveLength(1 + entries.length)
    expect((await app.call(`GET ${path}/entries?line=2&format=ndjson`, { session: billing })).text).toBe('')
    const entry = await app.call(`GET /api/v1/token-entries/${entries[0]}`, { session: billing })
    expect(entry.json).toMatchObject({ status: 'billed', bill: { number: sent.json.number } })
    const paid = await app.call(`POST ${path}/paid`, { session: billing, json: { reference: 'transfer' } })
    expect(paid.json).toMatchObject({ state: 'paid', paid: { reference: 'transfer' } })
    const note = await app.call(`POST ${path}/credit-note`, {
      session: billing,
      json: { lines: [{ text: 'Less', amount: 3.21 }] },
    })
    expect([note.status, note.json.kind, note.json.total]).toEqual([201, 'credit_note', -3.82])
    expect(note.json.corrects.number).toBe(sent.json.number)
    const corrected = await app.call(`GET ${path}`, { session: billing })
    expect(corrected.json.corrected_by).toEqual([{ id: note.json.id, number: note.json.number }])
    const refused = await app.call(`POST ${path}/void`, { session: billing, json: { reason: 'x' } })
    expect([refused.status, refused.json.code]).toEqual([409, 'wrong_status'])
  })

  test('that is voided is marked as void, and its entries can still be filtered by it', async () => {
    const { name, entries } = await clientWith(1)
    const sent = await app.call(`POST ${BILLS}`, { session: billing, json: { ...OCTOBER, client: name } })
    const path = sent.headers.get('location')!
    const gone = await app.call(`POST ${path}/void`, { session: billing, json: { reason: 'Wrong client' } })
    expect(gone.json).toMatchObject({ state: 'void', void: { reason: 'Wrong client' }, document: sent.json.document })
    const listed = await app.call(`GET ${path}/entries`, { session: billing })
    expect(listed.json.data).toMatchObject([{ id: entries[0], status: 'submitted', bill: null }])
    const next = await app.call(`POST ${BILLS}`, {
      session: billing,
      json: { ...OCTOBER, client: name, replaces: gone.json.number },
    })
    const replaced = await app.call(`GET ${path}`, { session: billing })
    expect(replaced.json).toMatchObject({ replaced_by: [{ number: next.json.number }], corrected_by: [] })
  })

  test('is refused with the reason', async () => {
    const { name } = await clientWith(1, undefined)
    const post = async (json: object) => (await app.call(`POST ${BILLS}`, { session: billing, json })).json
    expect(await post({ ...OCTOBER, client: name })).toMatchObject({ status: 409, code: 'unpriced_entries' })
    expect(await post({ month: '2026-09', client: name })).toMatchObject({ status: 409, code: 'nothing_to_bill' })
    expect(await post({ ...OCTOBER, client: 'Nobody' })).toMatchObject({ status: 404, code: 'not_found' })
    const later = { month: '2026-11', client: name, leave_unpriced: true }
    expect(await post(later)).toMatchObject({
      status: 409,
      code: 'earlier_entries',
      detail: expect.stringContaining('since 2026-10-20'),
    })
    const preview = await app.call(`POST ${BILLS}/preview`, {
      session: billing,
      json: { ...OCTOBER, client: name, leave_unpriced: true },
    })
    expect(preview.json.document.left_out.unpriced.entries).toBe(1)
  })

  test('is refused with every validation issue at once', async () => {
    const pointersOf = async (json: object) =>
      (await app.call(`POST ${BILLS}/preview`, { session: billing, json })).json.errors?.map(
        ({ pointer }: { pointer: string }) => pointer,
      )
    const { name, project } = await clientWith()
    expect(await pointersOf({})).toEqual(['/period'])
    expect(await pointersOf({ ...OCTOBER, period: { from: '2026-10-01', to: '2026-10-31' } })).toEqual(['/period'])
    expect(await pointersOf({ period: { from: '2026-10-32', to: '2026-10-31' } })).toEqual(['/period/from'])
    expect(await pointersOf({ period: { from: '2026-10-31', to: '2026-10-01' } })).toEqual(['/period/to'])
    expect(await pointersOf({ month: '2199-01' })).toEqual(['/month'])
    expect(await pointersOf({ ...OCTOBER, client: name, project })).toEqual(['/project'])
    expect(
      await pointersOf({ ...OCTOBER, currency: 'EUR', markup: 1.00001, extra_lines: [{ text: 'x', amount: 0.001 }] }),
    ).toEqual(['/markup', '/extra_lines/0/amount', '/exchange_rate'])
    expect(await pointersOf({ ...OCTOBER, exchange_rate: 2 })).toEqual(['/exchange_rate'])
    expect(await pointersOf({ ...OCTOBER, group_by: ['colour'], tax: { percent: 101 } })).toHaveLength(2)
  })

  test('with an Idempotency-Key is sent once, and another body is refused', async () => {
    const { name } = await clientWith(1)
    const json = { ...OCTOBER, client: name }
    const headers = { 'idempotency-key': `bill-${name}`.replace(' ', '-') }
    const first = await app.call(`POST ${BILLS}`, { session: billing, json, headers })
    const again = await app.call(`POST ${BILLS}`, { session: billing, json, headers })
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 200, 'true'])
    expect(again.text).toBe(first.text)
    const other = await app.call(`POST ${BILLS}`, { session: billing, json: { ...json, note: 'x' }, headers })
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('is sent with a service token that allows it, as long as its creator may send bills', async () => {
    const { name } = await clientWith(1)
    const json = { ...OCTOBER, client: name }
    const person = await app.person('billing')
    const { secret } = await app.services.people.createToken(
      { kind: 'svc', user: person, name: 'month end', allowBills: true },
      TALLY,
    )
    const plain = await app.call(`POST ${BILLS}`, { token: await app.token('svc', person), json })
    expect([plain.status, plain.json.detail]).toEqual([403, expect.stringContaining('--allow bills')])
    await app.services.people.changeUser(person, { role: 'member' }, TALLY)
    expect((await app.call(`POST ${BILLS}`, { token: secret, json })).status).toBe(403)
    await app.services.people.changeUser(person, { role: 'billing' }, TALLY)
    expect((await app.call(`POST ${BILLS}`, { token: secret, json })).status).toBe(201)
    expect((await app.call(`GET ${BILLS}`, { token: secret })).status).toBe(403)
  })

  test('is in the audit log with its sender', async () => {
    const { name } = await clientWith(1)
    const { json } = await app.call(`POST ${BILLS}`, { session: billing, json: { ...OCTOBER, client: name } })
    const { audit } = app.services.db.read.tables
    const rows = await app.services.db.read.select().from(audit).where(eq(audit.objectId, json.id))
    expect(rows).toMatchObject([{ action: 'bill.sent', objectName: json.number, after: { total: 1, entries: 1 } }])
    expect(rows[0]!.userId).not.toBeNull()
  })
})

describe('bills', () => {
  test('are listed newest first, by state, client and day, in pages and as CSV', async () => {
    const { name, project } = await clientWith(1)
    const sent = await app.call(`POST ${BILLS}`, { session: billing, json: { ...OCTOBER, client: name } })
    const all: string[] = []
    for (let page = ''; ; ) {
      const { json } = await app.call(`GET ${BILLS}?limit=2${page}`, { session: billing })
      all.push(...json.data.map(({ number }: { number: string }) => number))
      if (!json.has_more) break
      page = `&page=${json.next_page}`
    }
    expect(all[0]).toBe(sent.json.number)
    expect(all).toEqual(all.toSorted().reverse())
    const only = await app.call(`GET ${BILLS}?client=${encodeURIComponent(name)}&state=sent,paid`, { session: billing })
    expect(only.json.data.map(({ number }: { number: string }) => number)).toEqual([sent.json.number])
    expect(
      (await app.call(`GET ${BILLS}?client=${encodeURIComponent(name)}&state=void`, { session: billing })).json.data,
    ).toEqual([])
    const ofTicket = async (ticket: string) => {
      const { json } = await app.call(`GET ${BILLS}?ticket=${ticket}`, { session: billing })
      return json.data.map(({ number }: { number: string }) => number)
    }
    expect(await ofTicket(`${project}-1`)).toEqual([sent.json.number])
    await report({ project, ticket: `${project}-2`, reported_cost: 1 })
    expect(await ofTicket(`${project}-2`)).toEqual([])
    const totals = await app.call(`GET ${BILLS}/totals?ticket=${project}-1`, { session: billing })
    expect(totals.json.data).toMatchObject([{ bills: 1 }])
    const ofMonth = async (month: string) => {
      const query = `client=${encodeURIComponent(name)}&month=${month}`
      const { json } = await app.call(`GET ${BILLS}?${query}`, { session: billing })
      return json.data.map(({ number }: { number: string }) => number)
    }
    const { to } = only.json.data[0].period
    expect(await ofMonth(to.slice(0, 7))).toEqual([sent.json.number])
    expect(await ofMonth('2031-01')).toEqual([])
    expect((await app.call(`GET ${BILLS}?month=2026-13`, { session: billing })).status).toBe(422)
    expect((await app.call(`GET ${BILLS}?ticket=NOWHERE-1`, { session: billing })).status).toBe(422)
    const csv = await app.call(`GET ${BILLS}?format=csv`, { session: billing })
    expect(csv.text.trim().split('\r\n')).toHaveLength(all.length + 1)
    const bad = await app.call(`GET ${BILLS}?state=lost&from=x&limit=0`, { session: billing })
    expect(bad.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/query/state',
      '/query/from',
      '/query/limit',
    ])
  })
})
