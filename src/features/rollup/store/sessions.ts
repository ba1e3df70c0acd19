/** Distinct sessions by bucket and group, from the table of entries: sums of days do not tell which sessions they contain. */

import { and, type Column, type SQL, sql } from 'drizzle-orm'
import { visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { conditionOf } from '../../selection/contract.ts'
import type { Grouping } from '../merges.ts'
import type { SumsTask } from '../scan.ts'
import { FUNDING_KEYS } from '../segment.ts'
import { bucketOf, isWithin, keyColumn, keyOf, literal, stretchesOf } from './sums.ts'

export interface SessionCount {
  bucket: number
  /** By grouping: the key as in sums, or the value of a label; -1 and null are none. */
  keys: (number | string | null)[]
  sessions: number
}

/** Every entry of the period is read. An entry without a session id counts as a session of its own. */
export async function countSessions(
  reader: Reader,
  { viewer, filter, groupings, bounds }: Pick<SumsTask, 'viewer' | 'filter' | 'groupings' | 'bounds'>,
): Promise<SessionCount[]> {
  const { entries: e } = reader.tables
  const [from, to] = [
    Math.max(bounds[0]!, filter.starting_at ?? Number.NEGATIVE_INFINITY),
    Math.min(bounds.at(-1)!, filter.ending_at ?? Number.POSITIVE_INFINITY),
  ]
  if (from >= to) return []
  const rows = (await reader
    .select({
      bucket: sql`${bucketOf(e.startedAt, stretchesOf(bounds))}`.mapWith(Number),
      ...Object.fromEntries(groupings.map((grouping, at) => [`key${at}`, keyExpression(reader, grouping)])),
      // Keys of rows are positive, so entries without a session never equal one.
      sessions: sql`count(DISTINCT coalesce(${e.sessionId}, -${e.id}))`.mapWith(Number),
    })
    .from(e)
    .where(
      and(
        isWithin(e.startedAt, [{ from, to }]),
        conditionOf(reader, { ...filter, starting_at: undefined, ending_at: undefined }),
        await visibleEntries(reader, viewer),
      ),
    )
    .groupBy(...[...groupings.keys(), groupings.length].map((at) => literal(at + 1)))) as Record<string, unknown>[]
  return rows.map((row) => ({
    bucket: row.bucket as number,
    keys: groupings.map((grouping, at) => {
      const value = row[`key${at}`]
      if ('label' in grouping) return value as string | null
      return 'key' in grouping ? keyOf(grouping.key, value) : ((value as number | null) ?? -1)
    }),
    sessions: row.sessions as number,
  }))
}

const keyOrNull = (value: unknown) => (value === null ? null : Number(value))

/** What entries are grouped by. Sessions of several projects of one client count once for it. */
function keyExpression(reader: Reader, grouping: Grouping) {
  const { entries: e, projects, labelPairs, fundings } = reader.tables
  if ('key' in grouping) return keyColumn(e, grouping.key)
  const found = (select: SQL): SQL => sql`(${select})`
  if ('client' in grouping) {
    const client = sql`SELECT ${projects.clientId} FROM ${projects} WHERE ${projects.id} = ${e.projectId}`
    return found(client).mapWith(keyOrNull)
  }
  if ('paidBy' in grouping) {
    const paid = (column: Column) => sql`SELECT ${column} FROM ${fundings} WHERE ${fundings.id} = ${e.fundingId}`
    if (grouping.paidBy === 'plan') return found(paid(fundings.planId)).mapWith(keyOrNull)
    return sql`coalesce((${paid(fundings.funding)}), 'unknown')`.mapWith((funding: string) => FUNDING_KEYS[funding]!)
  }
  return found(
    sql`SELECT ${labelPairs.value} FROM ${labelPairs} WHERE ${labelPairs.labelSetId} = ${e.labelSetId} AND ${labelPairs.name} = ${grouping.label}`,
  ).mapWith(String)
}
