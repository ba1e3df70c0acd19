/** How many entries of a period fulfil each of several conditions, and what they cost, in one look at them. */
import { and, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { type Viewer, visibleEntries } from '../../../database/visibility.ts'
import { costOf, countWhere, sumWhere } from './expressions.ts'

export interface Counted {
  entries: number
  unpricedEntries: number
  /** Null where the cost of none is known. */
  costNanos: bigint | null
}

/** One row a condition, in their order, of the entries that `condition` holds as well. */
export async function countEach(
  reader: Reader,
  { viewer, condition, each }: { viewer: Viewer; condition: SQL | undefined; each: (SQL | undefined)[] },
): Promise<Counted[]> {
  const { entries } = reader.tables
  const cost = costOf(reader.tables)
  const columns = each.map((one = sql`1 = 1`) => ({
    entries: countWhere(one),
    unpricedEntries: countWhere(and(one, sql`${cost} IS NULL`)!),
    costNanos: sumWhere(one, cost),
  }))
  const [row] = await reader
    .select(
      Object.fromEntries(
        columns.flatMap((counts, index) => Object.entries(counts).map(([name, column]) => [`${name}${index}`, column])),
      ),
    )
    .from(entries)
    .where(and(condition, visibleEntries(reader, viewer)))
  return each.map((_, index) => ({
    entries: row![`entries${index}`] as number,
    unpricedEntries: row![`unpricedEntries${index}`] as number,
    costNanos: row![`costNanos${index}`] as bigint | null,
  }))
}
