/**
 * Whatever is reported, late, voided, billed, divided and changed in whatever order, and whenever periods are closed and reopened:
 * fees equal what became of them, and after settlement every person, project and ticket has what it should have.
 */
import { expect, test } from 'bun:test'
import { and, asc, eq, isNotNull, notInArray } from 'drizzle-orm'
import fc from 'fast-check'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database, Tx } from '../../../src/database/database.ts'
import { FEE_WEIGHTS, UNCOUNTED_STATUSES } from '../../../src/database/schema/values.ts'
import { Problem } from '../../../src/errors.ts'
import { readListQuery } from '../../../src/features/entries/contract.ts'
import { calculatePeriods } from '../../../src/features/funding/allocation-task.ts'
import { findInconsistentShares } from '../../../src/features/funding/integrity.ts'
import { createServices } from '../../../src/services.ts'
import { billRow } from '../../support/bills.ts'
import { forEachEngine, type Open } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const PEOPLE = ['Ada', 'Bob', 'Eve'] as const
const PROJECTS = ['A', 'B'] as const
/** Days of three periods of the plan and of one that runs. */
const DAYS = [
  '2026-08-20',
  '2026-09-05',
  '2026-09-16',
  '2026-09-17',
  '2026-09-20',
  '2026-10-10',
  '2026-10-20',
  '2026-11-10',
  '2026-11-20',
] as const
const PERIODS = ['2026-08-17', '2026-09-17', '2026-10-17'] as const

const at = fc.nat(50)
const period = fc.constantFrom(...PERIODS)
const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('report' as const),
      who: fc.constantFrom(...PEOPLE),
      on: fc.constantFrom(...DAYS),
      hour: fc.constantFrom('00', '10', '23'),
      project: fc.option(fc.constantFrom(...PROJECTS), { nil: undefined }),
      session: fc.option(fc.nat(3), { nil: undefined }),
      size: fc.integer({ min: 1, max: 50 }),
      cost: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('close' as const), period }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('reopen' as const), period }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('void' as const), at }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('restore' as const), at }) },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('bill' as const), at, basis: fc.constantFrom('marginal', 'allocated') }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('void bill' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('divide' as const), at, share: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('undivide' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('move' as const), at, project: fc.constantFrom(...PROJECTS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('change' as const),
      from: fc.constantFrom('2026-09-17', '2026-10-01', '2026-11-01', '2026-11-17'),
      fee: fc.integer({ min: 0, max: 100 }),
      seats: fc.integer({ min: 1, max: 4 }),
      pooled: fc.boolean(),
      weight: fc.constantFrom(...FEE_WEIGHTS),
      prorate: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('end' as const),
      on: fc.constantFrom(null, '2026-09-16', '2026-10-16', '2026-11-16', '2026-11-20'),
      prorate: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('zone' as const),
      zone: fc.constantFrom('UTC', 'Asia/Tokyo', 'America/Lima'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('merge' as const) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('calculate' as const) }) },
)
type Act = typeof act extends fc.Arbitrary<infer Each> ? Each : never

async function stage(open: Open) {
  const db = await open()
  const clock = { at: Date.UTC(2026, 10, 28), now: () => clock.at }
  const services = createServices({ db, clock })
  const { entries, plans, people, projects } = services
  for (const key of PROJECTS) await projects.addProject(OPERATOR, { key } as never)
  const callers = new Map<string, Awaited<ReturnType<typeof addReporter>>>()
  for (const name of PEOPLE) callers.set(name, await addReporter(people, { name }))
  const terms = { fee: 100, seats: 2, allowance: 100, allowance_unit: 'tokens', overage_price: 0.01 }
  await plans.addPlan({ vendor: 'V', product: 'Max', from: '2026-08-17', ...terms } as never, OPERATOR)

  const listed = () => db.read.select().from(db.read.tables.entries).orderBy(asc(db.read.tables.entries.id))

  /** As if a bill by this basis had been sent for the entry. */
  async function bill(tx: Tx, id: number, basis: 'marginal' | 'allocated'): Promise<void> {
    const { bills, billEntries, entries: e, planShares: s, planPeriods: p } = tx.tables
    const [share] = await tx
      .select({ fee: s.fee, charge: s.charge })
      .from(s)
      .innerJoin(p, eq(p.generationId, s.generationId))
      .where(eq(s.entryId, id))
    if (!share) return
    const [entry] = await tx.select().from(e).where(eq(e.id, id))
    const [row] = await tx
      .insert(bills)
      .values(billRow({ basis, provisional: true }))
      .returning()
    await tx.insert(billEntries).values({
      billId: row!.id,
      entryId: id,
      line: 1,
      statusBefore: entry!.status as 'submitted',
      charge: share.charge,
      fee: basis === 'allocated' ? share.fee : null,
    })
    await tx.update(e).set({ status: 'billed', billId: row!.id }).where(eq(e.id, id))
  }

  async function carryOut(given: Act): Promise<void> {
    const { entries: e, bills } = db.read.tables
    if (given.what === 'report') {
      const { who, on, hour, project, session, size, cost } = given
      const body = reportBody({
        started_at: `${on}T${hour}:00:00Z`,
        ended_at: `${on}T${hour}:${String(size).padStart(2, '0')}:00Z`,
        tokens: { input: size, output: 0 },
        ...(cost !== undefined && { reported_cost: cost }),
        ...(project && { project }),
        ...(session !== undefined && { session_id: `${who}${on}${session}` }),
      })
      await entries.reporting.reportEntry(body, callers.get(who)!)
      return
    }
    if (given.what === 'close') {
      await plans.closePeriod('Max', given.period, { leave_unpriced: true }, OPERATOR)
      return
    }
    if (given.what === 'reopen') {
      await plans.reopenPeriod('Max', given.period, { reason: 'again' }, OPERATOR)
      return
    }
    if (given.what === 'calculate') return services.funding.calculateOwed()
    if (given.what === 'end') {
      await plans.endPlan('Max', { on: given.on, ...(given.on !== null && { prorate: given.prorate }) }, OPERATOR)
      return
    }
    if (given.what === 'zone') {
      await services.organization.changeSettings({ timeZone: given.zone }, OPERATOR.by)
      return
    }
    if (given.what === 'merge') {
      await entries.places.mergeProject(OPERATOR, 'A', 'B', {})
      return
    }
    if (given.what === 'change') {
      const { what: _, ...change } = given
      await plans.changePlan('Max', change, OPERATOR)
      return
    }
    if (given.what === 'void bill') {
      const all = await db.read.select().from(bills).where(eq(bills.state, 'sent'))
      const chosen = all[given.at % all.length]
      if (!chosen) return
      await db.write(async (tx) => {
        await tx.update(bills).set({ state: 'void', voidedAt: 1, voidReason: 'x' }).where(eq(bills.id, chosen.id))
        await tx.update(e).set({ status: 'approved', billId: null }).where(eq(e.billId, chosen.id))
      })
      return
    }
    const all = await listed()
    const entry = all[given.at % all.length]
    if (!entry) return
    if (given.what === 'bill') {
      if (entry.status !== 'submitted' && entry.status !== 'approved') return
      await entries.funding.decideOwed()
      await services.funding.calculateOwed()
      await db.write((tx) => bill(tx, entry.id, given.basis as 'marginal'))
    } else if (given.what === 'divide') {
      const parts = [{ share: given.share }, { share: 1, project: 'B' }]
      await entries.division.divide(entry.uid, { parts }, OPERATOR)
    } else if (given.what === 'undivide') await entries.division.undivide(entry.uid, OPERATOR)
    else if (given.what === 'move') {
      await entries.places.placeEntries({ ids: [entry.uid] } as never, { project: given.project }, OPERATOR)
    } else {
      const decision = given.what === 'void' ? { action: 'void', reason: 'x' } : { action: 'restore' }
      await entries.approval.decideEntry(entry.uid, decision as never, OPERATOR)
    }
  }

  return { db, services, carryOut, clock }
}

/** Calculates everything, until equal shares mark nothing. */
async function settled({ db, services }: Awaited<ReturnType<typeof stage>>): Promise<void> {
  const totals = services.jobs.find(({ options }) => options.name === 'totals')!
  await services.entries.funding.decideOwed()
  do {
    await totals.options.run({ signal: new AbortController().signal, pause() {} } as never)
    await services.funding.calculateOwed()
  } while ((await db.read.select().from(db.read.tables.staleHours)).length > 0)
}

/** The shares that count, with their entries. */
async function sharesOf(db: Database) {
  const { planShares: s, planPeriods: p, entries: e, planCorrections: c } = db.read.tables
  return db.read
    .select({ share: s, period: p, entry: e, correction: c })
    .from(s)
    .innerJoin(p, eq(p.generationId, s.generationId))
    .innerJoin(e, eq(e.id, s.entryId))
    .leftJoin(c, eq(c.entryId, e.id))
    .orderBy(asc(s.entryId))
}

async function expectSums({ db, services }: Awaited<ReturnType<typeof stage>>): Promise<void> {
  expect(await findInconsistentShares(db.read)).toEqual([])
  const { planCorrections: c, entries: e, bills, billEntries } = db.read.tables
  const shares = await sharesOf(db)
  const counted = notInArray(e.status, [...UNCOUNTED_STATUSES])
  const corrections = await db.read.select({ c, e }).from(c).innerJoin(e, eq(e.id, c.entryId)).where(counted)
  const ledger = await services.plans.readLedger({ from: '2026-08-17', to: '2026-12-31' })
  expect(ledger.fee_usd).toBeCloseTo(ledger.allocated + ledger.unused + ledger.pending, 8)
  for (const period of await db.read.select().from(db.read.tables.planPeriods)) {
    const own = shares.filter(({ share, correction }) => share.generationId === period.generationId && !correction)
    const from = corrections.filter(({ c: { ofFirstDay } }) => ofFirstDay === period.firstDay)
    let sum = period.unused + period.pending
    for (const { share } of own) sum += share.fee
    for (const { c: correction } of from) sum += correction.fee
    expect([period.firstDay, sum]).toEqual([period.firstDay, period.fee])
    for (const { share } of own) expect(share.fee >= 0n && share.charge >= 0n).toBe(true)
  }
  // What its entries cost is the total of their list, and with the corrections what is allocated.
  const nanos = (amount: number) => BigInt(Math.round(amount * 1e9))
  for (const { allocated, entries_cost, charge, corrections, entries_url } of ledger.data) {
    const query = readListQuery({ ...parametersOf(entries_url), limit: '100' }, 'UTC')
    const { data } = await services.entries.listing.listEntries(EVERYTHING, query)
    expect(data.reduce((sum, { cost }) => sum + nanos(cost ?? 0), 0n)).toBe(nanos(entries_cost))
    expect(nanos(entries_cost) - nanos(charge) + nanos(corrections)).toBe(nanos(allocated))
  }
  // Each correction that counts has its share, once.
  const ofCorrections = shares
    .filter(({ correction }) => correction)
    .map(({ share: { entryId, fee } }) => [entryId, fee])
  expect(ofCorrections).toEqual(
    corrections.map(({ c: { entryId, fee } }) => [entryId, fee] as [number, bigint]).sort(([a], [b]) => a - b),
  )
  // What was billed stays.
  const frozen = await db.read
    .select({ entryId: billEntries.entryId, fee: billEntries.fee, charge: billEntries.charge })
    .from(billEntries)
    .innerJoin(bills, and(eq(bills.id, billEntries.billId), eq(bills.state, 'sent')))
    .where(isNotNull(billEntries.charge))
  for (const { entryId, fee, charge } of frozen) {
    const found = shares.filter(({ share }) => share.entryId === entryId)
    expect(found.length).toBeLessThanOrEqual(1)
    for (const { share } of found) expect([share.charge, fee ?? share.fee]).toEqual([charge!, share.fee])
  }
}

function parametersOf(url: string): Record<string, string | string[]> {
  const { searchParams } = new URL(url, 'http://localhost')
  return Object.fromEntries(
    [...searchParams].map(([name, value]) => [name, name === 'status' ? searchParams.getAll(name) : value]),
  )
}

/** The fees of the shares of closed periods. */
async function closedFees(db: Database): Promise<bigint> {
  const closed = (await sharesOf(db)).filter(({ period }) => period.closedAt !== null)
  return closed.reduce((sum, { share }) => sum + share.fee, 0n)
}

const report = {
  what: 'report',
  who: 'Ada',
  on: '2026-08-20',
  hour: '10',
  size: 10,
  session: undefined,
  cost: 1,
} as const
/** Those that chance rarely gives. */
const HELD: [Act[]][] = [
  // Shares of a closed period that are divided.
  [
    [
      { ...report, project: 'A' },
      { what: 'close', period: '2026-08-17' },
      { what: 'divide', at: 0, share: 2 },
      { what: 'undivide', at: 0 },
    ],
  ],
  // A share that was billed, before the others change.
  [
    [
      { ...report, project: 'A' },
      { what: 'bill', at: 0, basis: 'allocated' },
      { ...report, project: 'B' },
      { what: 'close', period: '2026-08-17' },
    ],
  ],
  // A correction that is voided.
  [
    [
      { what: 'close', period: '2026-08-17' },
      { ...report, project: 'A' },
      { what: 'close', period: '2026-09-17' },
      { what: 'void', at: 1 },
    ],
  ],
]

/** Right after closing: each group has what it should have, and settling once more adds nothing. */
async function expectSettled(db: Database): Promise<void> {
  const { planPeriods: p } = db.read.tables
  const closed = await db.read.select().from(p).where(isNotNull(p.closedAt)).orderBy(asc(p.firstDay))
  for (const each of await calculatePeriods(db.read, closed)) {
    if (each.shares === undefined) throw new Error('A closed period is gone.')
    expect([each.firstDay, each.record.closedAt !== null, each.differences, each.late]).toEqual([
      each.firstDay,
      true,
      [],
      [],
    ])
  }
}

forEachEngine('closing in any order', (open) => {
  test('fees are what became of them, and settlement leaves nothing open', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 25 }), async (acts) => {
        const scene = await stage(open)
        for (const each of acts) {
          const before = await closedFees(scene.db)
          const done = await scene.carryOut(each).then(
            () => true,
            (error) => {
              if (error instanceof Problem && error.status < 500) return false
              throw error
            },
          )
          // Divided, a share of a closed period is the same in sum.
          if (each.what === 'divide' || each.what === 'undivide') expect(await closedFees(scene.db)).toBe(before)
          // Of the period that was closed, and of those before it.
          if (each.what === 'close' && done) {
            await settled(scene)
            await expectSums(scene)
            const { planPeriods: p } = scene.db.read.tables
            const later = await scene.db.read.select().from(p).where(isNotNull(p.closedAt))
            if (later.every(({ firstDay }) => firstDay <= each.period)) await expectSettled(scene.db)
          }
        }
        await settled(scene)
        await expectSums(scene)
      }),
      { numRuns: runs(100, 12) + HELD.length, examples: HELD },
    )
    // On PostgreSQL, a hundred take minutes.
  }, 900_000)
})
