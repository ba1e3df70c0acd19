/** Budgets by list value, marginal and allocated cost: counted each minute, with their alerts, and seen by who sees fees. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { viewerOf } from '../../../src/access/visibility.ts'
import { COST_BASES } from '../../../src/shared/cost-basis.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addPlan } from '../../support/plans.ts'
import { stageOf } from './stage.ts'

const MINUTE_MS = 60_000
const PLAN = { name: 'Claude Max', from: '2026-11-01' }

forEachEngine('budgets by basis', (open) => {
  async function stage() {
    const found = await stageOf(await open())
    const { db, budgets, entries, funding, clock } = found
    /** $100 for November, shared by tokens. */
    async function addMax() {
      await addPlan(db, PLAN)
      await db.write(async (tx) => void (await tx.update(tx.tables.planVersions).set({ weight: 'tokens' })))
    }
    /** A minute later. */
    async function count() {
      await entries.funding.decideOwed()
      await funding.calculateOwed()
      clock.moment += MINUTE_MS
      await budgets.count()
    }
    const tokens = (input: number) => ({ tokens: { input, output: 0 } })
    return { ...found, addMax, count, tokens }
  }

  test('each counts its amount, says when, and warns', async () => {
    const { addMax, add, report, count, tokens, spentOf, alertsOf, budgets, clock } = await stage()
    await addMax()
    await report({ reported_cost: 30, model: 'no-such-model', ...tokens(1_000) })
    await report({ reported_cost: 5, model: 'no-such-model', funding: 'metered', ...tokens(500) })
    await count()
    const ids: Record<string, string> = {}
    for (const basis of COST_BASES) {
      ids[basis] = (await add({ amount: 120, basis, scope: { project: 'ACME' }, thresholds: [{ percent: 80 }] })).id
    }
    const spent = async () =>
      Object.fromEntries(
        await Promise.all(COST_BASES.map(async (basis) => [basis, Number(await spentOf(ids[basis]!))])),
      )
    expect(await spent()).toEqual({ cost: 35, list: 0, marginal: 5, allocated: 105 })
    expect(await alertsOf(ids.allocated!)).toEqual([80])
    expect(await alertsOf(ids.cost!)).toEqual([])
    const { counted_at, entries_url, unpriced_entries } = await budgets.getStatus(ids.allocated!, null)
    expect(counted_at).toBe(new Date(clock.moment).toISOString())
    expect(entries_url).toEndWith('&basis=allocated')
    expect(unpriced_entries).toBe(0)
    expect((await budgets.getStatus(ids.list!, null)).unpriced_entries).toBe(3)
    expect((await budgets.getStatus(ids.cost!, null)).counted_at).toBeNull()

    // Each report adds to the cost at once, and to the others with the next count.
    await report({ reported_cost: 10, model: 'no-such-model', funding: 'metered', ...tokens(10) })
    expect(await spent()).toEqual({ cost: 45, list: 0, marginal: 5, allocated: 105 })
    await count()
    expect(await spent()).toEqual({ cost: 45, list: 0, marginal: 15, allocated: 115 })
    expect(await budgets.verify()).toEqual([])
  })

  test('a change of shares without any report counts, and a check says as of when', async () => {
    const { addMax, add, report, count, tokens, spentOf, budgets, db, clock } = await stage()
    await addMax()
    await report({ reported_cost: 30, model: 'no-such-model', ...tokens(1_000) })
    await count()
    const budget = await add({ amount: 90, basis: 'allocated', scope: { project: 'ACME' } })
    expect(Number(await spentOf(budget.id))).toBe(100)
    const check = await budgets.check([{ project: 'ACME' }], null)
    expect(check.allowed).toBe(false)
    expect(check.budgets).toMatchObject([
      { id: budget.id, basis: 'allocated', counted_at: new Date(clock.moment).toISOString() },
    ])
    await db.write(async (tx) => void (await tx.update(tx.tables.planVersions).set({ fee: 40_000_000_000n })))
    await db.write(async (tx) => {
      await tx.insert(tx.tables.unallocatedHours).values({ hour: Math.floor(Date.UTC(2026, 10, 20) / 3_600_000) })
    })
    await count()
    expect(Number(await spentOf(budget.id))).toBe(40)
    expect((await budgets.check([{ project: 'ACME' }], null)).allowed).toBe(true)
  })

  test('by allocated cost are seen by who sees fees', async () => {
    const { add, budgets, db } = await stage()
    const { users, projectLeads, projects: table } = db.read.tables
    const [lead] = await db.read.select().from(users).where(eq(users.name, 'Bob'))
    const [project] = await db.read.select().from(table).where(eq(table.key, 'ACME'))
    await db.write((tx) =>
      tx
        .insert(projectLeads)
        .values({ projectId: project!.id, userId: lead!.id })
        .onConflictDoNothing()
        .then(() => undefined),
    )
    const shown = await add({ amount: 5, basis: 'marginal', scope: { project: 'ACME' } })
    const hidden = await add({ amount: 5, basis: 'allocated', scope: { project: 'ACME' } })
    const asker = viewerOf({ id: lead!.id, role: 'member' })
    const listed = async () =>
      (await budgets.listBudgets(asker, { filter: {}, limit: 10, after: undefined }, false)).data.map(({ id }) => id)
    expect(await listed()).toEqual([shown.id])
    await expect(budgets.getStatus(hidden.id, asker)).rejects.toMatchObject({ code: 'not_found' })
    await db.write(async (tx) => void (await tx.update(tx.tables.organization).set({ leadsSeeFees: true })))
    expect(await listed()).toEqual([hidden.id, shown.id])
  })

  test('of tokens have no basis', async () => {
    const { add } = await stage()
    await expect(add({ amount: 5, measure: 'tokens', basis: 'marginal' })).rejects.toMatchObject({
      more: { issues: [{ pointer: '/basis' }] },
    })
  })
})
