/** Budgets and transactions that overlap, which only PostgreSQL has. */
import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Database } from '../../../src/database/database.ts'
import { notingChanges } from '../../../src/features/spending/contract.ts'
import { createServices } from '../../../src/services.ts'
import { canOverlap, locationOf, nameOf, opener, rowsAt, startPostgres } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'
import { stageOf } from './stage.ts'

/** Until a number of transactions of a database wait for others. */
async function untilWaiting(db: Database, count: number): Promise<void> {
  const { admin } = await startPostgres()
  for (;;) {
    const [row] = await admin`
      SELECT count(*)::int AS waiting FROM pg_stat_activity
      WHERE datname = ${nameOf(locationOf(db))} AND wait_event_type = 'Lock'`
    if (row!.waiting === count) return
    await Bun.sleep(5)
  }
}

async function deadlocksOf(db: Database): Promise<number> {
  await rowsAt(locationOf(db), 'SELECT pg_stat_force_next_flush()')
  const [row] = await rowsAt(
    locationOf(db),
    'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
  )
  return row!.deadlocks as number
}

describe.skipIf(!canOverlap('postgres'))('budgets on PostgreSQL', () => {
  const open = opener('postgres')

  test('begin periods in two transactions at once without a deadlock', async () => {
    const db = await open()
    const { add, report, spentOf, clock, ada } = await stageOf(db)
    await report({ project: 'OTHER', reported_cost: 0 })
    const budgets = [
      await add({ amount: 10, scope: { project: 'ACME' } }),
      await add({ amount: 10, scope: { project: 'OTHER' } }),
    ]
    clock.moment = Date.UTC(2026, 11, 2)
    const december = { started_at: '2026-12-01T10:00:00Z', ended_at: '2026-12-01T11:00:00Z' }
    const other = createServices({ db: await open({ sharing: db }), clock })
    const holding = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    // Whoever begins a period changes the revision: both wait for it, and then for each other.
    const holder = db.write(async (tx) => {
      await tx.locking(tx.select().from(tx.tables.revision), tx.tables.revision)
      held.resolve()
      await holding.promise
    })
    await held.promise
    const body = { project: 'ACME', reported_cost: 1, ...december }
    const both = other.entries.reporting.reportEntries(
      [reportBody({ ...body, summary: 'one' }), reportBody({ ...body, project: 'OTHER', summary: 'two' })],
      ada,
    )
    await untilWaiting(db, 1)
    const second = report({ ...december, project: 'OTHER', reported_cost: 2, summary: 'three' })
    await untilWaiting(db, 2)
    holding.resolve()
    await Promise.all([holder, both, second])
    expect(await Promise.all(budgets.map(({ id }) => spentOf(id)))).toEqual([1, 3])
    expect(await deadlocksOf(db)).toBe(0)
  })

  test('count what a transaction changed that began before they were added', async () => {
    const db = await open()
    const { add, report, spentOf, clock, budgets } = await stageOf(db)
    const { entry } = await report({ reported_cost: 2 })
    const begun = Promise.withResolvers<void>()
    const added = Promise.withResolvers<void>()
    const other = await open({ sharing: db })
    const change = other.write(async (tx) => {
      const { entries } = tx.tables
      const rows = await tx.select().from(entries)
      const { id } = rows.find(({ uid }) => uid === entry.id)!
      begun.resolve()
      await added.promise
      await notingChanges(tx, [id], async () => {
        await tx.update(entries).set({ reportedCost: 7_000_000_000n }).where(eq(entries.id, id))
      })
    })
    await begun.promise
    const budget = await add({ amount: 10 })
    added.resolve()
    await change
    clock.moment += 5 * 60_000
    await budgets.count()
    expect(await spentOf(budget.id)).toBe(7)
  })
})
