/** The subscriptions of the demonstration: what is closed, what waits to be closed, and what came late. */
import type { Party } from '../access/actor.ts'
import type { PlanBody } from '../features/plans/schema.ts'
import { addDays, dateAt, startOfDay } from '../lib/calendar.ts'
import type { Services } from '../services.ts'
import { METERED, PLANS, TIME_ZONE } from './agency.ts'
import type { DemoReport } from './sessions.ts'
import type { DemoStep, Stage } from './stage.ts'

const HOUR_MS = 3_600_000

/** The person who reads the invoices of vendors, and the day of the month. */
const BOOKS = 'hanna.lindqvist'
const CLOSING_DAY = 6

/** Whose laptop was offline on a day of the first month, and sent its session on one of the second, when the first was closed. */
const LATE = { user: 'dele.okafor', harness: 'codex', fromDay: 10, arrivesOnDay: 12 }

export async function addPlans({ plans, funding }: Services, party: Party, firstDay: string): Promise<void> {
  for (const { plan, afterDays, later } of PLANS) {
    const { id } = (await plans.addPlan({ ...plan, from: addDays(firstDay, afterDays) }, party)) as PlanBody
    if (!later) continue
    const change = { from: addDays(firstDay, later.afterDays), fee: later.fee, prorate: true }
    await plans.changePlan(id, change, party)
  }
  for (const rule of METERED) await funding.addFundingRule(party.by, { ...rule, funding: 'metered', plan: null })
}

/** Each month, what has ended is closed. */
export function planSteps({ services: { plans }, as, firstDay, now }: Stage): DemoStep[] {
  const steps: DemoStep[] = []
  const party = as(BOOKS)
  const close = async (today: string) => {
    for (const { plan, isBehind } of PLANS) {
      const periods = await plans.listPeriods(plan.name, { to: today })
      const ended = periods.filter(({ state }) => state !== 'running').slice(isBehind ? 1 : 0)
      for (const { from, state } of ended.reverse()) {
        if (state === 'ended') await plans.closePeriod(plan.name, from, { leave_unpriced: true }, party)
      }
    }
  }
  for (let month = 1; ; month += 1) {
    const day = dayOfMonth(firstDay, month, CLOSING_DAY)
    const at = startOfDay(day, TIME_ZONE) + 14 * HOUR_MS
    if (at > now) return steps
    steps.push({ at, run: () => close(day) })
  }
}

/** The reports, one of which arrives after the period of its plan was closed. */
export function delayed(reports: DemoReport[], firstDay: string): DemoReport[] {
  const from = startOfDay(dayOfMonth(firstDay, 0, LATE.fromDay), TIME_ZONE)
  const timesSent = Map.groupBy(reports, ({ body }) => body.session_id)
  const late = reports.find(
    ({ user, at, body }) =>
      user === LATE.user &&
      at >= from &&
      body.agent_harness === LATE.harness &&
      timesSent.get(body.session_id)!.length === 1,
  )
  const at = startOfDay(dayOfMonth(firstDay, 1, LATE.arrivesOnDay), TIME_ZONE) + 9 * HOUR_MS
  return reports.map((report) => (report === late ? { ...report, at } : report))
}

const dayOfMonth = (firstDay: string, months: number, day: number): string =>
  dateAt(startOfDay(firstDay, TIME_ZONE), TIME_ZONE).add({ months }).with({ day }).toString()
