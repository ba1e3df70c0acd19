/** The entries of a day that cost most, what a person's entries cost, and the names of people. */
import { and, asc, desc, eq, gte, inArray, lte, sql } from 'drizzle-orm'
import type { Reader } from '../../database/database.ts'
import type { Id } from '../../lib/id.ts'
import type { Nanos } from '../../lib/money.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'
import { conditionOf, costOf } from '../entries/listing/store/conditions.ts'

export interface CostlyEntry {
  id: number
  uid: Id<'ent'>
  managerId: number
  costNanos: Nanos
}

interface CostlyQuery {
  filter: EntryFilter
  minimumNanos: Nanos
  perPerson: number
  limit: number
}

/** Of the entries that match, each person's with the highest costs, the highest first. Reads the entries of the period. */
export async function listCostly(
  reader: Reader,
  { filter, minimumNanos, perPerson, limit }: CostlyQuery,
): Promise<CostlyEntry[]> {
  const { entries } = reader.tables
  const cost = costOf(reader.tables)
  const ranked = reader
    .select({
      id: entries.id,
      uid: entries.uid,
      managerId: entries.managerId,
      cost: cost.mapWith(BigInt).as('cost'),
      rank: sql`row_number() OVER (PARTITION BY ${entries.managerId} ORDER BY ${cost} DESC, ${entries.id})`.as('rank'),
    })
    .from(entries)
    .where(and(conditionOf(reader, filter), gte(cost, minimumNanos)))
    .as('ranked')
  return reader
    .select({ id: ranked.id, uid: ranked.uid, managerId: ranked.managerId, costNanos: ranked.cost })
    .from(ranked)
    .where(lte(ranked.rank, perPerson))
    .orderBy(desc(ranked.cost), asc(ranked.id))
    .limit(limit) as Promise<CostlyEntry[]>
}

/** What the last entries of a person that match cost, without unpriced ones. */
export async function listCosts(
  reader: Reader,
  managerId: number,
  { filter, limit }: { filter: EntryFilter; limit: number },
): Promise<Nanos[]> {
  const { entries } = reader.tables
  const rows = await reader
    .select({ reportedCost: entries.reportedCost, listValue: entries.listValue })
    .from(entries)
    .where(and(eq(entries.managerId, managerId), conditionOf(reader, { ...filter, priced: true })))
    .orderBy(desc(entries.startedAt))
    .limit(limit)
  return rows.map(({ reportedCost, listValue }) => reportedCost ?? listValue!)
}

export interface NamedPerson {
  id: number
  uid: Id<'usr'>
  name: string
}

export async function listPeople(reader: Reader, ids: readonly number[]): Promise<Map<number, NamedPerson>> {
  const { users } = reader.tables
  const people = await reader
    .select({ id: users.id, uid: users.uid, name: users.name })
    .from(users)
    .where(inArray(users.id, [...new Set(ids)]))
  return new Map(people.map((person) => [person.id, person]))
}
