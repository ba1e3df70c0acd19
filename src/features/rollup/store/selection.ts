/**
 * Filters and visibility as keys that pass. The SQL conditions stay the only definition of a filter: for each attribute,
 * the database evaluates them once for all of its values.
 */

import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { VisibleKeys } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { isId } from '../../../lib/id.ts'
import { conditionOf, type EntryFilter } from '../../selection/contract.ts'
import { measureTests } from '../measure-tests.ts'
import { type Key, PLACED_BY_KEYS, SOURCE_KEYS, STATUS_KEYS } from '../segment.ts'
import { type Passing, passingOf, Selection, TESTED } from '../selection.ts'

/** Resolves a filter whose attributes are all in columns; see `testedColumns`. */
export async function resolveSelection(
  reader: Reader,
  seen: VisibleKeys | undefined,
  filter: EntryFilter,
): Promise<Selection> {
  const byKey = new Map<Key, EntryFilter>()
  for (const [name, value] of Object.entries(filter)) {
    const key = TESTED[name as keyof EntryFilter]
    if (value === undefined || key === undefined) continue
    byKey.set(key, { ...byKey.get(key), [name]: value })
  }
  const tests = []
  for (const [key, part] of byKey) tests.push({ key, passing: await passingKeys(reader, key, part) })
  // Those that usually leave fewest rows first.
  tests.sort((one, other) => countOf(one.passing) - countOf(other.passing))
  return new Selection(
    tests,
    measureTests(filter),
    seen && {
      managerId: seen.managerId,
      projects: passingOf(seen.ledIds),
      unattributed:
        seen.labelSetIds.length === 0
          ? undefined
          : {
              labelSets: passingOf(seen.labelSetIds),
              exceptSources: passingOf(seen.exceptSources.map((source) => SOURCE_KEYS[source])),
            },
      approved:
        seen.approvedIds.length === 0
          ? undefined
          : {
              projects: passingOf(seen.approvedIds),
              statuses: passingOf(seen.statuses.map((status) => STATUS_KEYS[status])),
            },
    },
  )
}

function countOf(passing: Passing): number {
  return passing.reduce((count, isPassing) => count + isPassing, 0)
}

async function passingKeys(reader: Reader, key: Key, filter: EntryFilter): Promise<Passing> {
  // Most reports filter by these, and they have few values.
  if (key === 'status') return passingOf(filter.status!.map((status) => STATUS_KEYS[status]))
  if (key === 'source') return passingOf(filter.source!.map((source) => SOURCE_KEYS[source]))
  if (key === 'superseded') return passingOf([Number(filter.superseded)])
  if (key === 'isPossibleDuplicate') return passingOf([Number(filter.possible_duplicate)])
  const { table, column, codes } = domainOf(reader.tables, key)
  const rows = await reader
    .select({ value: sql<string | null>`CAST(${column} AS text)` })
    .from(table)
    .where(conditionOf(reader, filter))
  return passingOf(rows.map(({ value }) => (value === null ? -1 : codes ? codes[value]! : Number(value))))
}

/** Whether entries may have a list value of these loads of prices: not if they are unknown, or were undone. */
export async function mayBeValued(reader: Reader, { price_load }: EntryFilter): Promise<boolean> {
  if (price_load === undefined) return true
  const { prices, priceLoads } = reader.tables
  const found = await reader
    .select({ id: prices.id })
    .from(prices)
    .innerJoin(priceLoads, eq(priceLoads.id, prices.loadId))
    .where(
      inArray(
        priceLoads.uid,
        price_load.filter((value) => isId('pld', value)),
      ),
    )
    .limit(1)
  return found.length > 0
}

interface Domain {
  /** All values of the attribute, under the name of the entries' table, so that conditions on entries apply. */
  table: SQL
  column: SQL
  /** The keys of texts. */
  codes?: Record<string, number>
}

function domainOf(
  { entries, ...t }: Tables,
  key: Exclude<Key, 'status' | 'source' | 'superseded' | 'isPossibleDuplicate'>,
): Domain {
  const domain = (column: { name: string }, values: SQL): Pick<Domain, 'table' | 'column'> => ({
    table: sql`(SELECT * FROM (${values}) AS "values") AS "entries"`,
    column: sql`"entries".${sql.identifier(column.name)}`,
  })
  const idsOf = (table: SQL, id: SQL, column: { name: string }) =>
    domain(
      column,
      sql`SELECT ${id} AS ${sql.identifier(column.name)} FROM ${table} UNION ALL SELECT CAST(NULL AS bigint)`,
    )
  const texts = (codes: Record<string, number>, column: { name: string }) => ({
    ...domain(
      column,
      sql`${sql.join(
        Object.keys(codes).map((text) => sql`SELECT ${sql.raw(`'${text}'`)} AS ${sql.identifier(column.name)}`),
        sql` UNION ALL `,
      )} UNION ALL SELECT CAST(NULL AS text)`,
    ),
    codes,
  })
  switch (key) {
    case 'managerId':
      return idsOf(sql`${t.users}`, sql`${t.users.id}`, entries.managerId)
    case 'projectId':
      return idsOf(sql`${t.projects}`, sql`${t.projects.id}`, entries.projectId)
    case 'ticketId':
      return idsOf(sql`${t.tickets}`, sql`${t.tickets.id}`, entries.ticketId)
    case 'labelSetId':
      return idsOf(sql`${t.labelSets}`, sql`${t.labelSets.id}`, entries.labelSetId)
    case 'fundingId':
      return idsOf(sql`${t.fundings}`, sql`${t.fundings.id}`, entries.fundingId)
    case 'agentId':
    case 'harnessId':
    case 'modelId':
    case 'providerId':
      return idsOf(sql`${t.names}`, sql`${t.names.id}`, entries[key])
    case 'placedBy':
      return texts(PLACED_BY_KEYS, entries.placedBy)
  }
}
