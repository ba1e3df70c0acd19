/** The usage of entries without a price, by the names that prices are looked up by. */
import { aliasedTable, and, asc, desc, eq, gte, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { count, roughSum, tokenSums } from './expressions.ts'

export interface UnpricedRow {
  model: string
  provider: string | null
  entries: number
  tokens: Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h', bigint>
  firstAt: number
  lastAt: number
}

export interface Ranked {
  viewer: Viewer
  /** The condition for entries, built for this reader, except the period. */
  condition: SQL | undefined
  /** Unlimited where absent. */
  from: number | undefined
  to: number | undefined
  /** The number of rows before the page. */
  after: number
  limit: number
}

/** A longer period usually has more entries than there are without a price at any time, which have an index. */
const SHORT_MS = 62 * 86_400_000

/** The time is calculated for longer periods, so that SQLite does not read all of their entries by its index. */
function periodOf({ startedAt }: Reader['tables']['entries'], { from, to }: Pick<Ranked, 'from' | 'to'>) {
  const isShort = (to ?? Number.POSITIVE_INFINITY) - (from ?? Number.NEGATIVE_INFINITY) <= SHORT_MS
  const time = isShort ? sql`${startedAt}` : sql`(${startedAt} + 0)`
  return and(from === undefined ? undefined : gte(time, from), to === undefined ? undefined : lt(time, to))
}

/** The most used first. */
export async function listUnpriced(reader: Reader, task: Ranked): Promise<UnpricedRow[]> {
  const rows = await unpricedQuery(reader, task, await visibleEntries(reader, task.viewer))
  return rows.map((row) => ({
    ...row,
    // Not null: there is at least one entry, and all counts are known.
    tokens: row.tokens as UnpricedRow['tokens'],
  }))
}

export function unpricedQuery(
  reader: Reader,
  { condition, from, to, after, limit }: Omit<Ranked, 'viewer'>,
  visible: SQL | undefined,
) {
  const { entries, names } = reader.tables
  const models = aliasedTable(names, 'model')
  const provider = sql<string | null>`(SELECT ${names.text} FROM ${names} WHERE ${names.id} = ${entries.providerId})`
  const total = roughSum(
    sql`${entries.input} + ${entries.output} + ${entries.cacheRead} + ${entries.cacheWrite} + ${entries.cacheWrite1h}`,
  )
  return (
    reader
      .select({
        model: models.text,
        provider,
        entries: count(),
        tokens: tokenSums(reader.tables),
        firstAt: sql<number>`min(${entries.startedAt})`.mapWith(Number),
        lastAt: sql<number>`max(${entries.startedAt})`.mapWith(Number),
      })
      .from(entries)
      .innerJoin(models, eq(models.id, entries.modelId))
      // The condition of the index of entries without a price.
      .where(
        and(
          isNull(entries.listValue),
          isNull(entries.reportedCost),
          periodOf(entries, { from, to }),
          condition,
          visible,
        ),
      )
      .groupBy(entries.modelId, entries.providerId, models.text)
      .orderBy(desc(total), asc(models.text), asc(entries.providerId))
      .limit(limit)
      .offset(after)
  )
}
