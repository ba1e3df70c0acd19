import { and, asc, gte, inArray, isNotNull, lt, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { amountOfParts, amountParts } from '../../../database/exact-amounts.ts'
import type { Nanos } from '../../../lib/money.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { amountOf, conditionOf, type EntryFilter } from '../../selection/contract.ts'
import type { Range } from '../plan.ts'

export interface EntryCost {
  startedAt: number
  costNanos: Nanos
}

export interface CostsQuery {
  viewer: Viewer
  filter: EntryFilter
  managerIds: ReadonlySet<number>
  basis: CostBasis
}

/** The entries of a range, see `readCosts`, from their table. */
export async function listCosts(
  reader: Reader,
  { viewer, filter, managerIds, basis }: CostsQuery,
  { from, to }: Range,
): Promise<(EntryCost & { managerId: number })[]> {
  const { entries } = reader.tables
  const amount = amountOf(reader.tables, basis)
  const { dollars, rest } = amountParts(amount)
  const rows = await reader
    .raw<{ manager: number; at: number; dollars: number; rest: number }>(
      reader
        .select({
          manager: sql`${entries.managerId}`.as('manager'),
          at: sql`${entries.startedAt}`.as('at'),
          dollars: dollars.as('dollars'),
          rest: rest.as('rest'),
        })
        .from(entries)
        .where(
          and(
            inArray(entries.managerId, [...managerIds]),
            gte(entries.startedAt, from),
            lt(entries.startedAt, to),
            conditionOf(reader, filter),
            isNotNull(amount),
            await visibleEntries(reader, viewer),
          ),
        )
        .orderBy(asc(entries.startedAt)),
    )
    .execute()
  return rows.map((row) => ({
    managerId: row.manager,
    startedAt: row.at,
    costNanos: amountOfParts(row.dollars, row.rest)!,
  }))
}
