import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { readBillRun } from '../../../src/features/bills/query.ts'
import type { BillRunRow } from '../../../src/features/bills/run-schema.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const sending = { by: TALLY }

forEachEngine('a billing run', (open) => {
  async function stage() {
    const db = await open()
    const time = { now: NOW }
    const services = createServices({ db, clock: { now: () => time.now } })
    const caller = await addReporter(services.people)
    const { projects } = services
    await projects.addClient(OPERATOR, { name: 'Acme', taxPpm: 190_000, taxName: 'VAT' })
    await projects.addClient(OPERATOR, { name: 'Euro', currency: 'EUR' })
    await projects.addClient(OPERATOR, { name: 'Idle' })
    await projects.addProject(OPERATOR, { key: 'WEB', client: 'Acme' })
    await projects.addProject(OPERATOR, { key: 'GIFT', client: 'Acme', billable: false })
    await projects.addProject(OPERATOR, { key: 'EURO', client: 'Euro' })
    await projects.addProject(OPERATOR, { key: 'LONE' })
    const report = (more: Record<string, unknown>) =>
      services.entries.reporting.reportEntry(reportBody({ model: 'no-such-model', reported_cost: 1, ...more }), caller)
    const october = { started_at: '2026-10-10T10:00:00Z', ended_at: '2026-10-10T11:00:00Z' }
    const run = (more: Record<string, string> = {}) => services.bills.run(readBillRun({ month: '2026-11', ...more }))
    const rowOf = async (name: string, more?: Record<string, string>): Promise<BillRunRow> =>
      (await run(more)).data.find(({ client, project }) => (client?.name ?? project?.key) === name)!
    const totalOf = async (list: string) => {
      const texts: Record<string, string | string[]> = { limit: '1000' }
      const asked = new URL(list, 'http://tally').searchParams
      for (const name of asked.keys()) {
        const values = asked.getAll(name)
        texts[name] = values.length === 1 ? values[0]! : values
      }
      const { data } = await services.entries.listing.listEntries(EVERYTHING, readListQuery(texts, 'UTC'))
      const known = data.flatMap(({ cost }) => (cost === null || cost === undefined ? [] : [cost]))
      return {
        entries: data.length,
        unpriced: data.length - known.length,
        cost: known.reduce((sum, cost) => sum + cost, 0),
      }
    }
    return { ...services, time, report, october, run, rowOf, totalOf }
  }

  test('shows for each client the bill that its preview shows', async () => {
    const { bills, report, run } = await stage()
    await report({ project: 'WEB', ticket: 'WEB-1', reported_cost: 2.5 })
    await report({ project: 'WEB', reported_cost: 0.004 })
    await report({ project: 'GIFT', reported_cost: 7 })
    await report({ project: 'EURO', reported_cost: 10 })
    await report({ project: 'LONE', reported_cost: 3 })
    await report({ reported_cost: 0.5 })
    const { data } = await run({ rate: 'EUR:0.92' })
    expect(data.map(({ client, project, state }) => [client?.name ?? project?.key, state])).toEqual([
      ['Acme', 'ready'],
      ['Euro', 'ready'],
      ['Idle', 'empty'],
      ['LONE', 'ready'],
    ])
    for (const row of data.filter(({ state }) => state === 'ready')) {
      const { digest, document } = await bills.preview(row.request)
      const { unattributed: _, without_client: __, without_project: ___, ...own } = document.left_out
      expect(row).toMatchObject({
        digest,
        entries: document.entries,
        cost: document.cost,
        subtotal: document.subtotal,
        tax: document.tax?.amount ?? 0,
        total: document.total,
        left_out: own,
      })
    }
    expect(data[0]).toMatchObject({ total: 2.98, tax: 0.48, left_out: { not_billable: { entries: 1, cost: 7 } } })
    expect(data[1]).toMatchObject({ total: 9.2, currency: 'EUR' })
  })

  test('leaves earlier entries out as the preview does, and counts those that can be billed', async () => {
    const { bills, report, run, october, entries, totalOf } = await stage()
    const earlier = (project: string | undefined, cost: number | undefined) =>
      report({ ...(project && { project }), reported_cost: cost, ...october })
    for (const project of ['WEB', 'GIFT', 'EURO', 'LONE', undefined]) await earlier(project, 0.1)
    await earlier('WEB', undefined)
    await bills.send({ client: 'Euro', month: '2026-10', exchange_rate: 1 }, sending)
    await earlier('EURO', 0.2)
    const { data: listed } = await entries.listing.listEntries(EVERYTHING, readListQuery({ project: 'LONE' }, 'UTC'))
    await entries.approval.decideEntry(listed[0]!.id, { action: 'reject', reason: 'Wrong' }, OPERATOR)
    for (const project of ['WEB', 'EURO', 'LONE']) await report({ project })

    const decided = await run({ include_earlier: 'false', leave_unpriced: 'true', rate: 'EUR:0.5' })
    const left = decided.data.map(({ client, project, left_out }) => [client?.name ?? project?.key, left_out.earlier])
    expect(Object.fromEntries(left)).toMatchObject({
      Acme: { entries: 2, unpriced_entries: 1, cost: 0.1 },
      Euro: { entries: 1, unpriced_entries: 0, cost: 0.2 },
      LONE: { entries: 0 },
    })
    for (const { request, digest, state } of decided.data.filter(({ state }) => state !== 'empty')) {
      expect({ state, digest }).toEqual({ state: 'ready', digest: (await bills.preview(request)).digest })
    }
    const {
      entries: count,
      unpriced_entries: unpriced,
      cost,
      list,
    } = decided.checks.find((c) => c.check === 'earlier')!
    expect({ entries: count, unpriced, cost }).toEqual(await totalOf(list))
  })

  test('has a checklist of which each figure is the total of its list', async () => {
    const { report, run, october, totalOf } = await stage()
    await report({ project: 'WEB' })
    await report({ project: 'WEB', reported_cost: undefined })
    await report({ project: 'GIFT', reported_cost: undefined })
    await report({ project: 'LONE', reported_cost: 3 })
    await report({ reported_cost: 0.25 })
    await report({ project: 'WEB', reported_cost: 4, ...october })
    await report({ project: 'GIFT', reported_cost: 5, ...october })
    await report({
      project: 'WEB',
      reported_cost: 6,
      started_at: '2026-12-01T00:00:00Z',
      ended_at: '2026-12-01T00:00:00Z',
    })
    const { checks } = await run()
    for (const { entries, unpriced_entries, cost, list } of checks) {
      expect(await totalOf(list)).toEqual({ entries, unpriced: unpriced_entries, cost })
    }
    expect(Object.fromEntries(checks.map(({ check, entries }) => [check, entries]))).toEqual({
      unpriced: 1,
      unattributed: 1,
      without_client: 1,
      without_project: 0,
      held: 0,
      not_approved: 2,
      on_sheets: 0,
      rejected: 0,
      earlier: 1,
    })
  })

  test('says what blocks a client, and how its bill would be without that', async () => {
    const { report, rowOf, october } = await stage()
    await report({ project: 'EURO', reported_cost: 10 })
    await report({ project: 'EURO', reported_cost: undefined })
    await report({ project: 'EURO', reported_cost: 4, ...october })
    expect(await rowOf('Euro')).toMatchObject({
      state: 'blocked',
      blocked_by: ['earlier_entries', 'unpriced_entries', 'exchange_rate'],
      digest: null,
      idempotency_key: null,
      entries: 1,
      cost: 10,
      total: null,
    })
    const decided = { include_earlier: 'true', leave_unpriced: 'true', rate: 'EUR:0.5' }
    expect(await rowOf('Euro', decided)).toMatchObject({ state: 'ready', blocked_by: [], entries: 2, total: 7 })
  })

  test('knows from the bills what was sent, and remembers the terms of the last one', async () => {
    const { bills, report, rowOf } = await stage()
    await report({ project: 'EURO', reported_cost: 10 })
    const terms = { exchange_rate: 0.92, tax: { name: 'VAT', percent: 7 }, group_by: ['model'], due_days: 14 }
    const { bill } = await bills.send({ client: 'Euro', month: '2026-11', ...terms }, sending)
    const billed = await rowOf('Euro')
    expect(billed).toMatchObject({ state: 'billed', bills: [{ number: '2026-0001', total: 9.84 }] })
    await report({ project: 'EURO', reported_cost: 1 })
    const next = await rowOf('Euro')
    expect(next).toMatchObject({
      state: 'ready',
      request: { ...terms, currency: 'EUR' },
      exchange_rate: { rate: 0.92, on: '2026-12-01' },
    })
    const tax = { name: 'VAT', percent: 19 }
    expect(await bills.usualTerms({ client: 'Acme' })).toMatchObject({ tax, exchange_rate: null, last_bill: null })
    await bills.voidBill(bill.bill.uid, { reason: 'Wrong' }, TALLY)
    expect((await rowOf('Euro', { rate: 'EUR:0.92' })).idempotency_key).not.toBe(next.idempotency_key)
  })

  test('sends a bill once, however often the run is read and repeated', async () => {
    const { bills, report, rowOf } = await stage()
    await report({ project: 'WEB', reported_cost: 5 })
    const [row, again] = [await rowOf('Acme'), await rowOf('Acme')]
    expect(again.idempotency_key).toBe(row.idempotency_key)
    const key = { userId: 1, key: row.idempotency_key!, bodyHash: new Uint8Array(32) }
    const send = () => bills.send({ ...row.request, digest: row.digest! }, { by: TALLY, key })
    const sent = await Promise.all([send(), send()])
    expect(new Set(sent.map(({ bill }) => bill.bill.number)).size).toBe(1)
    expect((await send()).replayed).toBe(true)
    await report({ project: 'WEB', reported_cost: 1 })
    const stale = { ...row.request, digest: row.digest! }
    expect(await bills.send(stale, sending).catch(({ code }) => code)).toBe('preview_changed')
  })

  test('is not of a month that has not begun, and says so of one that is not over', async () => {
    const { run, time } = await stage()
    expect(await run({ month: '2027-01' }).catch(({ code }) => code)).toBe('validation_failed')
    expect((await run()).period_is_over).toBe(true)
    time.now = Date.UTC(2026, 10, 30, 22)
    expect((await run()).period_is_over).toBe(false)
  })
})
