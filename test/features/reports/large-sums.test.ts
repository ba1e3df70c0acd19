/**
 * Ten entries at the highest cost that a report may tell come to more nano-dollars than 64 bits hold. Whoever reports
 * them must not keep everyone else from what is summed beside them.
 */
import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11' }
const MOST = 1_000_000_000
const ELEVEN = Array.from({ length: 11 }, () => MOST)

forEachEngine('sums above 64 bits', (open) => {
  async function stage() {
    const db = await open()
    const services = createServices({ db, clock: { now: () => NOW } })
    const caller = await addReporter(services.people)
    const entry = (cost: number, project: string) =>
      reportBody({ model: 'no-such-model', project, reported_cost: cost })
    const report = async (project: string, ...costs: number[]) => {
      for (const cost of costs) await services.entries.reporting.reportEntry(entry(cost, project), caller)
    }
    return { ...services, entry, report }
  }

  test('in a project without a client leave the bills of others alone', async () => {
    const { bills, projects, report } = await stage()
    await projects.addClient(OPERATOR, { name: 'Acme' })
    await projects.addProject(OPERATOR, { key: 'WEB', client: 'Acme' })
    await report('WEB', 2)
    await report('ELSEWHERE', ...ELEVEN)
    const { bill } = await bills.send({ ...NOVEMBER, client: 'Acme' }, { by: TALLY })
    expect(bill.bill).toMatchObject({ total: 200n, cost: 2_000_000_000n })
    const { left_out } = JSON.parse(await bills.getDocument(bill))
    expect(left_out.without_client).toEqual({ entries: 11, unpriced_entries: 0, cost: 11 * MOST, at_least: false })
  })

  test('make a bill too large, which is said before anything is written', async () => {
    const { bills, report } = await stage()
    await report('WEB', ...ELEVEN)
    const refusal = { code: 'bill_too_large', status: 409 }
    await expect(bills.send({ ...NOVEMBER, project: 'WEB' }, { by: TALLY })).rejects.toMatchObject(refusal)
    await expect(bills.preview({ ...NOVEMBER, project: 'WEB' })).rejects.toMatchObject(refusal)
    await report('APP', MOST)
    const dear = { ...NOVEMBER, project: 'APP', currency: 'KWD', exchange_rate: 1_000_000, markup: 10_000 }
    await expect(bills.preview(dear)).rejects.toMatchObject(refusal)
    expect((await bills.send({ ...NOVEMBER, project: 'APP' }, { by: TALLY })).bill.bill.number).toBe('2026-0001')
  })

  test('are told before a period, waiting for approval, on a sheet and in a merged project', async () => {
    const { bills, entries, entry, report, sheets } = await stage()
    await report('WEB', ...ELEVEN)
    await expect(bills.preview({ month: '2026-12', project: 'WEB' })).rejects.toMatchObject({ code: 'earlier_entries' })
    const { entries: waiting } = await sheets.listApprovals(await sheets.readApprovals({}), OPERATOR)
    expect(JSON.stringify(waiting)).toContain('"cost":11000000000')
    const sheet = await sheets.openSheet({ ...NOVEMBER, person: 'ada@example.com' }, OPERATOR)
    for (const cost of ELEVEN) await sheets.addEntry(sheet.id, entry(cost, 'APP'), OPERATOR)
    expect(JSON.stringify(await sheets.getSheet(sheet.id, EVERYTHING))).toContain('"cost":11000000000')
    const merged = await entries.places.mergeProject(OPERATOR, 'WEB', 'APP', { dryRun: true })
    expect(merged).toMatchObject({ entries: 11, costNanos: 11_000_000_000_000_000_000n })
  })
})
