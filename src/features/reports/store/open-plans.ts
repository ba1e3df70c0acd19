/** Plans with a period that is not closed. */
import { and, eq, exists, gt, gte, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { dayAt, type Span } from '../../../lib/calendar.ts'

/** The ids of the plans of which a period with entries reaches into a span; by marginal cost, of those with an allowance. */
export async function listOpenPlans(
  reader: Reader,
  basis: 'marginal' | 'allocated',
  { startingAt, endingAt }: Span,
): Promise<string[]> {
  const [settings] = await reader
    .prepared('reports.time-zone', (prepare) => {
      const { organization } = prepare.tables
      return prepare.select({ timeZone: organization.timeZone }).from(organization)
    })
    .execute({})
  const { timeZone } = settings!
  const open = await reader
    .prepared(`reports.open-plans.${basis}`, (prepare) => selectOpenPlans(prepare, basis))
    .execute({ first: dayAt(startingAt, timeZone), last: dayAt(endingAt - 1, timeZone) })
  return open.map(({ uid }) => uid)
}

function selectOpenPlans({ tables, select, selectDistinct }: Reader, basis: 'marginal' | 'allocated') {
  const { planPeriods: p, plans, planVersions } = tables
  const hasAllowance = exists(
    select({ planId: planVersions.planId })
      .from(planVersions)
      .where(and(eq(planVersions.planId, plans.id), isNotNull(planVersions.allowance))),
  )
  return selectDistinct({ uid: plans.uid })
    .from(p)
    .innerJoin(plans, eq(plans.id, p.planId))
    .where(
      and(
        isNull(p.closedAt),
        gt(p.entries, 0),
        lte(p.firstDay, sql.placeholder('last')),
        or(isNull(p.lastDay), gte(p.lastDay, sql.placeholder('first'))),
        basis === 'marginal' ? hasAllowance : undefined,
      ),
    )
}
