/** The periods of budgets when the server's clock jumps, or the server was not running when they began. */
import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import type { NewBudget } from '../../../src/features/budgets/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

const at = (day: string) => Date.parse(`${day}T12:00:00Z`)

async function stageOf(db: Database) {
  const clock = { moment: at('2026-11-20'), now: () => clock.moment }
  const services = createServices({ db, clock })
  const { people, entries, budgets, spending } = services
  const ada = await addReporter(people)
  const report = (day: string, cost: number) =>
    entries.reporting.reportEntry(
      reportBody({
        session_id: `${day} ${cost}`,
        started_at: `${day}T10:00:00Z`,
        ended_at: `${day}T11:00:00Z`,
        reported_cost: cost,
      }),
      ada,
      undefined,
    )
  /** Moves the clock to noon of a day, and lets the jobs run. */
  const jumpTo = async (day: string) => {
    clock.moment = at(day)
    await budgets.count()
  }
  const add = async (given: Partial<NewBudget> = {}) => {
    const { id } = await budgets.addBudget({ amount: 10, ...given }, { by: TALLY })
    await budgets.count()
    return id
  }
  const stateOf = async (id: string) => {
    await spending.applyChanges()
    const { period, spent, available, complete } = await budgets.getStatus(id, null)
    return { from: period.from, spent, available, complete }
  }
  const alertsOf = async (id: string) => {
    const { data } = await budgets.listAlerts(null, { budget: id, limit: 100, after: undefined })
    return data.map(({ period, percent }) => `${period.from} ${percent}`).reverse()
  }
  return { jumpTo, report, add, stateOf, alertsOf, verify: budgets.verify }
}

forEachEngine('budgets', (open) => {
  test('count the current period when the clock has jumped over several', async () => {
    const { add, report, jumpTo, stateOf, alertsOf, verify } = await stageOf(await open())
    const id = await add()
    await report('2026-11-20', 6)
    await jumpTo('2027-02-10')
    expect(await stateOf(id)).toEqual({ from: '2027-02-01', spent: 0, available: 10, complete: true })
    await report('2027-02-10', 9)
    await report('2026-11-19', 3)
    expect(await stateOf(id)).toMatchObject({ spent: 9 })
    expect(await alertsOf(id)).toEqual(['2026-11-01 50', '2027-02-01 50', '2027-02-01 80', '2026-11-01 80'])
    expect(await verify()).toEqual([])
  })

  test('roll over what was left of every period that the clock has jumped over', async () => {
    const { add, report, jumpTo, stateOf } = await stageOf(await open())
    const id = await add({ roll_over: true })
    await report('2026-11-20', 4)
    await jumpTo('2027-02-10')
    // 6 of November, and 10 of December and January each.
    expect(await stateOf(id)).toEqual({ from: '2027-02-01', spent: 0, available: 36, complete: true })
  })

  test('count late reports of a period that the clock has jumped over', async () => {
    const { add, report, jumpTo, alertsOf } = await stageOf(await open())
    const id = await add({ roll_over: true })
    await jumpTo('2027-02-10')
    await report('2026-12-20', 16)
    // Of 20, since November left all of its 10.
    expect(await alertsOf(id)).toEqual(['2026-12-01 50', '2026-12-01 80'])
  })

  test('warn once per period when the clock jumps ahead and back again', async () => {
    const { add, report, jumpTo, alertsOf, stateOf, verify } = await stageOf(await open())
    const id = await add()
    await report('2026-11-20', 6)
    await jumpTo('2027-02-10')
    await report('2027-02-10', 6)
    await jumpTo('2026-11-21')
    await report('2026-11-21', 1)
    expect(await stateOf(id)).toEqual({ from: '2026-11-01', spent: 7, available: 10, complete: true })
    await jumpTo('2027-02-11')
    await report('2027-02-11', 1)
    expect(await stateOf(id)).toEqual({ from: '2027-02-01', spent: 7, available: 10, complete: true })
    expect(await alertsOf(id)).toEqual(['2026-11-01 50', '2027-02-01 50'])
    expect(await verify()).toEqual([])
  })

  test('begin each period in turn after the clock has jumped ahead and back', async () => {
    const { add, report, jumpTo, alertsOf, stateOf } = await stageOf(await open())
    const id = await add()
    await jumpTo('2027-02-10')
    await jumpTo('2026-12-10')
    await report('2026-12-10', 6)
    expect(await stateOf(id)).toEqual({ from: '2026-12-01', spent: 6, available: 10, complete: true })
    expect(await alertsOf(id)).toEqual(['2026-12-01 50'])
  })
})
