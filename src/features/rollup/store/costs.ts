import { and, asc, gte, inArray, lt, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { amountOfParts, amountParts } from '../../../database/exact-amounts.ts'
import type { Nanos } from '../../../lib/money.ts'
import { conditionOf, costOf, type EntryFilter } from '../../selection/contract.ts'
import type { Range } from '../plan.ts'

export interface EntryCost {
  startedAt: number
  costNanos: Nanos
}

export interface CostsQuery {
  viewer: Viewer
  filter: EntryFilter
  managerIds: ReadonlySet<number>
}

/** The entries of a range, see `readCosts`, from their table. */
export async function listCosts(
  reader: Reader,
  { viewer, filter, managerIds }: CostsQuery,
  { from, to }: Range,
): Promise<(EntryCost & { managerId: number })[]> {
  const { entries } = reader.tables
  const { dollars, rest } = amountParts(costOf(reader.tables))
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
