/** What the shares of periods sum to. */
import { and, eq, gt, inArray, isNull, lt, min, notInArray, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import { type AllowanceUnit, UNCOUNTED_STATUSES } from '../../../database/schema/values.ts'
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

/** The keys of plans with a used period that ended before a day and is not closed, each with the first day of the earliest. */
export async function listUnclosed(reader: Reader, day: string): Promise<Map<number, string>> {
  const { planPeriods: p } = reader.tables
  const rows = await reader
    .select({ planId: p.planId, firstDay: min(p.firstDay) })
    .from(p)
    .where(and(isNull(p.closedAt), lt(p.lastDay, day), gt(p.entries, 0)))
    .groupBy(p.planId)
  return new Map(rows.map(({ planId, firstDay }) => [planId, firstDay!]))
}

export interface PersonSum {
  uid: Id<'usr'>
  name: string
  entries: number
  unpricedEntries: number
  listValue: bigint
  fee: bigint
  charge: bigint
  /** Of the fee and the charge, in later periods. */
  corrections: { fee: bigint; charge: bigint }
  /** What they use of an allowance in each unit, in billionths of nano-dollars, tokens and requests. */
  units: Record<AllowanceUnit, bigint>
}

/** A period and the calculation of it that counts. */
type Calculated = Pick<PeriodRecord, 'planId' | 'firstDay' | 'generationId'>

const SHARE = 1_000_000_000n

/**
 * The shares of periods by person, the highest list value first, by the key of the plan and the first day.
 * @param visible limits the entries that are summed
 */
export async function sumPeople(
  reader: Reader,
  periods: readonly Calculated[],
  visible?: SQL,
): Promise<Map<string, PersonSum[]>> {
  const { entries: e, planCorrections: c, users: u } = reader.tables
  const byPeriod = new Map<string, Map<number, Omit<PersonSum, 'uid' | 'name'>>>()
  const sumAt = ({ planId, firstDay }: Pick<Calculated, 'planId' | 'firstDay'>, person: number) => {
    const key = `${planId} ${firstDay}`
    const people = byPeriod.get(key) ?? new Map()
    byPeriod.set(key, people)
    const sum = people.get(person) ?? nothing()
    people.set(person, sum)
    return sum
  }
  const ofGeneration = new Map(periods.map((period) => [period.generationId, period]))
  for (const row of await sumShares(reader, periods, visible)) {
    const sum = sumAt(ofGeneration.get(row.generationId)!, row.id)
    const planShare = SHARE - BigInt(row.meteredShare ?? 0)
    sum.entries += row.entries
    sum.unpricedEntries += row.unpricedEntries
    sum.listValue += BigInt(row.listValue)
    sum.fee += BigInt(row.fee)
    sum.charge += BigInt(row.charge)
    sum.units.usd += BigInt(row.cost) * planShare
    sum.units.tokens += BigInt(row.tokens) * planShare
    sum.units.requests += BigInt(row.requests) * planShare
  }
  const known = new Set(periods.map(({ planId, firstDay }) => `${planId} ${firstDay}`))
  for (const plans of portionsOf([...new Set(periods.map(({ planId }) => planId))])) {
    const rows = await reader
      .select({ planId: c.planId, firstDay: c.ofFirstDay, id: c.managerId, fee: sumOf(c.fee), charge: sumOf(c.charge) })
      .from(c)
      .innerJoin(e, eq(e.id, c.entryId))
      .where(and(inArray(c.planId, plans), notInArray(e.status, [...UNCOUNTED_STATUSES]), visible))
      .groupBy(c.planId, c.ofFirstDay, c.managerId)
    for (const row of rows) {
      if (!known.has(`${row.planId} ${row.firstDay}`)) continue
      const { corrections } = sumAt(row, row.id)
      corrections.fee += BigInt(row.fee)
      corrections.charge += BigInt(row.charge)
    }
  }
  const names = new Map<number, Pick<PersonSum, 'uid' | 'name'>>()
  const ids = new Set([...byPeriod.values()].flatMap((people) => [...people.keys()]))
  for (const portion of portionsOf([...ids])) {
    const people = await reader.select({ id: u.id, uid: u.uid, name: u.name }).from(u).where(inArray(u.id, portion))
    for (const { id, ...person } of people) names.set(id, person)
  }
  const named = [...byPeriod].map(([key, people]) => {
    const sums = [...people].map(([id, sum]): PersonSum => ({ ...names.get(id)!, ...sum }))
    return [key, sums.sort(byListValue)] as const
  })
  return new Map(named)
}

const nothing = (): Omit<PersonSum, 'uid' | 'name'> => ({
  entries: 0,
  unpricedEntries: 0,
  listValue: 0n,
  fee: 0n,
  charge: 0n,
  corrections: { fee: 0n, charge: 0n },
  units: { usd: 0n, tokens: 0n, requests: 0n },
})

const byListValue = (one: PersonSum, other: PersonSum): number =>
  one.listValue === other.listValue ? (one.uid < other.uid ? -1 : 1) : one.listValue > other.listValue ? -1 : 1

const sumOf = (amount: unknown) => sql<string>`CAST(coalesce(sum(${amount}), 0) AS text)`

/** The shares of entries, but for corrections, by person and by what part of them is metered. */
async function sumShares(reader: Reader, periods: readonly Calculated[], visible: SQL | undefined) {
  const { entries: e, fundings: f, planCorrections: c, planShares: s } = reader.tables
  const rows = []
  for (const generations of portionsOf(periods.flatMap(({ generationId }) => generationId ?? []))) {
    rows.push(
      ...(await reader
        .select({
          generationId: s.generationId,
          id: e.managerId,
          meteredShare: f.meteredShare,
          entries: sql<number>`count(*)`.mapWith(Number),
          unpricedEntries: sql<number>`sum(CASE WHEN ${e.listValue} IS NULL THEN 1 ELSE 0 END)`.mapWith(Number),
          listValue: sumOf(e.listValue),
          fee: sumOf(s.fee),
          charge: sumOf(s.charge),
          cost: sumOf(sql`coalesce(${e.reportedCost}, ${e.listValue})`),
          tokens: sumOf(sql`${e.input} + ${e.output} + ${e.cacheRead} + ${e.cacheWrite} + ${e.cacheWrite1h}`),
          requests: sumOf(e.requests),
        })
        .from(s)
        .innerJoin(e, eq(e.id, s.entryId))
        .leftJoin(f, eq(f.id, e.fundingId))
        .leftJoin(c, eq(c.entryId, s.entryId))
        .where(and(inArray(s.generationId, generations), isNull(c.entryId), visible))
        .groupBy(s.generationId, e.managerId, f.meteredShare)),
    )
  }
  return rows
}
