/** Shares of plans in the database: what is calculated when, what is written, and what a crash leaves. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Database } from '../../../src/database/database.ts'
import { createAllocation } from '../../../src/features/funding/allocation-job.ts'
import { findInconsistentShares } from '../../../src/features/funding/integrity.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addPlan, endPlan } from '../../support/plans.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 28)
const DOLLAR = 1_000_000_000n

async function contentOf(db: Database) {
  const { planPeriods: p, planShares: s, planGenerations: g } = db.read.tables
  return {
    periods: await db.read.select().from(p).orderBy(p.planId, p.firstDay),
    shares: await db.read.select().from(s).orderBy(s.entryId, s.generationId),
    generations: await db.read.select().from(g),
  }
}

forEachEngine('the job of allocation', (open) => {
  async function start() {
    const db = await open()
    const clock = { at: NOW, now: () => clock.at }
    const services = createServices({ db, clock })
    const ada = await addReporter(services.people)
    const report = async (dollars: number, changes: Record<string, unknown> = {}) => {
      const body = reportBody({ reported_cost: dollars, tokens: { input: dollars * 1_000, output: 0 }, ...changes })
      const { entries } = (await services.entries.reporting.reportEntry(body, ada)) as never as {
        entries: { id: string }[]
      }
      return entries
    }
    const weighByTokens = () =>
      db.write(async (tx) => void (await tx.update(tx.tables.planVersions).set({ weight: 'tokens' })))
    const run = async () => {
      await services.entries.funding.decideOwed()
      await services.funding.calculateOwed()
    }
    const feesOf = async () => {
      const { periods, shares } = await contentOf(db)
      const current = new Set(periods.map(({ generationId }) => generationId))
      return shares.filter(({ generationId }) => current.has(generationId)).map(({ fee }) => fee / (DOLLAR / 100n))
    }
    return { db, clock, services, ada, report, weighByTokens, run, feesOf }
  }

  test('without plans, nothing is marked and nothing is written', async () => {
    const { db, services, report } = await start()
    await report(1)
    const totals = services.jobs.find(({ options }) => options.name === 'totals')!
    await totals.options.run({ signal: new AbortController().signal, pause() {} } as never)
    await services.funding.calculateOwed()
    expect(await db.read.select().from(db.read.tables.unallocatedHours)).toEqual([])
    expect(await contentOf(db)).toEqual({ periods: [], shares: [], generations: [] })
  })

  test('a fee is shared, and equal shares write no generation', async () => {
    const { db, report, run, feesOf, weighByTokens, services } = await start()
    await addPlan(db, { name: 'Max', from: '2026-10-17' })
    await weighByTokens()
    for (const dollars of [30, 50, 20]) await report(dollars)
    await run()
    expect(await feesOf()).toEqual([3_000n, 5_000n, 2_000n])
    const before = await contentOf(db)
    expect(before.periods).toMatchObject([
      {
        firstDay: '2026-11-17',
        lastDay: '2026-12-16',
        fee: 100n * DOLLAR,
        unused: 0n,
        pending: 0n,
        entries: 3,
        changes: 0,
      },
    ])
    expect(await findInconsistentShares(db.read)).toEqual([])
    await run()
    expect((await contentOf(db)).generations).toEqual(before.generations)
    await report(100)
    await run()
    expect(await feesOf()).toEqual([1_500n, 2_500n, 1_000n, 5_000n])
    const [entry] = await db.read.select().from(db.read.tables.entries).limit(1)
    const decision = { action: 'void' as const, reason: 'twice' }
    await services.entries.approval.decideEntry(entry!.uid, decision, OPERATOR)
    await run()
    expect(await feesOf()).toHaveLength(3)
    expect(await findInconsistentShares(db.read)).toEqual([])
  })

  test('a period is calculated again after a rest only, unless somebody asks', async () => {
    const { db, clock, report, run, services, weighByTokens } = await start()
    await addPlan(db, { name: 'Max', from: '2026-10-17' })
    await weighByTokens()
    await report(30)
    await run()
    await report(50)
    const turn = { signal: new AbortController().signal, pause() {} } as never
    const jobs = ['totals', 'allocation'].map((name) => services.jobs.find(({ options }) => options.name === name)!)
    const runJobs = async () => {
      for (const job of jobs) await job.options.run(turn)
    }
    await runJobs()
    expect((await contentOf(db)).periods).toMatchObject([{ entries: 1 }])
    clock.at += 3_600_000
    await runJobs()
    expect((await contentOf(db)).periods).toMatchObject([{ entries: 2, changes: 0 }])
    expect((await contentOf(db)).generations).toHaveLength(1)
  })

  test('a change of the terms moves entries to other periods', async () => {
    const { db, report, run, weighByTokens } = await start()
    await addPlan(db, { name: 'Max', from: '2026-10-17' })
    await weighByTokens()
    await report(30)
    await report(70, { started_at: '2026-11-25T10:00:00Z', ended_at: '2026-11-25T11:00:00Z' })
    await run()
    await db.write(async (tx) => {
      const [version] = await tx.select().from(tx.tables.planVersions)
      await tx.insert(tx.tables.planVersions).values({ ...version!, fromDay: '2026-11-24', fee: 200n * DOLLAR })
    })
    await run()
    expect((await contentOf(db)).periods).toMatchObject([
      { firstDay: '2026-11-17', lastDay: '2026-11-23', fee: 100n * DOLLAR, entries: 1, pending: 0n },
      { firstDay: '2026-11-24', lastDay: '2026-12-23', fee: 200n * DOLLAR, entries: 1, pending: 0n },
    ])
    await db.write(async (tx) => {
      const { planVersions } = tx.tables
      await tx.delete(planVersions).where(eq(planVersions.fromDay, '2026-11-24'))
    })
    await run()
    expect((await contentOf(db)).periods).toMatchObject([
      { firstDay: '2026-11-17', lastDay: '2026-12-16', entries: 2, changes: 0 },
      { firstDay: '2026-12-17', entries: 0, unused: 100n * DOLLAR, changes: 0 },
    ])
    await endPlan(db, 'Max', '2026-11-22')
    await run()
    expect((await contentOf(db)).periods).toMatchObject([{ firstDay: '2026-11-17', lastDay: '2026-11-22', entries: 1 }])
    expect(await findInconsistentShares(db.read)).toEqual([])
  })

  test('whatever a report counts, its charge fits, and others have theirs', async () => {
    const { db, report, run, weighByTokens } = await start()
    await addPlan(db, { name: 'Max', from: '2026-10-17' })
    await weighByTokens()
    await db.write(async (tx) => {
      const terms = { allowance: 300n, allowanceUnit: 'requests' as const, overagePrice: DOLLAR / 25n }
      await tx.update(tx.tables.planVersions).set(terms)
    })
    await report(1, { requests: 400 })
    await report(1, { requests: 1_000_000_000_000, started_at: '2026-11-20T10:30:00Z' })
    await run()
    expect((await contentOf(db)).shares.map(({ charge }) => charge)).toEqual([4n * DOLLAR, 3_999_999_996n * DOLLAR])
    expect(await findInconsistentShares(db.read)).toEqual([])
  })

  test('a process that ends while it writes leaves what counted before, and the next one removes the rest', async () => {
    const { db, clock, report, run, feesOf, weighByTokens, services } = await start()
    await addPlan(db, { name: 'Max', from: '2026-10-17' })
    await weighByTokens()
    await report(30)
    await run()
    await report(70)
    let writes = 0
    // Fails at each write in turn, as if the process had ended there.
    for (let failing = 1; ; failing += 1) {
      writes = 0
      const broken = {
        ...db,
        read: db.read,
        slow: db.slow,
        slowly: db.slowly.bind(db),
        write: (body: never, options: never) => {
          writes += 1
          if (writes === failing) throw new Error('ended')
          return db.write(body, options)
        },
      } as unknown as Database
      const ended = await createAllocation({ db: broken, clock })
        .calculateOwed()
        .then(
          () => false,
          () => true,
        )
      const fees = await feesOf()
      expect([[10_000n], [3_000n, 7_000n]]).toContainEqual(fees)
      if (!ended) break
      expect(fees).toEqual([10_000n])
      clock.at += 3_600_000
    }
    expect(await feesOf()).toEqual([3_000n, 7_000n])
    expect(writes).toBeGreaterThan(2)
    const job = services.jobs.find(({ options }) => options.name === 'allocation')!
    await job.options.run({ signal: new AbortController().signal, pause() {} } as never)
    const { generations, shares } = await contentOf(db)
    expect(generations).toHaveLength(1)
    expect(shares.map(({ generationId }) => generationId)).toEqual(shares.map(() => generations[0]!.id))
    expect(await findInconsistentShares(db.read)).toEqual([])
  })

  test('two servers that calculate at once do not lose or double shares', async () => {
    const { db, clock, report, feesOf, services, weighByTokens } = await start()
    await addPlan(db, { name: 'Max', from: '2026-10-17' })
    await weighByTokens()
    for (const dollars of [30, 50, 20]) await report(dollars)
    await services.entries.funding.decideOwed()
    const other = createAllocation({ db, clock })
    await Promise.all([services.funding.calculateOwed(), other.calculateOwed(), other.calculateOwed()])
    expect(await feesOf()).toEqual([3_000n, 5_000n, 2_000n])
    expect(await findInconsistentShares(db.read)).toEqual([])
  })
})
