/** Which periods of budgets are counted, when, and what follows for roll-over and alerts. */
import { expect, test } from 'bun:test'
import { lt } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR } from '../../support/reports.ts'
import { NOON, stageOf } from './stage.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const at = (day: string) => ({ started_at: `${day}T08:00:00Z`, ended_at: `${day}T09:00:00Z` })

/** Changes entries as code would that forgets to note it. */
async function changeUnnoticed(db: Database, cost: bigint): Promise<void> {
  await db.write((tx) => tx.update(tx.tables.entries).set({ reportedCost: cost }))
}

/** What is stored as spent of each period, the oldest first, in dollars. */
async function storedSums(db: Database): Promise<number[]> {
  const { budgetPeriods: p } = db.read.tables
  const rows = await db.read.select().from(p).orderBy(p.startsAt)
  return rows.map(({ billions, units }) => billions + units / 1e9)
}

forEachEngine('counting budgets', (open) => {
  test('rolls over what was left of all past periods of a new budget', async () => {
    const { add, report, budgets } = await stageOf(await open())
    await report({ reported_cost: 25, ...at('2026-07-10') })
    await report({ reported_cost: 4, ...at('2026-08-10') })
    await report({ reported_cost: 1, ...at('2026-09-10') })
    await report({ reported_cost: 13, ...at('2026-10-10') })
    const budget = await add({ amount: 10, roll_over: true, starts_on: '2026-07-01' })
    // Left are none of July's 10, 6 of August's 10, 15 of September's 16, and 12 of October's 25.
    expect(await budgets.getStatus(budget.id, null)).toMatchObject({ available: 22, rolled_over: 12, complete: true })
  })

  test('keeps what was available in a period that is over', async () => {
    const { add, report, budgets, clock } = await stageOf(await open())
    const budget = await add({ amount: 10, roll_over: true, scope: { project: 'ACME' } })
    clock.moment = Date.UTC(2026, 11, 2)
    await budgets.count()
    clock.moment = Date.UTC(2027, 0, 2)
    await budgets.count()
    expect(await budgets.getStatus(budget.id, null)).toMatchObject({ available: 30 })
    // What is left of November shrinks, of which December had 10 more than its amount.
    await report({ reported_cost: 7, ...at('2026-11-25') })
    clock.moment += 8 * DAY_MS
    await budgets.count()
    expect(await budgets.getStatus(budget.id, null)).toMatchObject({ available: 30 })
  })

  test('adds periods that were missed while no server was running', async () => {
    const { add, report, budgets, clock } = await stageOf(await open())
    const budget = await add({ amount: 10, roll_over: true, period: 'day', scope: { project: 'ACME' } })
    await report({ reported_cost: 4 })
    clock.moment += 3 * DAY_MS
    await report({ reported_cost: 1, ...at('2026-11-22') })
    await budgets.count()
    // 6 of the 20th, 10 of the 21st, 9 of the 22nd.
    expect(await budgets.getStatus(budget.id, null)).toMatchObject({ available: 35, rolled_over: 25 })
  })

  test('is repeated after five minutes, and then once a day', async () => {
    const { add, report, spentOf, budgets, clock, db } = await stageOf(await open())
    await report({ reported_cost: 1 })
    const budget = await add({ amount: 10 })
    await changeUnnoticed(db, 2_000_000_000n)
    const countAfter = async (ms: number) => {
      clock.moment += ms
      await budgets.count()
      return spentOf(budget.id)
    }
    expect(await countAfter(4 * MINUTE_MS)).toBe(1)
    expect(await countAfter(MINUTE_MS)).toBe(4)
    await changeUnnoticed(db, 3_000_000_000n)
    expect(await countAfter(23 * 60 * MINUTE_MS)).toBe(4)
    expect(await countAfter(60 * MINUTE_MS)).toBe(6)
  })

  test('is repeated once a week for periods that ended 40 days ago', async () => {
    const { add, report, budgets, clock, db } = await stageOf(await open())
    await report({ reported_cost: 1, ...at('2026-08-10') })
    await add({ amount: 10, starts_on: '2026-08-01' })
    clock.moment += 5 * MINUTE_MS
    await budgets.count()
    await changeUnnoticed(db, 2_000_000_000n)
    clock.moment += DAY_MS
    await budgets.count()
    expect(await storedSums(db)).toEqual([1, 0, 0, 2])
    clock.moment += 6 * DAY_MS
    await budgets.count()
    expect(await storedSums(db)).toEqual([2, 0, 0, 2])
  })

  test('shows the last period of a budget that had ended when it was added', async () => {
    const { add, report, budgets } = await stageOf(await open())
    await report({ reported_cost: 3, ...at('2026-10-10') })
    const { id } = await add({ amount: 10, ends_on: '2026-10-31' })
    const { period, spent, complete } = await budgets.getStatus(id, null)
    expect({ period, spent, complete }).toMatchObject({
      period: { from: '2026-10-01', to: '2026-10-31' },
      spent: 3,
      complete: true,
    })
  })

  test('counts a budget that was imported after it had ended', async () => {
    const { add, report, budgets, spentOf, db } = await stageOf(await open())
    await report({ reported_cost: 3, ...at('2026-10-10') })
    await add({ amount: 10 })
    const { id } = await add({ amount: 10, starts_on: '2026-10-01', ends_on: '2026-10-31' })
    // Periods are not exported.
    await db.write(async (tx) => {
      const { budgetPeriods: p } = tx.tables
      await tx.delete(p).where(lt(p.endsAt, NOON))
    })
    await budgets.count()
    expect(await spentOf(id)).toBe(3)
  })

  test('begins with the latest 400 periods of a budget that has grown old', async () => {
    const { budgets, clock, db } = await stageOf(await open())
    const { id } = await budgets.addBudget({ amount: 10, period: 'day', starts_on: '2025-11-01' }, { by: TALLY })
    await budgets.archiveBudget(id, true, { by: TALLY })
    clock.moment += 300 * DAY_MS
    await budgets.archiveBudget(id, false, { by: TALLY })
    const periods = await db.read.select().from(db.read.tables.budgetPeriods)
    expect([periods.length, periods.at(-1)!.firstDay]).toEqual([400, '2027-09-16'])
  })

  test('causes alerts of the current period only', async () => {
    const { add, report, alertsOf } = await stageOf(await open())
    await report({ reported_cost: 9, ...at('2026-09-10') })
    await report({ reported_cost: 6 })
    const budget = await add({ amount: 10, starts_on: '2026-08-01' })
    expect(await alertsOf(budget.id)).toEqual([50])
    // A late entry reaches only one more threshold of a period that is over.
    await report({ reported_cost: 2, ...at('2026-09-11') })
    expect(await alertsOf(budget.id)).toEqual([50, 100])
  })
})

forEachEngine('thresholds of a budget', (open) => {
  const thresholds = (...percents: number[]) => percents.map((percent) => ({ percent }))

  test('that are reached when they are added cause their alert at once, and never a second one', async () => {
    const { add, report, alertsOf, budgets } = await stageOf(await open())
    const budget = await add({ amount: 10, thresholds: thresholds(80) })
    await report({ reported_cost: 9 })
    expect(await alertsOf(budget.id)).toEqual([80])
    const change = (...percents: number[]) =>
      budgets.changeBudget(budget.id, { thresholds: thresholds(...percents) }, { by: TALLY })
    await change(50, 80, 95)
    expect(await alertsOf(budget.id)).toEqual([80, 50])
    await change(95)
    await change(50, 80, 95)
    expect(await alertsOf(budget.id)).toEqual([80, 50])
    await report({ reported_cost: 1, summary: 'one more' })
    expect(await alertsOf(budget.id)).toEqual([80, 50, 95])
  })
})

forEachEngine('the budget of a project', (open) => {
  test('has another amount available if the field of the project is changed', async () => {
    const { projects, budgets, report, alertsOf } = await stageOf(await open())
    await report({ reported_cost: 3 })
    await projects.changeProject(OPERATOR, 'ACME', { budgetNanos: 100_000_000_000n })
    await budgets.count()
    const { data } = await budgets.listBudgets(null, { filter: {}, limit: 10, after: undefined })
    const { id } = data[0]!
    expect(await alertsOf(id)).toEqual([])
    await projects.changeProject(OPERATOR, 'ACME', { budgetNanos: 5_000_000_000n })
    await budgets.count()
    const { available, spent, complete } = await budgets.getStatus(id, null)
    expect({ available, spent, complete }).toEqual({ available: 5, spent: 3, complete: true })
    expect(await alertsOf(id)).toEqual([50])
  })
})
