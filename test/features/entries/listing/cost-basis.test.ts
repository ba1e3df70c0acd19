/**
 * What was paid for entries: the same in lists, files and sums of the database, by each basis, whatever pays for them and however
 * far the shares of plans are calculated.
 */
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { usualBasis } from '../../../../src/access/cost-basis.ts'
import { EVERYTHING, type Viewer, viewerOf } from '../../../../src/access/visibility.ts'
import type { FundingKind } from '../../../../src/database/schema/values.ts'
import { readListQuery } from '../../../../src/features/entries/contract.ts'
import { entryColumns } from '../../../../src/features/entries/listing/csv.ts'
import type { ListedTokenEntry } from '../../../../src/features/entries/schema.ts'
import { amountOf } from '../../../../src/features/selection/contract.ts'
import { csvText } from '../../../../src/lib/csv-text.ts'
import { newId } from '../../../../src/lib/id.ts'
import { NANO_DIGITS, parseDecimal } from '../../../../src/lib/money.ts'
import { createServices } from '../../../../src/services.ts'
import { COST_BASES, type CostBasis } from '../../../../src/shared/cost-basis.ts'
import { forEachEngine, type Open } from '../../../support/databases.ts'
import { addPlan, addShares } from '../../../support/plans.ts'
import { reportBody } from '../../../support/reports.ts'
import { runs } from '../../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 28)
const CLOSED_AT = Date.UTC(2026, 10, 25)
const DAY_MS = 86_400_000
/** The moments of the closed period: of nine days with entries, the last five. */
const CLOSED = { startingAt: NOW - DAY_MS * 5, endingAt: NOW }

const nanos = fc.bigInt({ min: 0n, max: 5_000_000_000n })
const signed = fc.bigInt({ min: -5_000_000_000n, max: 5_000_000_000n })
const share = fc.record({ fee: signed, charge: signed })
/**
 * Periods 0 and 1 are of the first plan, of which 0 is closed; 2 is of the other, which charges for cost beyond an allowance;
 * 3 was never calculated.
 */
const entry = fc.record({
  funding: fc.option(fc.constantFrom<FundingKind>('metered', 'plan', 'credits', 'unknown'), { freq: 4 }),
  plan: fc.constantFrom(null, 0, 1),
  reported: fc.option(nanos),
  listed: fc.option(nanos, { freq: 5 }),
  isLate: fc.boolean(),
  isCorrection: fc.boolean(),
  shares: fc.array(fc.record({ period: fc.nat(3), isStale: fc.boolean(), share }), { maxLength: 3 }),
})
type Entry = typeof entry extends fc.Arbitrary<infer Each> ? Each : never

async function stage(open: Open) {
  const db = await open()
  const services = createServices({ db, clock: { now: () => NOW } })
  await services.prices.loadDefaultPrices()
  await services.people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'member' }, TALLY)
  const { secret } = await services.people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
  const caller = (await services.people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  await services.entries.reporting.reportEntry(reportBody({}), caller)
  await addPlan(db, { name: 'Max' })
  await addPlan(db, { name: 'Team' })
  const { listing } = services.entries
  const all = async (viewer: Viewer, texts: Record<string, string> = {}): Promise<ListedTokenEntry[]> => {
    const found: ListedTokenEntry[] = []
    for (let page: string | undefined; ; ) {
      const query = { limit: '7', ...texts, ...(page !== undefined && { page }) }
      const { data, next_page } = await listing.listEntries(viewer, readListQuery(query, 'UTC'))
      found.push(...data)
      if (next_page === null) return found
      page = next_page
    }
  }
  return { db, services, listing, all, caller }
}

/** Entries with what pays for them, and shares of both plans; returns the shares that count. */
async function insert({ db }: Awaited<ReturnType<typeof stage>>, given: readonly Entry[]): Promise<void> {
  const plans = (await db.read.select().from(db.read.tables.plans)).map(({ id }) => id)
  const [template] = await db.read.select().from(db.read.tables.entries)
  await db.write(async (tx) => {
    const { entries, fundings, planCorrections } = tx.tables
    const ids = await tx.reserveIds(entries, given.length)
    for (const [at, { funding, plan, reported, listed, isLate, isCorrection }] of given.entries()) {
      const planId = plan === null || funding === 'metered' || funding === 'unknown' ? null : plans[plan]!
      const kind = funding === 'plan' && planId === null ? 'unknown' : funding
      const [row] = kind
        ? await tx
            .insert(fundings)
            .values({ uid: newId('fnd'), funding: kind, planId, reason: 'report' })
            .returning({ id: fundings.id })
        : []
      await tx.insertAll(entries, [
        {
          ...template!,
          id: ids[at]!,
          uid: newId('ent'),
          sessionId: null,
          chainModelId: null,
          part: null,
          fundingId: row?.id ?? null,
          reportedCost: reported,
          listValue: listed,
          ...(listed === null && { priceId: null, priceStep: null, priceNote: null }),
          startedAt: NOW - DAY_MS * (1 + (at % 9)),
          endedAt: NOW,
          createdAt: isLate ? CLOSED_AT + 1 : CLOSED_AT - 1,
        },
      ])
      if (isCorrection) {
        const of = { planId: plans[0]!, ofFirstDay: '2026-10-01', managerId: template!.managerId }
        await tx.insert(planCorrections).values({ entryId: ids[at]!, ...of, fee: -1n, charge: 0n })
      }
    }
    for (const [period, [plan, firstDay, isClosed]] of PERIODS.entries()) {
      for (const isStale of [true, false]) {
        const shares = given.flatMap((each, at) => {
          const own = each.shares.find((one) => one.period === period && one.isStale === isStale)
          return own ? [{ entryId: ids[at]!, ...own.share }] : []
        })
        await addShares(tx, {
          planId: plans[plan]!,
          firstDay,
          closedAt: isClosed ? CLOSED_AT : null,
          chargesCost: plan === 1,
          range: isClosed ? CLOSED : { startingAt: 0, endingAt: NOW },
          counts: !isStale && period !== 3,
          shares,
        })
      }
    }
  })
}

const PERIODS = [
  [0, '2026-10-01', true],
  [0, '2026-11-01', false],
  [1, '2026-11-01', false],
  [1, '2026-10-01', false],
] as const

/** By the rules alone. */
function expected({ funding, plan, reported, listed, shares }: Entry) {
  const cost = reported ?? listed
  const planAt = funding === 'metered' || funding === 'unknown' || funding === null ? null : plan
  if (planAt === null) {
    const paid = funding === 'metered' || funding === 'credits' ? cost : null
    return { cost, list: listed, marginal: paid, allocated: paid, isProvisional: false }
  }
  // The latest calculation is last.
  const period = [0, 1, 2].findLast(
    (period) => PERIODS[period]![0] === planAt && shares.some((one) => one.period === period && !one.isStale),
  )
  const stored = period === undefined ? undefined : shares.find((one) => one.period === period && !one.isStale)!.share
  const found = planAt === 1 && cost === null ? undefined : stored
  return {
    cost,
    list: listed,
    marginal: found ? found.charge : null,
    allocated: found ? found.fee + found.charge : null,
    isProvisional: period !== 0,
  }
}

/** Of a raw number of JSON. */
const nanosOf = (money: number | null) => (money === null ? null : parseDecimal(JSON.stringify(money), NANO_DIGITS)!)

const amountIn = (one: ListedTokenEntry, basis: CostBasis): number | null =>
  ({
    cost: one.reported_cost ?? one.list_value,
    list: one.list_value,
    marginal: one.marginal_cost,
    allocated: one.allocated_cost,
  })[basis]

forEachEngine('the cost of entries by each basis', (open) => {
  test('is the same in lists, files and sums, sorts them, and is unknown where the filter says so', async () => {
    const property = fc.asyncProperty(fc.array(entry, { minLength: 5, maxLength: 30 }), async (given) => {
      const staged = await stage(open)
      const { db, listing, all } = staged
      await insert(staged, given)
      const { entries } = db.read.tables
      const rows = await db.read.select({ id: entries.id, uid: entries.uid }).from(entries).orderBy(entries.id)
      const uids = rows.slice(1).map(({ uid }) => uid as string)
      const wanted = new Map(given.map((each, at) => [uids[at]!, expected(each)]))
      for (const basis of COST_BASES) {
        const listed = await all(EVERYTHING, { basis })
        expect(listed).toHaveLength(given.length + 1)
        for (const one of listed) {
          expect(nanosOf(one.cost)).toBe(nanosOf(amountIn(one, basis)))
          const known = wanted.get(one.id)
          if (!known) continue
          expect([nanosOf(one.cost), one.provisional]).toEqual([known[basis], known.isProvisional])
          if (known.allocated !== null) {
            expect(nanosOf(one.allocated_cost)).toBe(known.allocated)
            expect(nanosOf(one.fee_share)).toBe(known.allocated - known.marginal!)
          }
        }
        const amount = amountOf(db.read.tables, basis)
        const [sums] = await db.read
          .select({
            cost: sql<bigint | null>`sum(${amount})`.mapWith((sum) => BigInt(sum)),
            known: sql<number>`count(${amount})`.mapWith(Number),
          })
          .from(entries)
        const amounts = [...wanted.values()].flatMap((each) => each[basis] ?? [])
        const [first] = listed.filter(({ id }) => !wanted.has(id))
        const other = nanosOf(first!.cost) ?? 0n
        expect(sums!.known).toBe(amounts.length + Number(first!.cost !== null))
        if (sums!.known > 0) expect(sums!.cost).toBe(amounts.reduce((sum, each) => sum + each, other))

        for (const order of ['asc', 'desc']) {
          const sorted = await all(EVERYTHING, { basis, sort: 'cost', order })
          expect(sorted.map(({ id }) => id).sort()).toEqual(listed.map(({ id }) => id).sort())
          const values = sorted.map(({ cost }) => nanosOf(cost))
          const sign = order === 'asc' ? 1 : -1
          for (const [at, value] of values.entries()) {
            const next = values[at + 1]
            if (next === undefined || next === null) continue
            expect(value).not.toBeNull()
            expect(sign * Number(next - value!)).toBeGreaterThanOrEqual(0)
          }
        }
        const unknown = await all(EVERYTHING, { unknown_cost: basis })
        expect(unknown.map(({ id }) => id).sort()).toEqual(
          listed
            .filter(({ cost }) => cost === null)
            .map(({ id }) => id)
            .sort(),
        )

        const lines = listed.map((one) => ({ ...one, agent_manager_email: 'ada@example.com' }))
        const file = async (format: 'csv' | 'ndjson') =>
          Buffer.concat(await Array.fromAsync(listing.exportFile(EVERYTHING, {}, format, { basis }))).toString()
        expect(await file('csv')).toBe((await Array.fromAsync(csvText(lines, entryColumns(basis)))).join(''))
        expect(await file('ndjson')).toBe(listed.map((one) => `${JSON.stringify(one)}\n`).join(''))
      }
      const hasShare = ({ shares }: Entry) => shares.some(({ period, isStale }) => period === 0 && !isStale)
      const isLate = (each: Entry, at: number) =>
        each.plan === 0 &&
        (each.funding === 'plan' || each.funding === 'credits') &&
        at % 9 < 5 &&
        (each.isLate || !hasShare(each))
      const found = await all(EVERYTHING, { late: 'true' })
      expect(found.map(({ id }) => id as string).sort()).toEqual(uids.filter((_, at) => isLate(given[at]!, at)).sort())
      expect(await all(EVERYTHING, { late: 'false' })).toHaveLength(given.length + 1 - found.length)
      const corrections = await all(EVERYTHING, { correction: 'true' })
      expect(corrections).toHaveLength(given.filter(({ isCorrection }) => isCorrection).length)
      expect(await all(EVERYTHING, { correction: 'false' })).toHaveLength(given.length + 1 - corrections.length)
    })
    await fc.assert(property, { numRuns: runs(6), endOnFailure: true })
  })

  test('shows fees to those who see them only', async () => {
    const staged = await stage(open)
    const { all, caller, db, listing, services } = staged
    const calculated = { period: 1, isStale: false, share: { fee: 3_000_000_000n, charge: 1_000_000_000n } }
    const paid = {
      funding: 'plan',
      plan: 0,
      reported: null,
      listed: 5_000n,
      isLate: false,
      isCorrection: false,
    } as const
    await insert(staged, [{ ...paid, shares: [calculated] }])
    const own = viewerOf(caller.person)
    const costs = ({ cost, marginal_cost, allocated_cost, fee_share, provisional }: ListedTokenEntry) => [
      ...[cost, marginal_cost, allocated_cost, fee_share],
      provisional,
    ]
    const [seen] = await all(EVERYTHING, { funding: 'plan' })
    expect(costs(seen!)).toEqual([0.000005, 1, 4, 3, true])
    const [hidden] = await all(own, { funding: 'plan', basis: 'marginal' })
    expect(costs(hidden!)).toEqual([1, 1, null, null, true])
    const file = await Array.fromAsync(listing.exportFile(own, { funding: ['plan'] }, 'csv'))
    expect(Buffer.concat(file).toString()).toContain(',Max,1,,,true\r\n')
    await expect(all(own, { basis: 'allocated' })).rejects.toMatchObject({ code: 'fees_hidden' })
    await expect(all(own, { basis: 'allocated', sort: 'cost' })).rejects.toMatchObject({ code: 'fees_hidden' })
    const detail = await listing.getEntry(seen!.id, own)
    expect([detail.marginal_cost, detail.allocated_cost]).toEqual([1, null])
    const settings = await services.organization.changeSettings({ costBasis: 'allocated' }, TALLY)
    expect(await usualBasis(db.read, EVERYTHING, settings)).toBe('allocated')
    expect(await usualBasis(db.read, own, settings)).toBe('cost')
  })
})
