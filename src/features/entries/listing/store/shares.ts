/** The shares of entries in the fees of their plans, which a job calculates (docs/design/plans.md, "Allocation"). */
import { aliasedTable, and, desc, eq, gt, isNotNull, lt, lte, ne, notInArray, sql } from 'drizzle-orm'
import type { Reader } from '../../../../database/database.ts'
import { UNCOUNTED_STATUSES } from '../../../../database/schema/values.ts'
import type { Id } from '../../../../lib/id.ts'
import type { EntryShare } from '../../rows.ts'
import type { EntryView } from '../../store.ts'

/** Whether any are calculated: without plans, nothing else is asked. */
export async function hasShares(reader: Reader): Promise<boolean> {
  const { planPeriods } = reader.tables
  const found = await reader
    .select({ planId: planPeriods.planId })
    .from(planPeriods)
    .where(isNotNull(planPeriods.generationId))
    .limit(1)
  return found.length > 0
}

/** As `amountOf` of the selection: those of the calculation that counts, of the plan that pays for the entry now. */
export async function findShares(reader: Reader, ids: readonly number[]): Promise<Map<number, EntryShare>> {
  const found = await reader.findEach(
    'entries.share',
    (prepare) => {
      const { entries, fundings, planPeriods, planShares } = prepare.tables
      return prepare
        .select({
          fee: planShares.fee,
          charge: planShares.charge,
          closedAt: planPeriods.closedAt,
          chargesCost: planPeriods.chargesCost,
        })
        .from(planShares)
        .innerJoin(planPeriods, eq(planPeriods.generationId, planShares.generationId))
        .innerJoin(entries, eq(entries.id, planShares.entryId))
        .innerJoin(fundings, and(eq(fundings.id, entries.fundingId), eq(fundings.planId, planPeriods.planId)))
        .where(eq(planShares.entryId, sql.placeholder('id')))
        .orderBy(desc(planShares.generationId))
        .limit(1)
    },
    ids.map((id) => ({ id })),
  )
  const shares = found.map(([row], at) => {
    if (!row) return undefined
    const { closedAt, ...share } = row
    return [ids[at]!, { ...share, isClosed: closedAt !== null }] as const
  })
  return new Map(shares.filter((share) => share !== undefined))
}

/** Those of entries that plans pay for; no query if there are none. */
export function findSharesOf(
  reader: Reader,
  views: readonly Pick<EntryView, 'entry' | 'fundingPlan'>[],
): Promise<Map<number, EntryShare>> {
  return findShares(
    reader,
    views.filter(({ fundingPlan }) => fundingPlan !== null).map(({ entry }) => entry.id),
  )
}

/** The last correction that contains the share of an entry which arrived after the period of its plan was closed. */
export async function findSettlement(reader: Reader, entryId: number): Promise<Id<'ent'> | undefined> {
  const { entries: e, fundings: f, planPeriods: p, planCorrections: c } = reader.tables
  const correction = aliasedTable(e, 'correction')
  const [row] = await reader
    .select({ uid: correction.uid })
    .from(e)
    .innerJoin(f, eq(f.id, e.fundingId))
    .innerJoin(
      p,
      and(
        eq(p.planId, f.planId),
        lte(p.startingAt, e.startedAt),
        gt(p.endingAt, e.startedAt),
        lt(p.closedAt, e.createdAt),
      ),
    )
    .innerJoin(
      c,
      and(
        eq(c.planId, p.planId),
        eq(c.ofFirstDay, p.firstDay),
        eq(c.managerId, e.managerId),
        sql`${c.projectId} IS NOT DISTINCT FROM ${e.projectId}`,
        sql`${c.ticketId} IS NOT DISTINCT FROM ${e.ticketId}`,
      ),
    )
    .innerJoin(correction, eq(correction.id, c.entryId))
    .where(and(eq(e.id, entryId), ne(f.reason, 'correction'), notInArray(correction.status, [...UNCOUNTED_STATUSES])))
    .orderBy(desc(correction.id))
    .limit(1)
  return row?.uid
}
