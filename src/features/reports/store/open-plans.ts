/** Plans with a period that is not closed. */
import { and, eq, exists, gt, gte, isNotNull, isNull, lte, or } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { dayAt, type Span } from '../../../lib/calendar.ts'

/** The ids of the plans of which a period with entries reaches into a span; by marginal cost, of those with an allowance. */
export async function listOpenPlans(
  reader: Reader,
  basis: 'marginal' | 'allocated',
  { startingAt, endingAt }: Span,
): Promise<string[]> {
  const { organization, planPeriods, plans, planVersions } = reader.tables
  const [settings] = await reader.select({ timeZone: organization.timeZone }).from(organization)
  const { timeZone } = settings!
  const hasAllowance = exists(
    reader
      .select({ planId: planVersions.planId })
      .from(planVersions)
      .where(and(eq(planVersions.planId, plans.id), isNotNull(planVersions.allowance))),
  )
  const open = await reader
    .selectDistinct({ uid: plans.uid })
    .from(planPeriods)
    .innerJoin(plans, eq(plans.id, planPeriods.planId))
    .where(
      and(
        isNull(planPeriods.closedAt),
        gt(planPeriods.entries, 0),
        lte(planPeriods.firstDay, dayAt(endingAt - 1, timeZone)),
        or(isNull(planPeriods.lastDay), gte(planPeriods.lastDay, dayAt(startingAt, timeZone))),
        basis === 'marginal' ? hasAllowance : undefined,
      ),
    )
  return open.map(({ uid }) => uid)
}
