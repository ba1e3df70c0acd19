/** Services with a budget's surroundings: a clock that stands at noon of 20 November 2026, a reporter and a project. */
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import type { NewBudget } from '../../../src/features/budgets/schema.ts'
import { createServices } from '../../../src/services.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

export const NOON = Date.UTC(2026, 10, 20, 12)

export async function stageOf(db: Database) {
  const clock = { moment: NOON, now: () => clock.moment }
  const services = createServices({ db, clock })
  const { people, entries, budgets, spending } = services
  const ada = await addReporter(people)
  const bob = await addReporter(people, { name: 'Bob', role: 'member' })
  const report = (changes: Record<string, unknown> = {}, who = ada) =>
    entries.reporting.reportEntry(reportBody({ project: 'ACME', reported_cost: 1, ...changes }), who, undefined)
  const add = async (given: NewBudget) => {
    const budget = await budgets.addBudget(given, { by: TALLY })
    await budgets.count()
    return budget
  }
  /** What is spent, as the budget keeps it, and as its entries are. */
  const spentOf = async (id: string) => {
    await spending.applyChanges()
    return (await budgets.getStatus(id, null)).spent
  }
  const alertsOf = async (id: string) => {
    const { data } = await budgets.listAlerts(null, { budget: id, limit: 100, after: undefined })
    return data.map(({ percent }) => percent).reverse()
  }
  await report({ project: 'ACME', session_id: 'first', reported_cost: 0 })
  return { ...services, db, clock, ada, bob, report, add, spentOf, alertsOf }
}
