/** Bills by list value, marginal and allocated cost: what they contain, keep, refuse and leave out. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { readBillRun } from '../../../src/features/bills/query.ts'
import type { BillRequest } from '../../../src/features/bills/schema.ts'
import { createBillsService } from '../../../src/features/bills/service.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { numberText, parseExactJson } from '../../../src/lib/exact-json.ts'
import { NANO_DIGITS, parseExactDecimal } from '../../../src/lib/money.ts'
import { createServices } from '../../../src/services.ts'
import { COST_BASES, type CostBasis } from '../../../src/shared/cost-basis.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addPlan } from '../../support/plans.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11', client: 'Acme' } satisfies BillRequest
const DOLLAR = 1_000_000_000n
const sending = { by: TALLY }

forEachEngine('bills by basis', (open) => {
  async function stage() {
    const db = await open()
    const time = { now: NOW }
    const services = createServices({ db, clock: { now: () => time.now } })
    const ada = await addReporter(services.people)
    await services.projects.addClient(OPERATOR, { name: 'Acme' })
    await services.projects.addClient(OPERATOR, { name: 'Other' })
    await services.projects.addProject(OPERATOR, { key: 'WEB', client: 'Acme' })
    await services.projects.addProject(OPERATOR, { key: 'APP', client: 'Other' })
    const { bills, entries, funding } = services
    let day = 0
    const report = async (dollars: number, more: Record<string, unknown> = {}): Promise<string> => {
      day += 1
      const at = `2026-11-10T00:${String(day % 60).padStart(2, '0')}:00Z`
      const { entry } = await entries.reporting.reportEntry(
        reportBody({
          ...{ model: 'no-such-model', project: 'WEB', reported_cost: dollars, started_at: at, ended_at: at },
          tokens: { input: dollars * 1_000, output: 0 },
          ...more,
        }),
        ada,
      )
      return entry.id
    }
    const change = (body: Parameters<typeof db.write>[0]) => db.write(body)
    /** $100 from the first day of November on, shared by tokens. */
    async function addMax(terms: Record<string, unknown> = {}) {
      const uid = await addPlan(db, { name: 'Claude Max', from: '2026-11-01' })
      await change((tx) =>
        tx
          .update(tx.tables.planVersions)
          .set({ weight: 'tokens', ...terms })
          .then(() => undefined),
      )
      return uid
    }
    const calculate = async () => {
      await entries.funding.decideOwed()
      await funding.calculateOwed()
    }
    const close = async () => {
      await calculate()
      await change((tx) =>
        tx
          .update(tx.tables.planPeriods)
          .set({ closedAt: NOW })
          .then(() => undefined),
      )
    }
    const send = async (basis: CostBasis, more: Partial<BillRequest> = {}) =>
      (await bills.send({ ...NOVEMBER, basis, ...more }, sending)).bill.bill
    const frozen = async (billId: number) => {
      const { billEntries } = db.read.tables
      return db.read.select().from(billEntries).where(eq(billEntries.billId, billId)).orderBy(billEntries.entryId)
    }
    return { ...services, db, time, report, addMax, calculate, close, send, frozen, change }
  }

  test('each basis bills its amount, keeps it, and says so in every document', async () => {
    const { report, addMax, close, send, frozen, bills, db } = await stage()
    await addMax()
    await report(30)
    await report(10, { project: 'APP' })
    await report(5, { funding: 'metered' })
    await close()
    const totals: Record<string, unknown> = {}
    for (const basis of COST_BASES) {
      const preview = await bills.preview({ ...NOVEMBER, basis, leave_unpriced: true })
      const again = await bills.preview({ ...NOVEMBER, basis, leave_unpriced: true })
      expect(JSON.stringify(again)).toBe(JSON.stringify(preview))
      expect(preview.document).toMatchObject({ basis })
      totals[basis] = Number(preview.document.cost)
      if (basis === 'list') {
        expect(preview.document.left_out.unpriced).toMatchObject({ entries: 2, unpriced_entries: 0 })
        expect(Number(preview.document.left_out.unpriced.cost)).toBe(35)
        continue
      }
      const bill = await send(basis)
      expect(bill).toMatchObject({ basis, provisional: false })
      const kept = await frozen(bill.id)
      expect(kept.map(({ fee, charge }) => [fee, charge])).toEqual(
        {
          cost: [
            [null, null],
            [null, null],
          ],
          marginal: [
            [null, 0n],
            [null, 5n * DOLLAR],
          ],
          allocated: [
            [75n * DOLLAR, 0n],
            [0n, 5n * DOLLAR],
          ],
        }[basis],
      )
      const text = async (format: 'html' | 'csv' | 'entries-csv' | 'journal') =>
        new TextDecoder().decode((await bills.renderBill(bill.uid, format)).bytes)
      const said =
        basis === 'cost'
          ? false
          : { marginal: 'paid in addition to plans', allocated: 'allocated share of plans' }[basis]
      for (const format of ['html', 'journal'] as const) {
        if (said) expect(await text(format)).toContain(said)
        else expect((await text(format)).toLowerCase()).not.toContain('costs on this bill')
      }
      const [heading, first] = (await text('csv')).split('\r\n')
      expect(heading!.endsWith(',basis')).toBe(basis !== 'cost')
      if (said) expect(first).toEndWith(`,${basis}`)
      const [columns, ...rows] = (await text('entries-csv')).trim().split('\r\n')
      const column = columns!.split(',').indexOf('cost')
      expect(rows.map((row) => Number(row.split(',')[column]))).toEqual(
        kept.map(({ fee, charge }, at) => (charge === null ? [30, 5][at]! : Number((fee ?? 0n) + charge) / 1e9)),
      )
      expect(await bills.verify()).toEqual([])
      await bills.voidBill(bill.uid, { reason: 'next basis', deliver: false }, TALLY)
    }
    expect(totals).toEqual({ cost: 35, list: 0, marginal: 5, allocated: 80 })
    expect(await db.read.select().from(db.read.tables.planCorrections)).toEqual([])
  })

  test('shares of a period that is not closed are refused, or billed provisionally and kept', async () => {
    const { report, addMax, calculate, close, send, frozen, bills, db } = await stage()
    const plan = await addMax()
    await report(30)
    await report(10, { project: 'APP' })
    const refused = await send('allocated').catch((error) => error)
    expect(refused).toMatchObject({ code: 'period_not_closed', status: 409 })
    expect(refused.detail).toContain('Claude Max from 2026-11-01 (1 entry)')
    expect(refused.detail).toContain('tally plans close "Claude Max" 2026-11-01')
    expect(refused.detail).toContain('"provisional": true')
    expect(refused.more.periods).toEqual([
      { plan: { id: plan, name: 'Claude Max' }, first_day: '2026-11-01', last_day: '2026-11-30', entries: 1 },
    ])
    // What nothing can change needs no decision: a plan without an allowance charges nothing.
    expect(Number((await bills.preview({ ...NOVEMBER, basis: 'marginal' })).document.cost)).toBe(0)
    await expect(bills.preview({ ...NOVEMBER, provisional: true })).rejects.toMatchObject({ code: 'validation_failed' })

    const sent = await send('allocated', { provisional: true })
    expect(sent).toMatchObject({ provisional: true, cost: 75n * DOLLAR })
    const html = new TextDecoder().decode((await bills.renderBill(sent.uid, 'html')).bytes)
    expect(html).toContain('allocated share of plans (provisional)')
    await report(60, { project: 'APP' })
    await calculate()
    expect((await frozen(sent.id)).map(({ fee }) => fee)).toEqual([75n * DOLLAR])
    expect(await bills.verify()).toEqual([])
    const { document } = await bills.preview({ ...NOVEMBER, client: 'Other', basis: 'allocated', provisional: true })
    expect(Number(document.cost)).toBe(70)

    await bills.voidBill(sent.uid, { reason: 'Wrong', deliver: false }, TALLY)
    await close()
    const final = await send('allocated', { provisional: true })
    expect(final).toMatchObject({ provisional: false, cost: 30n * DOLLAR })
    expect(JSON.parse(await bills.getDocument(await bills.getBill(final.uid)))).not.toHaveProperty('provisional')
    expect(await db.read.select().from(db.read.tables.planCorrections)).toEqual([])
  })

  test('a share that was billed provisionally is settled by a correction, and bills sum up to the fee', async () => {
    const { report, addMax, calculate, close, send, bills, plans, db, time } = await stage()
    await addMax()
    await report(30)
    await report(10, { project: 'APP' })
    expect(await send('allocated', { provisional: true })).toMatchObject({ cost: 75n * DOLLAR })
    await report(60, { project: 'APP' })
    await calculate()
    await plans.closePeriod('Claude Max', '2026-11-01', { leave_unpriced: true }, { by: TALLY } as never)
    const others = (await bills.send({ ...NOVEMBER, client: 'Other', basis: 'allocated' }, sending)).bill.bill
    expect(others).toMatchObject({ cost: 70n * DOLLAR, provisional: false })
    // The correction of Acme is in December, whose period need not be closed for it: it never changes.
    time.now = Date.UTC(2027, 0, 5)
    await report(80, { started_at: '2026-12-02T00:00:00Z', ended_at: '2026-12-02T00:00:00Z' })
    await close()
    const december = { ...NOVEMBER, month: '2026-12', basis: 'allocated' } as const
    const settled = (await bills.send(december, sending)).bill.bill
    expect(settled).toMatchObject({ cost: (100n - 45n) * DOLLAR, entries: 2 })
    expect(await bills.verify()).toEqual([])
    expect(await db.read.select().from(db.read.tables.planCorrections)).toMatchObject([{ fee: -45n * DOLLAR }])
  })

  test('charges beyond an allowance may change as well, also by marginal cost', async () => {
    const { report, addMax, close, send, bills } = await stage()
    await addMax({ allowance: 10n * DOLLAR, allowanceUnit: 'usd', overagePrice: DOLLAR })
    for (const dollars of [6, 3, 4]) await report(dollars)
    await expect(send('marginal')).rejects.toMatchObject({ code: 'period_not_closed' })
    await close()
    expect(await send('marginal')).toMatchObject({ cost: 3n * DOLLAR, provisional: false })
    expect(await bills.verify()).toEqual([])
  })

  test('what is unknown on the basis is never billed as 0', async () => {
    const { report, addMax, close, calculate, send, bills } = await stage()
    await addMax()
    await report(30)
    await close()
    await report(7, { funding: 'unknown' })
    const late = await report(8)
    await calculate()
    const refused = await send('allocated').catch((error) => error)
    expect(refused.code).toBe('unpriced_entries')
    expect(refused.detail).toContain('no known allocated cost')
    const { document } = await bills.preview({ ...NOVEMBER, basis: 'allocated', leave_unpriced: true })
    expect(document.entries).toBe(1)
    expect(document.left_out.unpriced).toMatchObject({ entries: 2, unpriced_entries: 0 })
    expect(Number(document.left_out.unpriced.cost)).toBe(15)
    expect(late).toStartWith('ent_')
  })

  test('corrections are left to bills that can settle them, and ask nothing of others', async () => {
    const { report, addMax, calculate, close, send, bills, db, change } = await stage()
    await addMax()
    await report(30)
    await close()
    const correction = await report(0, { tokens: { input: 0, output: 0 } })
    const earlier = await report(0, {
      tokens: { input: 0, output: 0 },
      started_at: '2026-10-05T00:00:00Z',
      ended_at: '2026-10-05T00:00:00Z',
    })
    await calculate()
    await change(async (tx) => {
      const { entries, planCorrections, planPeriods, planShares, fundings } = tx.tables
      const [period] = await tx.select().from(planPeriods)
      const [funding] = await tx.select().from(fundings)
      for (const uid of [correction, earlier]) {
        const [entry] = await tx
          .select()
          .from(entries)
          .where(eq(entries.uid, uid as never))
        await tx.update(entries).set({ fundingId: funding!.id }).where(eq(entries.id, entry!.id))
        await tx.insert(planCorrections).values({
          ...{ entryId: entry!.id, planId: period!.planId, ofFirstDay: '2026-10-01', managerId: entry!.managerId },
          ...{ projectId: entry!.projectId, ticketId: null, fee: -20n * DOLLAR, charge: 0n },
        })
        await tx.delete(planShares).where(eq(planShares.entryId, entry!.id))
        await tx
          .insert(planShares)
          .values({ entryId: entry!.id, generationId: period!.generationId!, fee: -20n * DOLLAR, charge: 0n })
      }
    })
    for (const basis of ['cost', 'marginal'] as const) {
      const { document } = await bills.preview({ ...NOVEMBER, basis })
      expect([document.entries, document.left_out.corrections?.entries, document.left_out.earlier.entries]).toEqual([
        1, 2, 0,
      ])
      const { document: decided } = await bills.preview({ ...NOVEMBER, basis, include_earlier: false })
      expect(decided.left_out).toEqual(document.left_out)
      const run = await bills.run(readBillRun({ month: '2026-11', basis }))
      const row = run.data.find(({ client }) => client?.name === 'Acme')!
      expect([row.state, row.digest, row.left_out.corrections?.entries]).toEqual([
        'ready',
        (await bills.preview({ ...row.request })).digest,
        2,
      ])
    }
    await expect(send('allocated')).rejects.toMatchObject({ code: 'earlier_entries' })
    const { document } = await bills.preview({ ...NOVEMBER, basis: 'allocated', include_earlier: true })
    expect([document.entries, Number(document.cost)]).toEqual([3, 60])
    const sent = await send('cost')
    expect(sent.entries).toBe(1)
    await expect(send('allocated', { include_earlier: true })).rejects.toMatchObject({
      more: { issues: [{ pointer: '/basis', message: expect.stringContaining('-40 USD') }] },
    })
    expect(await db.read.select().from(db.read.tables.billEntries)).toHaveLength(1)
  })

  test('a share that changes while the bill is written is billed as it is then', async () => {
    const { report, addMax, close, bills: _, db, frozen, ...services } = await stage()
    await addMax()
    await report(30)
    await report(10)
    await close()
    let isChanged = false
    const write: typeof db.write = async (body, options) => {
      if (!isChanged) {
        isChanged = true
        // The same sum, shared otherwise.
        await db.write((tx) =>
          tx
            .update(tx.tables.planShares)
            .set({ fee: 50n * DOLLAR })
            .then(() => undefined),
        )
      }
      return db.write(body, options)
    }
    const bills = createBillsService({ ...services, clock: { now: () => NOW }, db: { ...db, write } })
    const { bill } = await bills.send({ ...NOVEMBER, basis: 'allocated' }, sending)
    expect((await frozen(bill.bill.id)).map(({ fee }) => fee)).toEqual([50n * DOLLAR, 50n * DOLLAR])
    expect(await bills.verify()).toEqual([])
  })

  test('the next bill suggests the basis of the last one, and the first that of the organization', async () => {
    const { report, addMax, close, send, bills, change } = await stage()
    await addMax()
    await report(30)
    await report(10, { project: 'APP' })
    await close()
    await change((tx) =>
      tx
        .update(tx.tables.organization)
        .set({ costBasis: 'marginal' })
        .then(() => undefined),
    )
    await send('allocated')
    expect(await bills.usualTerms({ client: 'Acme' })).toMatchObject({
      basis: 'allocated',
      last_bill: { basis: 'allocated' },
    })
    expect(await bills.usualTerms({ client: 'Other' })).toMatchObject({ basis: 'marginal', last_bill: null })
    const [row] = (await bills.run(readBillRun({ month: '2026-11' }))).data.filter(
      ({ client }) => client?.name === 'Other',
    )
    expect(row).toMatchObject({ basis: 'marginal', request: { basis: 'marginal' }, state: 'ready' })
    const [other] = (await bills.run(readBillRun({ month: '2026-11', basis: 'cost' }))).data.filter(
      ({ client }) => client?.name === 'Other',
    )
    expect(other).toMatchObject({ basis: 'cost', cost: 10 as never })
  })

  test('seats that nobody used are named on a bill of everything', async () => {
    const { report, addMax, close, bills } = await stage()
    await addMax({ seats: 5, fee: 25n * DOLLAR })
    await report(30)
    await close()
    const everything = { month: '2026-11', basis: 'allocated' } satisfies BillRequest
    const { document } = await bills.preview(everything)
    expect(document.unused_seats && { ...document.unused_seats, cost: Number(document.unused_seats.cost) }).toEqual({
      seats: 4,
      cost: 100,
    })
    expect(Number(document.cost)).toBe(25)
    expect((await bills.preview({ ...NOVEMBER, basis: 'allocated' })).document.unused_seats).toBeUndefined()
  })

  const MADE = fc.record({
    dollars: fc.integer({ min: 0, max: 99 }),
    funding: fc.constantFrom(undefined, 'metered', 'unknown', 'credits'),
    project: fc.constantFrom('WEB', 'APP'),
  })

  test('whatever is billed by whichever basis, what a bill keeps sums up to its document', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(MADE, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(...COST_BASES),
        fc.boolean(),
        async (made, basis, isClosed) => {
          const { report, addMax, close, calculate, send, frozen, bills, entries, db } = await stage()
          await addMax({ fee: 20n * DOLLAR })
          for (const { dollars, funding, project } of made)
            await report(dollars, { project, ...(funding && { funding }) })
          await (isClosed ? close() : calculate())
          const more = {
            leave_unpriced: true,
            ...(basis === 'marginal' || basis === 'allocated' ? { provisional: true } : {}),
          }
          const bill = await send(basis, more).catch(({ code }) => code as string)
          if (typeof bill === 'string') return expect(bill).toBe('nothing_to_bill')
          const document = parseExactJson(await bills.getDocument(await bills.getBill(bill.uid))) as { cost: number }
          const kept = await frozen(bill.id)
          const listed = (await entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '100' }, 'UTC'))).data
          expect(listed.filter(({ status }) => status === 'billed')).toHaveLength(kept.length)
          const { entries: table } = db.read.tables
          const rows = new Map((await db.read.select().from(table)).map((row) => [row.id, row]))
          const sum = kept.reduce((total, { entryId, fee, charge }) => {
            const { reportedCost, listValue } = rows.get(entryId)!
            if (charge !== null) return total + charge + (fee ?? 0n)
            return total + (basis === 'list' ? listValue! : (reportedCost ?? listValue!))
          }, 0n)
          expect(kept.every(({ charge }) => (charge === null) === (basis === 'cost' || basis === 'list'))).toBe(true)
          expect(parseExactDecimal(numberText(document, 'cost'), NANO_DIGITS)).toBe(sum)
          expect(bill.cost).toBe(sum)
          expect(await bills.verify()).toEqual([])
        },
      ),
      { numRuns: runs(60, 6) },
    )
  })
})
