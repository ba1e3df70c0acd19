/** Pages of entries in the order of a figure, which has no index: each page reads all entries of the period. */

import { and, asc, desc, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import { isBehind } from '../../../../database/sorting.ts'
import {
  COUNT_COLUMNS,
  conditionOf,
  type EntryFilter,
  type FigureOrder,
  type FigurePosition,
  isSelective,
  type SortFigure,
  sortFigure,
} from '../../../selection/contract.ts'
import { costNanosOf } from '../../rows.ts'
import type { EntryRecord, EntryView } from '../../store.ts'
import { viewsOf } from './lists.ts'
import { indexedParts } from './search.ts'

export interface SortedPage extends FigureOrder {
  filter: EntryFilter
  viewer: Viewer
  limit: number
}

/** What is read for one page: about a second's work, and what ten people use in three months. */
export const SORT_LIMIT = 1_000_000

/** Undefined if the period has more than `most` entries to sort. */
export async function listSorted(
  reader: Reader,
  { filter, viewer, sort, order, after, limit }: SortedPage,
  most = SORT_LIMIT,
): Promise<EntryView[] | undefined> {
  const { entries } = reader.tables
  const parts = isSelective(filter) ? [undefined] : await partsOfPeriod(reader, filter, viewer)
  if (!isSelective(filter) && (await hasMore(reader, parts, most))) return undefined

  const figure = sortFigure(reader, sort)
  const last = after && {
    id: after.id,
    value: after.value === null ? null : sql`${sql.param(after.value, entries.listValue)}`,
  }
  const inDirection = order === 'desc' ? desc : asc
  const condition = and(
    conditionOf(reader, filter),
    await visibleEntries(reader, viewer),
    last && isBehind(entries.id, figure, order, last),
  )
  const found = new Map<number, FigurePosition>()
  for (const part of parts) {
    const rows = await reader
      .select({ id: entries.id, value: sql<bigint | null>`${figure}`.mapWith(entries.listValue) })
      .from(entries)
      .where(and(part, condition))
      .orderBy(sql`${inDirection(figure)} NULLS LAST`, inDirection(entries.id))
      .limit(limit)
    for (const row of rows) found.set(row.id, row)
  }
  const first = [...found.values()].sort(comparing(order)).slice(0, limit)
  return viewsOf(
    reader,
    first.map(({ id }) => id),
  )
}

/** Conditions with an index in the order of time, which together hold for all that the filter lets through. */
async function partsOfPeriod(reader: Reader, filter: EntryFilter, viewer: Viewer): Promise<(SQL | undefined)[]> {
  const { starting_at, ending_at } = filter
  const parts = await indexedParts(reader, filter, viewer)
  return parts.map((part) => and(part, conditionOf(reader, { starting_at, ending_at })))
}

/** Where a page that ends with this entry is continued. */
export function figurePositionOf({ entry }: Pick<EntryView, 'entry'>, sort: SortFigure): FigurePosition {
  const value = isCount(sort) ? BigInt(entry[COUNT_COLUMNS[sort]]) : FIGURES[sort](entry)
  return { value, id: entry.id }
}

type SortCount = keyof typeof COUNT_COLUMNS

const isCount = (sort: SortFigure): sort is SortCount => Object.hasOwn(COUNT_COLUMNS, sort)

const FIGURES: Record<Exclude<SortFigure, SortCount>, (entry: EntryRecord) => bigint | null> = {
  cost: costNanosOf,
  list_value: ({ listValue }) => listValue,
  reported_cost: ({ reportedCost }) => reportedCost,
  tokens: ({ input, output, cacheRead, cacheWrite, cacheWrite1h }) =>
    BigInt(input + output + cacheRead + cacheWrite + cacheWrite1h),
  duration: ({ startedAt, endedAt }) => BigInt(endedAt - startedAt),
}

function comparing(order: FigureOrder['order']): (a: FigurePosition, b: FigurePosition) => number {
  const sign = order === 'desc' ? -1 : 1
  return (a, b) => {
    if (a.value === b.value) return sign * (a.id - b.id)
    if (a.value === null || b.value === null) return a.value === null ? 1 : -1
    return a.value < b.value ? -sign : sign
  }
}

/** Whether these conditions hold for more than so many entries, which their indexes count. */
async function hasMore(reader: Reader, conditions: (SQL | undefined)[], most: number): Promise<boolean> {
  const { entries } = reader.tables
  let left = most
  for (const condition of conditions) {
    const some = reader
      .select({ id: entries.id })
      .from(entries)
      .where(condition)
      .limit(left + 1)
      .as('some')
    const [row] = await reader.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(some)
    left -= row!.count
    if (left < 0) return true
  }
  return false
}
