/** What the shares of periods sum to. */
import { and, eq, inArray, isNull, notInArray, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { UNCOUNTED_STATUSES } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import type { PeriodRecord } from '../../funding/contract.ts'

/** Of all plans or these, by the key of the plan and the first day. */
export async function listPeriodRecords(
  reader: Reader,
  planIds?: readonly number[],
): Promise<Map<string, PeriodRecord>> {
  const { planPeriods: p } = reader.tables
  const rows = await reader
    .select()
    .from(p)
    .where(planIds && inArray(p.planId, [...planIds]))
  return new Map(rows.map((row) => [`${row.planId} ${row.firstDay}`, row]))
}

export interface PersonSum {
  uid: Id<'usr'>
  name: string
  entries: number
  listValue: bigint
  fee: bigint
  charge: bigint
  /** Of the fee, in later periods. */
  corrections: bigint
}

/** The shares of a period by person, the highest list value first. */
export async function sumPeople(
  reader: Reader,
  planId: number,
  firstDay: string,
  generationId: number | null,
): Promise<PersonSum[]> {
  const { entries: e, planCorrections: c, planShares: s, users: u } = reader.tables
  const sumOf = (amount: unknown) => sql<string>`CAST(coalesce(sum(${amount}), 0) AS text)`
  const counted = notInArray(e.status, [...UNCOUNTED_STATUSES])
  const own =
    generationId === null
      ? []
      : await reader
          .select({
            id: e.managerId,
            entries: sql<number>`count(*)`.mapWith(Number),
            listValue: sumOf(e.listValue),
            fee: sumOf(s.fee),
            charge: sumOf(s.charge),
          })
          .from(s)
          .innerJoin(e, eq(e.id, s.entryId))
          .leftJoin(c, eq(c.entryId, s.entryId))
          .where(and(eq(s.generationId, generationId), isNull(c.entryId)))
          .groupBy(e.managerId)
  const corrected = await reader
    .select({ id: c.managerId, fee: sumOf(c.fee) })
    .from(c)
    .innerJoin(e, eq(e.id, c.entryId))
    .where(and(eq(c.planId, planId), eq(c.ofFirstDay, firstDay), counted))
    .groupBy(c.managerId)
  const ids = [...new Set([...own, ...corrected].map(({ id }) => id))]
  if (ids.length === 0) return []
  const people = await reader.select({ id: u.id, uid: u.uid, name: u.name }).from(u).where(inArray(u.id, ids))
  return people
    .map(({ id, uid, name }): PersonSum => {
      const shares = own.find((sum) => sum.id === id)
      return {
        uid,
        name,
        entries: shares?.entries ?? 0,
        listValue: BigInt(shares?.listValue ?? 0),
        fee: BigInt(shares?.fee ?? 0),
        charge: BigInt(shares?.charge ?? 0),
        corrections: BigInt(corrected.find((sum) => sum.id === id)?.fee ?? 0),
      }
    })
    .sort((one, other) =>
      one.listValue === other.listValue ? (one.uid < other.uid ? -1 : 1) : one.listValue > other.listValue ? -1 : 1,
    )
}
