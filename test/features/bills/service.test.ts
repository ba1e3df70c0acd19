import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { BillDocument } from '../../../src/features/bills/schema.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { type CsvLine, csvLines } from '../../../src/lib/csv-lines.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11' }
const sending = { by: TALLY }

forEachEngine('bills', (open) => {
  async function stage() {
    const db = await open()
    const time = { now: NOW }
    const services = createServices({ db, clock: { now: () => time.now } })
    const caller = await addReporter(services.people)
    await services.projects.addClient(OPERATOR, { name: 'Acme', email: 'bills@acme.example', address: '1 Road' })
    await services.projects.addProject(OPERATOR, { key: 'WEB', name: 'Acme web', client: 'Acme' })
    await services.projects.addProject(OPERATOR, { key: 'APP', name: 'Acme app', client: 'Acme' })
    const report = async (more: Record<string, unknown> = {}) => {
      const { entry } = await services.entries.reporting.reportEntry(
        reportBody({ model: 'no-such-model', project: 'WEB', reported_cost: 1, ...more }),
        caller,
      )
      return entry.id
    }
    const all = async () =>
      (await services.entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '1000' }, 'UTC'))).data
    const statuses = async () => Object.groupBy(await all(), ({ status }) => status)
    const documentOf = async (bill: Awaited<ReturnType<typeof services.bills.send>>['bill']) =>
      JSON.parse(await services.bills.getDocument(bill)) as BillDocument
    return { ...services, time, report, all, statuses, documentOf }
  }

  describe('sending', () => {
    test('bills the unbilled entries in the scope and period, locks them and assigns the next number', async () => {
      const { bills, report, all, documentOf } = await stage()
      await report({ ticket: 'WEB-1', reported_cost: 1.25 })
      await report({ ticket: 'WEB-1', reported_cost: 0.004 })
      await report({ project: 'APP', reported_cost: 2 })
      await report({ started_at: '2026-12-01T00:00:00Z', ended_at: '2026-12-01T00:00:00Z' })
      const { bill } = await bills.send({ ...NOVEMBER, client: 'acme', tax: { percent: 19 } }, sending)
      expect(bill.bill).toMatchObject({ number: '2026-0001', state: 'sent', subtotal: 325n, tax: 62n, total: 387n })
      const document = await documentOf(bill)
      expect(document.sections).toHaveLength(1)
      expect(
        document.sections[0]!.lines.map(({ keys, entries, amount }) => [keys.project, keys.ticket, entries, amount]),
      ).toEqual([
        [expect.objectContaining({ key: 'APP' }), null, 1, 2],
        [expect.objectContaining({ key: 'WEB' }), expect.objectContaining({ key: 'WEB-1' }), 2, 1.25],
      ])
      expect(document.recipient).toEqual({ name: 'Acme', address: '1 Road', tax_id: null, email: 'bills@acme.example' })
      expect(document.due_on).toBe('2026-12-31')
      const billed = (await all()).filter(({ status }) => status === 'billed')
      expect(billed.map(({ bill: on }) => on?.number)).toEqual(['2026-0001', '2026-0001', '2026-0001'])
      expect((await all()).filter(({ status }) => status === 'submitted')).toHaveLength(1)
    })

    test('of nothing uses no number', async () => {
      const { bills, report } = await stage()
      await expect(bills.send({ ...NOVEMBER, client: 'acme' }, sending)).rejects.toMatchObject({
        code: 'nothing_to_bill',
      })
      await report()
      const { bill } = await bills.send({ ...NOVEMBER, client: 'acme' }, sending)
      expect(bill.bill.number).toBe('2026-0001')
      await expect(bills.send({ ...NOVEMBER, client: 'acme' }, sending)).rejects.toMatchObject({
        code: 'nothing_to_bill',
      })
    })

    test('is never for less than nothing, whatever its extra lines are', async () => {
      const { bills, report } = await stage()
      await report({ reported_cost: 10 })
      const body = (amount: number) => ({ ...NOVEMBER, client: 'acme', extra_lines: [{ text: 'Credit', amount }] })
      for (const act of [bills.preview, (asked: ReturnType<typeof body>) => bills.send(asked, sending)]) {
        await expect(act(body(-15))).rejects.toMatchObject({
          code: 'validation_failed',
          more: { issues: [{ pointer: '/extra_lines', message: expect.stringContaining('-5 USD') }] },
        })
      }
      expect((await bills.send(body(-10), sending)).bill.bill).toMatchObject({ number: '2026-0001', total: 0n })
    })

    test('of overlapping scopes at once bills every entry exactly once, with numbers that have no gap', async () => {
      const { bills, report, all } = await stage()
      for (let day = 1; day <= 20; day += 1) {
        const started = `2026-11-${String(day).padStart(2, '0')}T10:00:00Z`
        await report({ started_at: started, ended_at: started, project: day % 2 ? 'WEB' : 'APP' })
      }
      const scopes = [{ client: 'acme' }, { project: 'WEB' }, { project: 'APP' }, {}]
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) => {
          const from = `2026-11-${String((index % 10) + 1).padStart(2, '0')}`
          return bills.send(
            { period: { from, to: '2026-11-30' }, ...scopes[index % 4], include_earlier: false },
            sending,
          )
        }),
      )
      const sent = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value.bill.bill)
      const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.code)
      expect(new Set(refused)).toEqual(new Set(['nothing_to_bill']))
      expect(sent.map(({ number }) => number).sort()).toEqual(
        sent.map((_, index) => `2026-${String(index + 1).padStart(4, '0')}`),
      )
      const billed = (await all()).filter(({ status }) => status === 'billed')
      expect(sent.reduce((sum, { entries }) => sum + entries, 0)).toBe(billed.length)
      expect(sent.reduce((sum, { total }) => sum + total, 0n)).toBe(BigInt(billed.length) * 100n)
    })

    test('by two processes at once bills every entry once as well', async () => {
      const { db, bills, report, all } = await stage()
      const other = createServices({ db: await open({ sharing: db }), clock: { now: () => NOW } })
      for (let index = 0; index < 10; index += 1) await report()
      const results = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 ? bills : other.bills).send({ ...NOVEMBER, client: 'acme' }, sending),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect((await all()).every(({ status }) => status === 'billed')).toBe(true)
    })

    test('with one Idempotency-Key happens once, and refuses another body', async () => {
      const { bills, report } = await stage()
      await report()
      const key = { userId: 1, key: 'once', bodyHash: createHash('sha256').update('body').digest() }
      const body = { ...NOVEMBER, client: 'acme' }
      const sent = await Promise.all([1, 2, 3].map(() => bills.send(body, { by: TALLY, key })))
      expect(new Set(sent.map(({ bill }) => bill.bill.uid)).size).toBe(1)
      expect(sent.filter(({ replayed }) => !replayed)).toHaveLength(1)
      const other = { ...key, bodyHash: createHash('sha256').update('another').digest() }
      await expect(bills.send(body, { by: TALLY, key: other })).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      })
    })

    test('with the digest of a preview sends exactly that bill, or nothing', async () => {
      const { bills, report } = await stage()
      await report()
      const body = { ...NOVEMBER, client: 'acme' }
      const { digest, document } = await bills.preview(body)
      expect(document).toMatchObject({ number: null, total: expect.anything() })
      expect((await bills.preview(body)).digest).toBe(digest)
      await report({ reported_cost: 0.5 })
      await expect(bills.send({ ...body, digest }, sending)).rejects.toMatchObject({ code: 'preview_changed' })
      const again = await bills.preview(body)
      const { bill } = await bills.send({ ...body, digest: again.digest }, sending)
      expect(bill.bill.total).toBe(150n)
    })

    test('in another currency needs its rate, and rounds to its minor unit', async () => {
      const { bills, report, documentOf } = await stage()
      await report({ reported_cost: 10.0049 })
      const body = { ...NOVEMBER, client: 'acme', currency: 'JPY' }
      await expect(bills.preview(body)).rejects.toMatchObject({ code: 'validation_failed' })
      const { bill } = await bills.send(
        { ...body, exchange_rate: 151.37, extra_lines: [{ text: 'Set-up', amount: 1000 }] },
        sending,
      )
      // 10.0049 × 151.37 = 1514.44…
      expect(bill.bill.subtotal).toBe(2514n)
      expect(await documentOf(bill)).toMatchObject({
        currency: 'JPY',
        minor_digits: 0,
        exchange_rate: 151.37,
        total: 2514,
      })
    })

    test('uses the markup of the request, else of the project, the client, the organization', async () => {
      const { bills, projects, report, db } = await stage()
      await report({ reported_cost: 100 })
      const total = async (more = {}) => (await bills.preview({ ...NOVEMBER, client: 'acme', ...more })).document
      const amountOf = async (more = {}) => JSON.stringify((await total(more)).total)
      expect(await amountOf()).toBe('100')
      await db.write((tx) =>
        tx
          .update(tx.tables.organization)
          .set({ markupPpm: 10_000 })
          .then(() => undefined),
      )
      expect(await amountOf()).toBe('101')
      await projects.changeClient(OPERATOR, 'Acme', { markupPpm: 20_000 })
      expect(await amountOf()).toBe('102')
      await projects.changeProject(OPERATOR, 'WEB', { markupPpm: 30_000 })
      expect(await amountOf()).toBe('103')
      expect(await amountOf({ markup: 12.5 })).toBe('112.5')
    })
  })

  describe('left-out entries', () => {
    test('are counted by reason, in the scope and outside it', async () => {
      const { bills, projects, report, db } = await stage()
      await report()
      await projects.addProject(OPERATOR, { key: 'FREE', name: 'Free', client: 'Acme', billable: false })
      await report({ project: 'FREE', reported_cost: 2 })
      await report({ project: undefined, reported_cost: 3 })
      await report({ project: 'lone', reported_cost: 4 })
      await report({ project: undefined, ticket: 'NOWHERE-1', reported_cost: 5 })
      const rejected = await report({ reported_cost: 6 })
      const { entries } = db.read.tables
      await db.write((tx) =>
        tx
          .update(tx.tables.entries)
          .set({ status: 'rejected' })
          .where(eq(entries.uid, rejected as never))
          .then(() => undefined),
      )
      const { document } = await bills.preview({ ...NOVEMBER, client: 'acme' })
      const told = Object.fromEntries(
        Object.entries(document.left_out)
          .filter(([, { entries: count }]) => count > 0)
          .map(([reason, { entries: count, cost }]) => [reason, [count, JSON.stringify(cost)]]),
      )
      expect(told).toEqual({
        not_billable: [1, '2'],
        unattributed: [1, '3'],
        without_client: [1, '4'],
        without_project: [1, '5'],
        rejected: [1, '6'],
      })
      // A team that bills itself bills everything but what is not billed at all.
      const { document: everything } = await bills.preview(NOVEMBER)
      expect(JSON.stringify(everything.total)).toBe('13')
    })

    test('stop the bill if the cost of one is unknown, until unpriced entries are left out', async () => {
      const { bills, report } = await stage()
      await report()
      await report({ reported_cost: undefined })
      await expect(bills.send({ ...NOVEMBER, client: 'acme' }, sending)).rejects.toMatchObject({
        code: 'unpriced_entries',
      })
      const { bill } = await bills.send({ ...NOVEMBER, client: 'acme', leave_unpriced: true }, sending)
      expect(bill.bill.entries).toBe(1)
    })

    test('stop the bill if earlier ones were never billed, until they are included or left out', async () => {
      const { bills, report, documentOf } = await stage()
      await report()
      await report({ started_at: '2026-10-31T23:59:00Z', ended_at: '2026-11-01T00:10:00Z', reported_cost: 7 })
      const body = { ...NOVEMBER, client: 'acme' }
      await expect(bills.preview(body)).rejects.toMatchObject({
        code: 'earlier_entries',
        detail: expect.stringContaining('since 2026-10-31'),
      })
      const { document } = await bills.preview({ ...body, include_earlier: false })
      expect(document.left_out.earlier.entries).toBe(1)
      const { bill } = await bills.send({ ...body, include_earlier: true }, sending)
      const { sections, total } = await documentOf(bill)
      expect(sections.map(({ title, lines }) => [title, lines.length])).toEqual([
        [null, 1],
        ['Earlier usage', 1],
      ])
      expect(total).toBe(8)
    })

    test('include unapproved entries if the organization requires approval', async () => {
      const { bills, report, db } = await stage()
      await report()
      await db.write((tx) =>
        tx
          .update(tx.tables.organization)
          .set({ approvalRequired: true })
          .then(() => undefined),
      )
      const { document } = await bills.preview({ ...NOVEMBER, client: 'acme' })
      expect(document.left_out.not_approved.entries).toBe(1)
      await expect(bills.send({ ...NOVEMBER, client: 'acme' }, sending)).rejects.toMatchObject({
        code: 'nothing_to_bill',
      })
    })
  })

  describe('a sent bill', () => {
    test('shows how long agents worked where that was chosen, and charges the same', async () => {
      const { bills, report, documentOf } = await stage()
      await report({ session_id: 's-1', active_seconds: 23_040.25 })
      await report({ session_id: 's-2', active_seconds: 60 })
      await report({ session_id: 's-3' })
      await report({ project: 'APP' })
      const plain = (await bills.preview({ ...NOVEMBER, client: 'acme' })).document
      const shown = { ...NOVEMBER, client: 'acme', show_active_time: true }
      const { bill } = await bills.send(shown, sending)
      const { sections, ...document } = await documentOf(bill)
      expect(sections[0]!.lines.map((line) => [line.entries, line.active_seconds, line.untimed_entries])).toEqual([
        [1, null, 1],
        [3, 23_100.25, 1],
      ])
      expect(document).toMatchObject({ show_active_time: true, total: JSON.parse(JSON.stringify(plain)).total })
      expect(JSON.stringify(plain)).not.toMatch(/active/)
      const { bytes } = await bills.renderBill(bill.bill.number, 'entries-csv')
      const [{ cells: headings }, ...rows] = csvLines(Buffer.from(bytes).toString()) as [CsvLine, ...CsvLine[]]
      const ofLine2 = rows.map(({ cells }) => cells).filter((cells) => cells[headings.indexOf('line')] === '2')
      expect(ofLine2.map((cells) => cells[headings.indexOf('active_seconds')])).toEqual(['23040.25', '60', ''])
      // The next bill of the client suggests the same.
      expect((await bills.usualTerms({ client: 'acme' })).show_active_time).toBe(true)
      // Later reports change the entry's next part, not the bill.
      const before = await bills.getDocument(bill)
      await report({ session_id: 's-3', active_seconds: 7, ended_at: '2026-11-20T12:00:00Z' })
      expect(await bills.getDocument(bill)).toBe(before)
    })

    test('does not change, whatever is renamed, repriced or reported afterwards', async () => {
      const { bills, projects, report } = await stage()
      await report({ session_id: 's-1' })
      const { bill } = await bills.send({ ...NOVEMBER, client: 'acme' }, sending)
      const before = await bills.getDocument(bill)
      await projects.changeClient(OPERATOR, 'Acme', { name: 'Acme & Sons', address: 'Elsewhere' })
      await projects.changeProject(OPERATOR, 'WEB', { name: 'Renamed', markupPpm: 500_000 })
      await report({
        session_id: 's-1',
        reported_cost: 3,
        tokens: { input: 100, output: 50 },
        ended_at: '2026-11-20T12:00:00Z',
      })
      expect(await bills.getDocument(bill)).toBe(before)
      // What came after is a part of its own, and waits for the next bill.
      const { bill: next } = await bills.send({ ...NOVEMBER, client: 'Acme & Sons' }, sending)
      expect(next.bill).toMatchObject({ number: '2026-0002', entries: 1, cost: 2_000_000_000n })
    })

    test('cannot be changed or deleted, even without the service', async () => {
      const { bills, report, db } = await stage()
      await report()
      const { bill } = await bills.send({ ...NOVEMBER, client: 'acme' }, sending)
      const { id } = bill.bill
      const attempts = [
        db.write((tx) =>
          tx
            .update(tx.tables.bills)
            .set({ document: '{}' })
            .where(eq(tx.tables.bills.id, id))
            .then(() => undefined),
        ),
        db.write((tx) =>
          tx
            .update(tx.tables.bills)
            .set({ number: 'other' })
            .where(eq(tx.tables.bills.id, id))
            .then(() => undefined),
        ),
        db.write((tx) =>
          tx
            .delete(tx.tables.bills)
            .where(eq(tx.tables.bills.id, id))
            .then(() => undefined),
        ),
      ]
      for (const result of await Promise.allSettled(attempts)) expect(result.status).toBe('rejected')
      expect((await bills.getBill('2026-0001')).bill.number).toBe('2026-0001')
    })

    test('that is voided returns its entries to their previous status, and keeps its number and document', async () => {
      const { bills, report, statuses, db, all } = await stage()
      await report()
      const approved = await report()
      const { entries } = db.read.tables
      await db.write((tx) =>
        tx
          .update(tx.tables.entries)
          .set({ status: 'approved' })
          .where(eq(entries.uid, approved as never))
          .then(() => undefined),
      )
      const { bill } = await bills.send({ ...NOVEMBER, client: 'acme' }, sending)
      const document = await bills.getDocument(bill)
      const { bill: voided } = await bills.voidBill('2026-0001', { reason: 'Wrong address' }, TALLY)
      expect(voided).toMatchObject({ state: 'void', voidReason: 'Wrong address', number: '2026-0001' })
      expect(await bills.getDocument(bill)).toBe(document)
      const now = await statuses()
      expect([now.submitted?.length, now.approved?.map(({ id }) => id)]).toEqual([1, [approved]])
      expect((await all()).every(({ bill: on }) => on === null)).toBe(true)
      await expect(bills.voidBill('2026-0001', { reason: 'again' }, TALLY)).rejects.toMatchObject({
        code: 'wrong_status',
      })
      const { bill: next } = await bills.send({ ...NOVEMBER, client: 'acme', replaces: '2026-0001' }, sending)
      expect(next.bill).toMatchObject({ number: '2026-0002', entries: 2, replacesId: bill.bill.id })
    })

    test('that is paid is corrected by credit notes, up to what it billed', async () => {
      const { bills, report, documentOf, time } = await stage()
      await report({ reported_cost: 100 })
      await bills.send({ ...NOVEMBER, client: 'acme', tax: { name: 'VAT', percent: 19 } }, sending)
      await expect(bills.creditBill('2026-0001', {}, TALLY)).rejects.toMatchObject({ code: 'wrong_status' })
      time.now += 5 * 86_400_000
      await expect(bills.payBill('2026-0001', { on: '2027-01-01' }, { by: TALLY })).rejects.toMatchObject({
        code: 'validation_failed',
      })
      const {
        bill: { bill: paid },
      } = await bills.payBill('2026-0001', { on: '2026-12-03', reference: 'transfer 7' }, { by: TALLY })
      expect(paid).toMatchObject({ state: 'paid', paidOn: '2026-12-03' })
      await expect(bills.voidBill('2026-0001', { reason: 'x' }, TALLY)).rejects.toMatchObject({ code: 'wrong_status' })
      const first = await bills.creditBill('2026-0001', { lines: [{ text: 'Discount', amount: 30.1 }] }, TALLY)
      expect(first.bill).toMatchObject({ number: '2026-0002', kind: 'credit_note', subtotal: -3010n, tax: -572n })
      expect(await documentOf(first)).toMatchObject({ corrects: { number: '2026-0001' }, total: -35.82 })
      expect(
        bills.creditBill('2026-0001', { lines: [{ text: 'Too much', amount: 69.91 }] }, TALLY),
      ).rejects.toMatchObject({
        code: 'validation_failed',
      })
      const rest = await bills.creditBill('2026-0001', {}, TALLY)
      expect(rest.bill.subtotal).toBe(-6990n)
      await expect(bills.creditBill('2026-0001', {}, TALLY)).rejects.toMatchObject({ code: 'validation_failed' })
    })
  })
})
