/** Entries in order of time, as the numbers that columns consist of. */
import { and, asc, type Column, gt, gte, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { amountOf, conditionOf, type EntryFilter } from '../../selection/contract.ts'
import type { Range } from '../plan.ts'

/**
 * As a double: SQLite returns integers as bigints, which are many times slower. Only for values that doubles represent
 * exactly.
 */
function double(value: Column | SQL): SQL<number> {
  return sql<number>`CAST(${value} AS double precision)`
}

/** The upper and lower 32 bits of an amount. */
function halves(amount: Column | SQL): { high: SQL<number | null>; low: SQL<number | null> } {
  return { high: double(sql`(${amount} >> 32)`), low: double(sql`(${amount} & 4294967295)`) }
}

function columnsOf({ entries: e }: Reader['tables']) {
  const [list, reported] = [halves(e.listValue), halves(e.reportedCost)]
  const flag = (condition: SQL) => sql<number>`CASE WHEN ${condition} THEN 1.0 ELSE 0.0 END`
  return {
    id: double(e.id),
    startedAt: double(e.startedAt),
    endedAt: double(e.endedAt),
    managerId: double(e.managerId),
    harnessId: double(e.harnessId),
    agentId: double(e.agentId),
    modelId: double(e.modelId),
    providerId: double(e.providerId),
    projectId: double(e.projectId),
    ticketId: double(e.ticketId),
    labelSetId: double(e.labelSetId),
    status: e.status,
    source: e.source,
    placedBy: e.placedBy,
    superseded: flag(sql`${e.superseded}`),
    isPossibleDuplicate: flag(sql`${e.possibleDuplicateId} IS NOT NULL`),
    input: double(e.input),
    output: double(e.output),
    cacheRead: double(e.cacheRead),
    cacheWrite: double(e.cacheWrite),
    cacheWrite1h: double(e.cacheWrite1h),
    activeMs: double(e.activeMs),
    listHigh: list.high,
    listLow: list.low,
    reportedHigh: reported.high,
    reportedLow: reported.low,
  }
}

/** What pays for entries, and their costs by it. */
function fundedColumnsOf(tables: Reader['tables']) {
  const [marginal, allocated] = [halves(amountOf(tables, 'marginal')), halves(amountOf(tables, 'allocated'))]
  return {
    ...columnsOf(tables),
    fundingId: double(tables.entries.fundingId),
    marginalHigh: marginal.high,
    marginalLow: marginal.low,
    allocatedHigh: allocated.high,
    allocatedLow: allocated.low,
  }
}

const columnsToList = (
  tables: Reader['tables'],
  isFunded: boolean,
): ReturnType<typeof columnsOf> & Partial<ReturnType<typeof fundedColumnsOf>> =>
  isFunded ? fundedColumnsOf(tables) : columnsOf(tables)

/** Whether there is anything that entries may be paid with: without it, as in most organizations, less is read of each. */
async function hasFundings(reader: Reader): Promise<boolean> {
  const [funding] = await reader
    .prepared('rollup.fundings', (prepare) => {
      const { fundings } = prepare.tables
      return prepare.select({ id: fundings.id }).from(fundings).limit(1)
    })
    .execute({})
  return funding !== undefined
}

/** Some entries that started in a range, from after `after` on. */
export async function listEntries(
  reader: Reader,
  { from, to }: Range,
  after: { startedAt: number; id: number },
  limit: number,
) {
  const isFunded = await hasFundings(reader)
  return reader
    .prepared(`rollup.entries.${isFunded}`, (prepare) => {
      const { entries: e } = prepare.tables
      const given = (name: string) => sql.placeholder(name)
      return prepare
        .select(columnsToList(prepare.tables, isFunded))
        .from(e)
        .where(
          and(
            gte(e.startedAt, given('from')),
            lt(e.startedAt, given('to')),
            or(gt(e.startedAt, given('after')), gt(e.id, given('afterId'))),
          ),
        )
        .orderBy(asc(e.startedAt), asc(e.id))
        .limit(given('limit'))
    })
    .execute({ from: Math.max(from, after.startedAt), to, after: after.startedAt, afterId: after.id, limit })
}

export interface UnattributedQuery {
  viewer: Viewer
  filter: EntryFilter
}

/** The same of unattributed entries that match and that a viewer sees. */
export async function listUnattributed(
  reader: Reader,
  { from, to }: Range,
  { viewer, filter }: UnattributedQuery,
  after: { startedAt: number; id: number },
  limit: number,
) {
  const { entries: e } = reader.tables
  const listed = columnsToList(reader.tables, await hasFundings(reader))
  const columns = Object.entries(listed).map(([name, column]) => [name, sql`${column}`.as(name)])
  const query = reader
    .select(Object.fromEntries(columns) as Record<string, SQL.Aliased>)
    .from(e)
    .where(
      and(
        isNull(e.placedBy),
        gte(e.startedAt, Math.max(from, after.startedAt)),
        lt(e.startedAt, to),
        or(gt(e.startedAt, after.startedAt), gt(e.id, after.id)),
        conditionOf(reader, filter),
        await visibleEntries(reader, viewer),
      ),
    )
    .orderBy(asc(e.startedAt), asc(e.id))
    .limit(limit)
  // Until there are segments, these may be very many.
  return reader.raw<ListedEntry>(query).execute()
}

export type ListedEntry = Awaited<ReturnType<typeof listEntries>>[number]
