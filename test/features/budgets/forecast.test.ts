/** What budgets are forecast to spend. */
import { expect, test } from 'bun:test'
import { forEachEngine } from '../../support/databases.ts'
import { NOON, stageOf } from './stage.ts'

const MINUTE_MS = 60_000

forEachEngine('forecasts of budgets', (open) => {
  test('change once an hour, and are never below what is spent', async () => {
    const { add, budgets, clock, report, spending } = await stageOf(await open())
    const spend = (cost: number, start: number, session: string) =>
      report({
        session_id: session,
        reported_cost: cost,
        started_at: new Date(start).toISOString(),
        ended_at: new Date(start + MINUTE_MS).toISOString(),
      })
    for (const day of [1, 2, 3, 4]) await spend(day, NOON - day * 1440 * MINUTE_MS, `${day} days ago`)
    const { id } = await add({ amount: 100 })
    const at = async (minutes: number) => {
      clock.moment = NOON + minutes * MINUTE_MS
      await spending.applyChanges()
      const { spent, forecast } = await budgets.getStatus(id, null)
      return { spent, forecast: forecast! }
    }
    const first = await at(0)
    expect(first.spent).toBe(10)
    expect(first.forecast.amount).toBeGreaterThan(10)
    await spend(1, NOON + 10 * MINUTE_MS, 'within the hour')
    expect(await at(59)).toEqual({ spent: 11, forecast: { ...first.forecast, low: 11 } })
    expect((await at(60)).forecast.amount).toBeGreaterThan(first.forecast.amount)
    await spend(200, NOON + 70 * MINUTE_MS, 'much')
    const { spent, forecast } = await at(80)
    expect({ spent, ...forecast }).toMatchObject({ spent: 211, amount: 211, low: 211, high: 211, exceeded_on: null })
  })
})
