/** The terms of plans, as their periods and shares need them. */
import { asc, inArray } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import type { AllocationTerms } from '../allocation.ts'
import type { PeriodTerms, Schedule } from '../periods.ts'

export interface PlanSchedule extends Schedule<PeriodTerms & AllocationTerms> {
  id: number
}

/** Of all plans, or those with these keys, by key. */
export async function listSchedules(reader: Reader, ids?: readonly number[]): Promise<Map<number, PlanSchedule>> {
  const { plans, planVersions: versions } = reader.tables
  const rows = await reader
    .select({ id: plans.id, endsOn: plans.endsOn, endProrates: plans.endProrates })
    .from(plans)
    .where(ids && inArray(plans.id, [...ids]))
  if (rows.length === 0) return new Map()
  const terms = await reader
    .select()
    .from(versions)
    .where(ids && inArray(versions.planId, [...ids]))
    .orderBy(asc(versions.fromDay))
  const ofPlan = Map.groupBy(terms, ({ planId }) => planId)
  return new Map(rows.map((plan) => [plan.id, { ...plan, versions: ofPlan.get(plan.id) ?? [] }]))
}
