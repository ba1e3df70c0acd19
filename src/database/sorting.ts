/** Pages of lists in an order that a caller chose: keyset pagination by a value and the key of the row. */
import { type Column, desc, lt, type SQL, sql } from 'drizzle-orm'
import type { PageRequest, SortedBy } from '../schema/query.ts'
import { writeKeyPage, writeSortPage } from '../schema/query.ts'
import type { Reader } from './database.ts'
import type { Tables } from './schema/tables.ts'

/** What rows are sorted by: in SQL, and of a row that was read, where the next page begins. */
export interface SortKey<View> {
  sql: (tables: Tables) => SQL | Column
  of: (view: View) => string | number | bigint | null
}

export type SortKeys<Sorts extends object, View> = Record<keyof Sorts, SortKey<View>>

/** As `lower` of both databases, which knows only ASCII for texts that are compared by their bytes. */
export const lowered = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * Whether a row follows another one. Unknown values are last in both orders, and equal ones are in the same order of their
 * keys.
 */
export function isBehind(
  id: Column,
  value: SQL | Column,
  order: 'asc' | 'desc',
  after: { value: unknown; id: number },
): SQL {
  const isBeyond = sql.raw(order === 'desc' ? '<' : '>')
  const isSameAfter = sql`${id} ${isBeyond} ${after.id}`
  if (after.value === null) return sql`(${value} IS NULL AND ${isSameAfter})`
  return sql`(${value} ${isBeyond} ${after.value} OR (${value} = ${after.value} AND ${isSameAfter}) OR ${value} IS NULL)`
}

/** The condition and the order of a page: newest first, unless the caller chose another order. */
export function pageIn<Sort extends string>(
  { tables }: Reader,
  id: Column,
  { after, by }: Omit<PageRequest<Sort>, 'limit'>,
  keys: Record<Sort, Pick<SortKey<never>, 'sql'>>,
): { behind: SQL | undefined; order: SQL[] } {
  if (!by) return { behind: after === undefined ? undefined : lt(id, after), order: [desc(id)] }
  const value = keys[by.sort].sql(tables)
  const direction = sql.raw(by.order)
  // Bound as a bigint, which both databases compare with any integer.
  const bound = (last: string | bigint | null) =>
    typeof last === 'bigint' ? sql.param(last, tables.entries.listValue) : last
  return {
    behind: by.after && isBehind(id, value, by.order, { ...by.after, value: bound(by.after.value) }),
    order: [sql`${value} ${direction} NULLS LAST`, sql`${id} ${direction}`],
  }
}

/** The token of the page that follows this row. */
export function pageAfter<View, Sort extends string>(
  keys: Record<Sort, SortKey<View>>,
  by: SortedBy<Sort> | undefined,
  view: View,
  id: number,
): string {
  if (!by) return writeKeyPage(id)
  const value = keys[by.sort].of(view)
  return writeSortPage(by, { value: typeof value === 'number' ? BigInt(value) : value, id })
}
