/** What callers reported against what the price table says, over entries of which both are known. */
import { aliasedTable, and, asc, desc, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { type Viewer, visibleEntries } from '../../../database/visibility.ts'
import { count, countWhere, roughSum, sum, sumWhere } from './expressions.ts'
import type { Ranked } from './unpriced.ts'

export interface VarianceRow {
  model: string
  agent: string
  entries: number
  reportedCostNanos: bigint
  listValueNanos: bigint
}

/** The largest difference first, whichever way it goes. */
export async function listVariance(
  reader: Reader,
  { viewer, condition, after, limit }: Ranked,
): Promise<VarianceRow[]> {
  const { entries, names } = reader.tables
  const models = aliasedTable(names, 'model')
  const agents = aliasedTable(names, 'agent')
  const rows = await reader
    .select({
      model: models.text,
      agent: agents.text,
      entries: count(),
      reportedCostNanos: sum(entries.reportedCost),
      listValueNanos: sum(entries.listValue),
    })
    .from(entries)
    .innerJoin(models, eq(models.id, entries.modelId))
    .innerJoin(agents, eq(agents.id, entries.agentId))
    .where(
      and(isNotNull(entries.reportedCost), isNotNull(entries.listValue), condition, visibleEntries(reader, viewer)),
    )
    .groupBy(entries.modelId, entries.agentId, models.text, agents.text)
    .orderBy(
      desc(sql`abs(${roughSum(sql`${entries.reportedCost} - ${entries.listValue}`)})`),
      asc(models.text),
      asc(agents.text),
    )
    .limit(limit)
    .offset(after)
  return rows.map((row) => ({ ...row, reportedCostNanos: row.reportedCostNanos!, listValueNanos: row.listValueNanos! }))
}

export interface Compared {
  /** Of the filter and period, whatever is known of their cost. */
  entries: number
  /** Those of which both figures are known. */
  comparedEntries: number
  reportedCostNanos: bigint | null
  listValueNanos: bigint | null
}

/** What the comparison covers, and its sums. */
export async function sumCompared(
  reader: Reader,
  { viewer, condition }: { viewer: Viewer; condition: SQL | undefined },
): Promise<Compared> {
  const { entries } = reader.tables
  const both = and(isNotNull(entries.reportedCost), isNotNull(entries.listValue))!
  const [row] = await reader
    .select({
      entries: count(),
      comparedEntries: countWhere(both),
      reportedCostNanos: sumWhere(both, entries.reportedCost),
      listValueNanos: sumWhere(both, entries.listValue),
    })
    .from(entries)
    .where(and(condition, visibleEntries(reader, viewer)))
  return row!
}
