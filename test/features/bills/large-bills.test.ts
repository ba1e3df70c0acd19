/**
 * Bills with so many entries that these are claimed and released in several transactions. Between any two of them
 * something may happen.
 */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { TALLY } from '../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { createBillsService } from '../../../src/features/bills/service.ts'
import { createLeases, PORTION } from '../../../src/features/entries/billing/lease.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { createServices, type Services } from '../../../src/services.ts'
import { forEachEngine, type Open } from '../../support/databases.ts'
import { runJobs } from '../../support/jobs.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11' }
const sending = { by: TALLY }

/** What happens between two portions is the same whatever their size. */
const SMALL_PORTION = runs(PORTION, 20)

/** A whole portion, and a second with a few. */
const entriesOf = (portion: number) => portion + 10
const ENTRIES = entriesOf(SMALL_PORTION)
const PORTIONS = 2

/** After this, a lease that is not renewed has expired. */
const LATER_MS = 60_000

/** Runs something before a write, counted from 1 when it is set. */
interface Interruption {
  before: number
  run(): Promise<unknown>
}

/** The services of a process that bills in portions of this size. */
function servicesOf(db: Database, clock: Clock, portion = SMALL_PORTION): Services {
  const services = createServices({ db, clock })
  const billing = { ...services.entries.billing, ...createLeases({ db, clock, portion }) }
  const entries = { ...services.entries, billing }
  return { ...services, entries, bills: createBillsService({ ...services, db, clock, entries }) }
}

async function stage(open: Open, portion = SMALL_PORTION) {
  const db = await open()
  const time = { now: NOW }
  const clock = { now: () => time.now }
  const others = servicesOf(db, clock, portion)
  let writes = 0
  let interruptions: Interruption[] = []
  const write: Database['write'] = async (body) => {
    writes += 1
    const due = interruptions.filter(({ before }) => before === writes)
    for (const { run } of due) await run()
    return db.write(body)
  }
  const { bills } = servicesOf({ ...db, write }, clock, portion)
  const interrupt = (...planned: Interruption[]) => {
    writes = 0
    interruptions = planned
  }
  const caller = await addReporter(others.people)
  const bodies = Array.from({ length: entriesOf(portion) }, (_, index) =>
    reportBody({ model: 'no-such-model', project: 'WEB', reported_cost: 1, session_id: `session ${index}` }),
  )
  for (let start = 0; start < bodies.length; start += 1_000)
    await others.entries.reporting.reportEntries(bodies.slice(start, start + 1_000), caller)
  return { db, time, bills, others, interrupt, caller, ...looking(others) }
}

/** What everyone sees. */
function looking({ bills, entries, reports }: Services) {
  const usage = async () => {
    const texts = { group_by: 'status', bucket_width: 'all', starting_at: '2026-11-01', ending_at: '2026-12-01' }
    const { data } = await reports.usage(EVERYTHING, await reports.readUsage(texts, COMMAND_LINE))
    return Object.fromEntries(
      data.flatMap(({ results }) => results.map(({ status, entries: count }) => [status, count])),
    )
  }
  /** The oldest entry, which is claimed first. */
  const first = async () => {
    const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ session_id: 'session 0' }, 'UTC'))
    return data[0]!
  }
  const listed = async (status: string) => {
    const found = await entries.listing.listEntries(EVERYTHING, readListQuery({ status, limit: '1' }, 'UTC'))
    return found.data.length > 0
  }
  const exported = () => textOf(entries.listing.exportFile(EVERYTHING, {}, 'csv'))
  const numbers = async () =>
    (await bills.billRows.list({}, { after: undefined, limit: 10 })).map(({ head }) => head.number)
  return { usage, first, listed, exported, numbers }
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true })
  return text
}

forEachEngine('a bill of several portions', (open) => {
  describe('while it is sent', () => {
    test('is not there, and its entries are what they were before, until all of them are on it', async () => {
      const entries = entriesOf(PORTION)
      const { bills, others, interrupt, usage, first, listed, exported, numbers } = await stage(open, PORTION)
      // When it was claimed, which is all that shows.
      const before = { ...(await first()), updated_at: new Date(NOW).toISOString() }
      const exportedBefore = await exported()
      const during: unknown[] = []
      const waiting: Promise<unknown>[] = []
      interrupt({
        before: PORTIONS + 1,
        run: async () => {
          during.push(await first(), await numbers(), await others.bills.verify(), await others.entries.verify())
          during.push((await exported()) === exportedBefore)
          // They wait, since they depend on what is billed.
          waiting.push(usage(), listed('submitted'), listed('billed'), others.bills.preview(NOVEMBER))
          await Bun.sleep(100)
        },
      })
      const { bill } = await bills.send(NOVEMBER, sending)
      expect(during).toEqual([before, [], [], [], true])
      expect(bill.bill).toMatchObject({ number: '2026-0001', state: 'sent', entries })
      expect(await first()).toMatchObject({ status: 'billed', bill: { number: '2026-0001' } })
      const [sums, submitted, billed, preview] = await Promise.all(waiting)
      expect([sums, submitted, billed]).toEqual([{ billed: entries }, false, true])
      expect(preview).toMatchObject({ document: { entries: 0 } })
      expect([await others.bills.verify(), await others.entries.verify()]).toEqual([[], []])
    })

    test('keeps its entries from being approved, moved and changed, and says that it is for a moment', async () => {
      const { bills, others, interrupt, first, caller } = await stage(open)
      const { id } = await first()
      const refusals: unknown[] = []
      interrupt({
        before: PORTIONS + 1,
        run: async () => {
          const approve = others.entries.approval.decideEntry(id, { action: 'approve' }, OPERATOR)
          const move = others.entries.places.changeEntry(id, { project: null }, OPERATOR)
          for (const { status, ...result } of await Promise.allSettled([approve, move]))
            refusals.push([
              status,
              'reason' in result && result.reason.code,
              'reason' in result && result.reason.detail,
            ])
          await others.entries.reporting.reportEntry(
            reportBody({
              model: 'no-such-model',
              project: 'WEB',
              reported_cost: 3,
              session_id: 'session 0',
              tokens: { input: 30, output: 15 },
            }),
            caller,
          )
        },
      })
      const { bill } = await bills.send(NOVEMBER, sending)
      expect(refusals).toEqual([
        ['rejected', 'wrong_status', expect.stringMatching(/is being sent or voided at this moment. Try again/)],
        ['rejected', 'entry_locked', expect.stringMatching(/is being sent or voided at this moment. Try again/)],
      ])
      expect(bill.bill).toMatchObject({ entries: ENTRIES, subtotal: BigInt(ENTRIES) * 100n })
      // What the session used since is on the next bill.
      expect((await bills.send(NOVEMBER, sending)).bill.bill).toMatchObject({ entries: 1, subtotal: 200n })
    })

    test('starts over if an entry changes before it is claimed, without a gap in the numbers', async () => {
      const { db, bills, others, interrupt, first, usage, numbers } = await stage(open)
      const { data } = await others.entries.listing.listEntries(
        EVERYTHING,
        readListQuery({ session_id: `session ${ENTRIES - 1}` }, 'UTC'),
      )
      const seen: unknown[] = []
      interrupt(
        {
          before: PORTIONS + 1,
          run: () => others.entries.approval.decideEntry(data[0]!.id, { action: 'reject', reason: 'no' }, OPERATOR),
        },
        { before: PORTIONS + 2, run: async () => seen.push((await first()).status) },
      )
      const { bill } = await bills.send(NOVEMBER, sending)
      expect(seen).toEqual(['submitted'])
      expect(bill.bill).toMatchObject({ number: '2026-0001', entries: ENTRIES - 1 })
      expect(await usage()).toEqual({ billed: ENTRIES - 1, rejected: 1 })
      expect(await numbers()).toEqual(['2026-0001'])
      const { bills: table, billEntries } = db.read.tables
      expect(await db.read.select({ id: table.id }).from(table)).toHaveLength(1)
      expect(await db.read.select({ id: billEntries.entryId }).from(billEntries)).toHaveLength(ENTRIES - 1)
    })

    test('releases its entries if it fails', async () => {
      const { db, bills, others, interrupt, usage, numbers } = await stage(open)
      interrupt({ before: PORTIONS + 2, run: () => Promise.reject(new Error('disk')) })
      await expect(bills.send(NOVEMBER, sending)).rejects.toThrow('disk')
      expect([await usage(), await numbers()]).toEqual([{ submitted: ENTRIES }, []])
      const { bills: table } = db.read.tables
      expect(await db.read.select({ id: table.id }).from(table)).toEqual([])
      interrupt()
      expect((await bills.send(NOVEMBER, sending)).bill.bill.number).toBe('2026-0001')
      expect([await others.bills.verify(), await others.entries.verify()]).toEqual([[], []])
    })

    test('is released by another process if this one stops', async () => {
      const { bills, others, time, interrupt, usage, first, numbers } = await stage(open)
      const stopped = () => Promise.reject(new Error('killed'))
      // It neither goes on nor cleans up.
      interrupt(...Array.from({ length: 9 }, (_, index) => ({ before: PORTIONS + 1 + index, run: stopped })))
      await expect(bills.send(NOVEMBER, sending)).rejects.toThrow('killed')
      expect([(await first()).status, await numbers(), await others.bills.verify()]).toEqual(['submitted', [], []])
      time.now += LATER_MS
      expect(await usage()).toEqual({ submitted: ENTRIES })
      expect((await others.bills.send(NOVEMBER, sending)).bill.bill).toMatchObject({
        number: '2026-0001',
        entries: ENTRIES,
      })
      expect([await others.bills.verify(), await others.entries.verify()]).toEqual([[], []])
    })

    test('leaves its entries to the process that took it over', async () => {
      const { bills, others, time, interrupt, usage, numbers } = await stage(open)
      let meanwhile: unknown
      interrupt({
        before: PORTIONS + 1,
        run: async () => {
          time.now += LATER_MS
          meanwhile = (await others.bills.send(NOVEMBER, sending)).bill.bill.number
        },
      })
      await expect(bills.send(NOVEMBER, sending)).rejects.toMatchObject({ code: 'nothing_to_bill' })
      expect([meanwhile, await numbers(), await usage()]).toEqual(['2026-0001', ['2026-0001'], { billed: ENTRIES }])
      expect([await others.bills.verify(), await others.entries.verify()]).toEqual([[], []])
    })

    test('is sent once by two processes at once, and with one Idempotency-Key', async () => {
      const { db, bills, others, numbers, usage } = await stage(open)
      const another = servicesOf(await open({ sharing: db }), { now: () => NOW })
      const key = { userId: 1, key: 'once', bodyHash: createHash('sha256').update('body').digest() }
      const senders = [bills, others.bills, another.bills, bills, others.bills, another.bills]
      const results = await Promise.allSettled([
        ...senders.map((sender) => sender.send(NOVEMBER, sending)),
        another.bills.send({ ...NOVEMBER, project: 'WEB' }, sending),
      ])
      const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
      expect(codes).toEqual(Array.from({ length: results.length - 1 }, () => 'nothing_to_bill'))
      expect([await numbers(), await usage()]).toEqual([['2026-0001'], { billed: ENTRIES }])

      await others.bills.voidBill('2026-0001', { reason: 'again' }, TALLY)
      const keyed = [bills, another.bills].map((sender) => sender.send(NOVEMBER, { by: TALLY, key }))
      const sent = await Promise.all(keyed)
      expect(new Set(sent.map(({ bill }) => bill.bill.number))).toEqual(new Set(['2026-0002']))
    })
  })

  describe('while it is voided', () => {
    test('has entries that are what they were before it, and can be billed again', async () => {
      const { bills, others, interrupt, usage, first } = await stage(open)
      const before = await first()
      const { bill } = await bills.send(NOVEMBER, sending)
      // Voiding renders the list of entries first.
      await bills.renderBill(bill.bill.number, 'entries-csv')
      const during: unknown[] = []
      const waiting: Promise<unknown>[] = []
      interrupt({
        before: 3,
        run: async () => {
          const { data } = await others.entries.listing.listEntries(
            EVERYTHING,
            readListQuery({ session_id: `session ${ENTRIES - 1}` }, 'UTC'),
          )
          during.push((await others.bills.getBill(bill.bill.number)).bill.state, data[0]!.status, data[0]!.bill)
          during.push(await others.bills.verify(), await others.entries.verify())
          waiting.push(usage())
          await Bun.sleep(50)
        },
      })
      await bills.voidBill(bill.bill.number, { reason: 'Wrong client' }, TALLY)
      expect(during).toEqual(['void', 'submitted', null, [], []])
      expect(await Promise.all(waiting)).toEqual([{ submitted: ENTRIES }])
      expect(await first()).toMatchObject({ status: before.status, bill: null })
      expect((await bills.send(NOVEMBER, sending)).bill.bill.entries).toBe(ENTRIES)
      expect([await others.bills.verify(), await others.entries.verify()]).toEqual([[], []])
    })

    test.each(['voided', 'credited'])('or %s, that is completed by another process if this one stops', async (how) => {
      const { bills, others, time, interrupt, usage, first } = await stage(open)
      const { bill } = await bills.send(NOVEMBER, sending)
      const { number } = bill.bill
      if (how === 'credited') await bills.payBill(number, {}, sending)
      await bills.renderBill(number, 'entries-csv')
      const stopped = () => Promise.reject(new Error('killed'))
      interrupt(...Array.from({ length: 9 }, (_, index) => ({ before: 3 + index, run: stopped })))
      const change =
        how === 'credited'
          ? bills.creditBill(number, { release: true }, TALLY)
          : bills.voidBill(number, { reason: 'Wrong client' }, TALLY)
      await expect(change).rejects.toThrow('killed')
      expect([await first(), await others.bills.verify()]).toMatchObject([{ status: 'submitted', bill: null }, []])
      time.now += LATER_MS
      const { errors, stop } = runJobs([others.entries.billing.job])
      await stop()
      expect(errors).toEqual([])
      expect(await usage()).toEqual({ submitted: ENTRIES })
      expect([await others.bills.verify(), await others.entries.verify()]).toEqual([[], []])
    })
  })
})
