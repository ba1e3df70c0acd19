/** The entries of a day that cost most, what a person's entries cost, and the names of people. */

import { aliasedTable, and, asc, desc, eq, gte, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import { amountOfParts, amountParts } from '../../database/exact-amounts.ts'
import type { Id } from '../../lib/id.ts'
import type { Nanos } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { amountOf, conditionOf, costOf, type EntryFilter } from '../selection/contract.ts'

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

/** A costly entry, with what people recognize it by. */
export interface CostlySession extends CostlyEntry {
  startedAt: number
  managerUid: Id<'usr'>
  managerName: string
  agent: string
  model: string
  projectKey: string | null
  /** Null if the report has none. */
  summary: string | null
}

/** The visible entries with the highest costs that match, the highest first. Reads the entries of the period. */
export async function listCostlySessions(
  reader: Reader,
  { viewer, filter, basis, minimumNanos, limit }: PastQuery & { minimumNanos: Nanos },
): Promise<CostlySession[]> {
  const { entries, users, names, projects } = reader.tables
  const cost = amountOf(reader.tables, basis)
  const [agents, models] = [aliasedTable(names, 'agent'), aliasedTable(names, 'model')]
  const found = await reader
    .select({
      id: entries.id,
      uid: entries.uid,
      managerId: entries.managerId,
      costNanos: cost.mapWith(BigInt),
      startedAt: entries.startedAt,
      managerUid: users.uid,
      managerName: users.name,
      agent: agents.text,
      model: models.text,
      projectKey: projects.key,
      summary: entries.summary,
    })
    .from(entries)
    .innerJoin(users, eq(users.id, entries.managerId))
    .innerJoin(agents, eq(agents.id, entries.agentId))
    .innerJoin(models, eq(models.id, entries.modelId))
    .leftJoin(projects, eq(projects.id, entries.projectId))
    .where(and(conditionOf(reader, filter), await visibleEntries(reader, viewer), gte(cost, minimumNanos)))
    .orderBy(desc(cost), asc(entries.id))
    .limit(limit)
  return found as CostlySession[]
}

interface PastQuery {
  viewer: Viewer
  filter: EntryFilter
  basis: CostBasis
  limit: number
}

/** What the last visible entries of a person that match cost, without those of which it is unknown. */
export async function listPastCosts(
  reader: Reader,
  managerId: number,
  { viewer, filter, basis, limit }: PastQuery,
): Promise<{ startedAt: number; costNanos: Nanos }[]> {
  const { entries } = reader.tables
  const amount = amountOf(reader.tables, basis)
  const condition = and(conditionOf(reader, filter), isNotNull(amount))
  const { dollars, rest } = amountParts(amount)
  // There are thousands of them for each person.
  const rows = await reader
    .raw<{ at: number; dollars: number; rest: number }>(
      reader
        .select({ at: sql`${entries.startedAt}`.as('at'), dollars: dollars.as('dollars'), rest: rest.as('rest') })
        .from(entries)
        .where(and(eq(entries.managerId, managerId), condition, await visibleEntries(reader, viewer)))
        .orderBy(desc(entries.startedAt))
        .limit(limit),
    )
    .execute()
  return rows.map((row) => ({ startedAt: row.at, costNanos: amountOfParts(row.dollars, row.rest)! }))
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
