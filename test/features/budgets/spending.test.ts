import { describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { viewerOf } from '../../../src/access/visibility.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR } from '../../support/reports.ts'
import { stageOf } from './stage.ts'

forEachEngine('budgets', (open) => {
  test('count the entries that exist, and those that are reported later', async () => {
    const { add, report, spentOf } = await stageOf(await open())
    await report({ reported_cost: 2.5 })
    const budget = await add({ scope: { project: 'ACME' }, amount: 10 })
    expect(await spentOf(budget.id)).toBe(2.5)
    await report({ reported_cost: 0.25, summary: 'later' })
    await report({ project: 'OTHER', reported_cost: 7 })
    expect(await spentOf(budget.id)).toBe(2.75)
  })

  test('follow a session that is reported again with growing totals', async () => {
    const { add, report, spentOf } = await stageOf(await open())
    const budget = await add({ amount: 100, measure: 'tokens' })
    const before = await spentOf(budget.id)
    await report({ session_id: 'grows', tokens: { input: 10, output: 5 } })
    await report({ session_id: 'grows', tokens: { input: 30, output: 9 }, ended_at: '2026-11-20T11:30:00Z' })
    expect((await spentOf(budget.id)) - before).toBe(39)
  })

  test('cause one alert per threshold, however often it is reached', async () => {
    const { add, report, alertsOf, entries, spentOf } = await stageOf(await open())
    const budget = await add({ scope: { project: 'ACME' }, amount: 10 })
    const first = await report({ reported_cost: 6, summary: 'one' })
    expect(await alertsOf(budget.id)).toEqual([50])
    await entries.approval.decideEntry(first.entry.id, { action: 'void', reason: 'Wrong amount.' }, OPERATOR)
    expect(await spentOf(budget.id)).toBe(0)
    await report({ reported_cost: 3, summary: 'two' })
    await report({ reported_cost: 3, summary: 'three' })
    await report({ reported_cost: 3, summary: 'four' })
    expect(await spentOf(budget.id)).toBe(9)
    expect(await alertsOf(budget.id)).toEqual([50, 80])
  })

  test('cause three alerts when 64 callers pass three thresholds at once', async () => {
    const { add, report, alertsOf, spentOf } = await stageOf(await open())
    const budget = await add({ amount: 64 })
    await Promise.all(
      Array.from({ length: 200 }, (_, number) => report({ reported_cost: 0.5, summary: `report ${number}` })),
    )
    expect(await spentOf(budget.id)).toBe(100)
    expect(await alertsOf(budget.id)).toEqual([50, 80, 100])
  })

  test('that many entries count for are added to by the job, with the alert of a threshold', async () => {
    const { add, report, spentOf, alertsOf, budgets, spending, db } = await stageOf(await open())
    const { budgetChanges, budgetPeriods } = db.read.tables
    const added: string[] = []
    for (let number = 0; number < 12; number += 1) added.push((await add({ amount: 10 + number })).id)
    const stored = async () => (await db.read.select().from(budgetPeriods)).map(({ units }) => units)
    const before = await stored()
    await report({ reported_cost: 1, session_id: 'grows' })
    await report({ reported_cost: 5.5, session_id: 'grows', ended_at: '2026-11-20T11:30:00Z' })
    // Three sides, however many budgets there are.
    expect([await stored(), (await db.read.select().from(budgetChanges)).length]).toEqual([before, 3])
    await spending.applyChanges()
    expect(await stored()).toEqual(before.map(() => 500_000_000))
    expect(await db.read.select().from(budgetChanges)).toEqual([])
    expect(await spentOf(added[11]!)).toBe(5.5)
    expect([await alertsOf(added[0]!), await alertsOf(added[11]!)]).toEqual([[50], []])

    // Of each of them, also what is before the first period, and what begins one.
    await report({ session_id: 'past', started_at: '2026-03-01T08:00:00Z', ended_at: '2026-03-01T09:00:00Z' })
    await report({ session_id: 'grows', reported_cost: 2.25, ended_at: '2026-11-20T11:40:00Z' })
    await budgets.archiveBudget(added[0]!, true, { by: TALLY })
    expect([await spentOf(added[1]!), await spentOf(added[11]!)]).toEqual([2.25, 2.25])
  })

  test('are not read again when a report names a new project', async () => {
    const { add, report, projects, db, spentOf } = await stageOf(await open())
    const budget = await add({ amount: 10, measure: 'billed_amount' })
    const revision = await db.read.revision()
    await report({ reported_cost: 2, project: 'NEW' })
    expect(await db.read.revision()).toBe(revision)
    expect(await spentOf(budget.id)).toBe(2)
    await projects.addProject(OPERATOR, { key: 'FREE', name: 'Free', billable: false })
    await report({ reported_cost: 4, project: 'FREE' })
    expect(await spentOf(budget.id)).toBe(2)
  })

  test('begin a period with its first entry, and roll over what was left', async () => {
    const { add, report, budgets, clock, spentOf } = await stageOf(await open())
    const budget = await add({ amount: 10, roll_over: true, scope: { project: 'ACME' } })
    await report({ reported_cost: 4 })
    clock.moment = Date.UTC(2026, 11, 2)
    await report({ reported_cost: 1, started_at: '2026-12-01T10:00:00Z', ended_at: '2026-12-01T11:00:00Z' })
    await budgets.count()
    expect(await spentOf(budget.id)).toBe(1)
    const { available, rolled_over } = await budgets.getStatus(budget.id, null)
    expect([available, rolled_over]).toEqual([16, 6])
  })

  test('count amounts as they would be billed, and follow a markup that changes', async () => {
    const { add, report, projects, budgets, spentOf } = await stageOf(await open())
    const budget = await add({ amount: 100, measure: 'billed_amount' })
    await projects.changeProject(OPERATOR, 'ACME', { markupPpm: 100_000 })
    await budgets.count()
    await report({ reported_cost: 0.000000001, summary: 'tiny' })
    await report({ reported_cost: 10, summary: 'ten' })
    expect(await spentOf(budget.id)).toBe(11.000000001)
    await projects.changeProject(OPERATOR, 'ACME', { markupPpm: 200_000 })
    await budgets.count()
    expect(await spentOf(budget.id)).toBe(12.000000001)
    await projects.changeProject(OPERATOR, 'ACME', { billable: false })
    await budgets.count()
    expect(await spentOf(budget.id)).toBe(0)
  })

  test('are those of projects as well, whichever is changed', async () => {
    const { db, projects, budgets, report, spentOf } = await stageOf(await open())
    await report({ reported_cost: 3 })
    await projects.changeProject(OPERATOR, 'ACME', { budgetNanos: 5_000_000_000n })
    await budgets.count()
    const { data } = await budgets.listBudgets(null, { filter: { projects: ['ACME'] }, limit: 10, after: undefined })
    expect(data).toMatchObject([{ amount: 5, of_project: true, current: { spent: 3, complete: true } }])
    await budgets.changeBudget(data[0]!.id, { amount: 8 }, { by: TALLY })
    expect((await projects.findProjectNamed(db.read, 'ACME'))?.project.budget).toBe(8_000_000_000n)
    await budgets.count()
    expect(await spentOf(data[0]!.id)).toBe(3)
    await projects.changeProject(OPERATOR, 'ACME', { budgetNanos: null })
    expect((await budgets.listBudgets(null, { filter: {}, limit: 10, after: undefined })).data).toEqual([])
  })

  test('are seen by billing, leads and the person whom they are about, and by nobody else', async () => {
    const { add, budgets, bob, projects } = await stageOf(await open())
    const ofProject = await add({ amount: 1, scope: { project: 'ACME' } })
    const ofBob = await add({ amount: 1, scope: { agent_manager: 'bob@example.com' } })
    await add({ amount: 1 })
    const seenBy = async () => {
      const list = { filter: {}, limit: 10, after: undefined }
      return (await budgets.listBudgets(viewerOf({ id: bob.person.id, role: 'member' }), list)).data.map(({ id }) => id)
    }
    expect(await seenBy()).toEqual([ofBob.id])
    await projects.changeProject(OPERATOR, 'ACME', { leads: ['bob@example.com'] })
    expect(await seenBy()).toEqual([ofBob.id, ofProject.id])
  })
})

describe('a budget of reports at the highest cost', () => {
  forEachEngine('does not refuse them', (open) => {
    test('because its sum does not overflow', async () => {
      const { add, report, spentOf } = await stageOf(await open())
      const budget = await add({ amount: 10 })
      for (let count = 0; count < 12; count += 1)
        await report({ reported_cost: 1_000_000_000, summary: `huge ${count}` })
      expect(await spentOf(budget.id)).toBe(12_000_000_000)
    })
  })
})
