import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { BillDocument } from '../../../src/features/bills/schema.ts'
import { createBillsService } from '../../../src/features/bills/service.ts'
import { createLeases } from '../../../src/features/entries/billing/lease.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { createServices } from '../../../src/services.ts'
import { type Engine, forEachEngine, type Open } from '../../support/databases.ts'
import { runJobs } from '../../support/jobs.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11' }
const ENTRIES = 9
const PROJECTS = ['WEB', 'API']

/** After this, a lease that is not renewed has expired. */
const LATER_MS = 60_000

/** What may happen before any write of a bill. */
const ACTIONS = ['nothing', 'report', 'move', 'approve', 'reject', 'withdraw', 'merge', 'bill', 'void', 'stop'] as const
type Action = (typeof ACTIONS)[number]

class Stopped extends Error {}

async function stage(open: Open) {
  const db = await open()
  const time = { now: NOW }
  const clock = { now: () => time.now }
  const services = createServices({ db, clock })
  /** A process that sends bills in portions of a few entries. */
  const processOf = (write: Database['write']) => {
    const own = { ...db, write }
    const { events, audit, projects, entries, funding } = createServices({ db: own, clock })
    const billing = { ...entries.billing, ...createLeases({ db: own, clock, portion: 3 }) }
    return createBillsService({ db: own, clock, events, audit, projects, entries: { billing }, funding })
  }
  const caller = await addReporter(services.people)
  const report = async (at: number, cost: number) => {
    const { entry } = await services.entries.reporting.reportEntry(
      reportBody({
        model: 'no-such-model',
        project: PROJECTS[at % 2],
        reported_cost: cost,
        tokens: { input: cost * 10, output: cost },
        session_id: `session ${at}`,
      }),
      caller,
    )
    return entry.id
  }
  const ids: string[] = []
  for (let at = 0; at < ENTRIES; at += 1) ids.push(await report(at, 1))
  return { db, time, services, processOf, report, ids, other: processOf(db.write) }
}

/** Sends and voids a bill while these things happen, and a second one afterwards. */
async function sendMeanwhile(open: Open, actions: readonly [Action, number][]) {
  const staged = await stage(open)
  const { db, time, services, processOf, report, ids, other } = staged
  const { entries } = services
  const decide = (at: number, action: 'approve' | 'reject' | 'withdraw_approval') =>
    entries.approval.decideEntry(ids[at]!, { action, ...(action === 'reject' && { reason: 'no' }) }, OPERATOR)
  const voidLast = async () => {
    const [last] = await other.billRows.list({}, { after: undefined, limit: 1 })
    if (last) await other.voidBill(last.head.number, { reason: 'wrong' }, TALLY)
  }
  let cost = 1
  const run: Record<Action, (at: number) => Promise<unknown>> = {
    nothing: async () => undefined,
    report: (at) => {
      cost += 1
      return report(at, cost)
    },
    move: (at) => entries.places.changeEntry(ids[at]!, { project: PROJECTS[(at + 1) % 2]! }, OPERATOR),
    approve: (at) => decide(at, 'approve'),
    reject: (at) => decide(at, 'reject'),
    withdraw: (at) => decide(at, 'withdraw_approval'),
    merge: () => entries.places.mergeProject(OPERATOR, 'API', 'WEB', {}),
    bill: async () => {
      time.now += LATER_MS
      await other.send({ ...NOVEMBER, project: 'WEB' }, { by: TALLY })
    },
    void: async () => {
      time.now += LATER_MS
      await voidLast()
    },
    stop: () => Promise.reject(new Stopped()),
  }
  const left = [...actions]
  let isStopped = false
  const sender = processOf(async (body, options) => {
    const [action, at] = left.shift() ?? ['nothing', 0]
    isStopped ||= action === 'stop'
    if (isStopped) throw new Stopped()
    await run[action](at).catch(() => undefined)
    return db.write(body, options)
  })
  await sender.send(NOVEMBER, { by: TALLY }).catch(() => undefined)
  await voidLast().catch(() => undefined)
  time.now += LATER_MS
  await runJobs([entries.billing.job]).stop()
  await other.send(NOVEMBER, { by: TALLY }).catch(() => undefined)
  return staged
}

async function expectConsistent({ db, services }: Awaited<ReturnType<typeof stage>>) {
  const { bills, entries, reports } = services
  expect([await bills.verify(), await entries.verify()]).toEqual([[], []])
  const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '100' }, 'UTC'))
  const costOf = (some: typeof data) => some.reduce((sum, { cost }) => sum + Number(cost), 0)
  const sent = await bills.billRows.list({}, { after: undefined, limit: 100 })
  const numbers = sent.map(({ head }) => head.number).reverse()
  expect(numbers).toEqual(numbers.map((_, index) => `2026-${String(index + 1).padStart(4, '0')}`))
  for (const {
    view: { bill },
  } of sent) {
    const own = data.filter((entry) => entry.bill?.number === bill.number)
    const document = JSON.parse(await bills.getDocument({ bill } as never)) as BillDocument
    const expected = bill.state === 'void' ? [0, 0] : [document.entries, Number(document.subtotal)]
    expect([bill.number, own.length, costOf(own)]).toEqual([bill.number, ...expected] as never)
  }
  const billed = data.filter(({ status }) => status === 'billed')
  expect(billed.every((entry) => entry.bill !== null)).toBe(true)
  const texts = { group_by: 'status', bucket_width: 'all', starting_at: '2026-11-01', ending_at: '2026-12-01' }
  const usage = await reports.usage(EVERYTHING, await reports.readUsage(texts, COMMAND_LINE))
  const counts = Object.fromEntries(usage.data.flatMap(({ results }) => results.map((of) => [of.status, of.entries])))
  const listed = Object.fromEntries(
    [...Map.groupBy(data, ({ status }) => status)].map(([of, some]) => [of, some.length]),
  )
  expect(counts).toEqual(listed)
  const { bills: table } = db.read.tables
  expect((await db.read.select({ id: table.id }).from(table)).length).toBe(sent.length)
}

const ROUNDS: Record<Engine, number> = { sqlite: 4, postgres: 2 }

forEachEngine('a bill', (open, engine) => {
  test('has what is on it, and everything else is as it was, whatever happens meanwhile', async () => {
    const happening = fc.array(fc.tuple(fc.constantFrom(...ACTIONS), fc.nat(ENTRIES - 1)), {
      minLength: 3,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(happening, async (actions) => {
        await expectConsistent(await sendMeanwhile(open, actions))
      }),
      { numRuns: ROUNDS[engine] },
    )
  })
})
