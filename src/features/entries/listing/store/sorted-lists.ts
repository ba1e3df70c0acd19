/** Pages of entries in the order of a figure, which has no index: each page reads all entries of the period. */

import { and, asc, desc, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import { isBehind } from '../../../../database/sorting.ts'
import { totalTokens } from '../../../../shared/usage.ts'
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
import { amountOfEntry, costNanosOf, type EntryShare } from '../../rows.ts'
import type { EntryView } from '../../store.ts'
import { viewsOf } from './lists.ts'
import { indexedParts, nextSize, type Pace, Search } from './search.ts'

export interface SortedPage extends Omit<FigureOrder, 'section'> {
  filter: EntryFilter
  viewer: Viewer
  limit: number
}

/** Undefined if the period has more than `most` entries to sort. */
export async function listSorted(reader: Reader, page: SortedPage, most: number): Promise<EntryView[] | undefined> {
  const { filter, viewer } = page
  const parts = isSelective(filter) ? [undefined] : await partsOfPeriod(reader, filter, viewer)
  if (!isSelective(filter) && (await hasMore(reader, parts, most))) return undefined
  return viewsOf(reader, idsOf(await firstOfParts(reader, page, parts)))
}

/**
 * The same of the latest entries, however many there are: looked through in windows, each in a short statement, until the
 * time is up. Those before `searchedTo` were not looked at, if it is defined.
 */
export async function searchSorted(
  reader: Reader,
  page: SortedPage,
  { budgetMs, ...pace }: Pace,
): Promise<{ views: EntryView[]; searchedTo: number | undefined }> {
  const { filter, viewer } = page
  const endsAt = performance.now() + budgetMs
  const parts = await indexedParts(reader, filter, viewer)
  const search = new Search(reader, filter, await visibleEntries(reader, viewer), 'desc', parts)
  let found: FigurePosition[] = []
  let to = filter.ending_at
  for (let size = pace.rows; ; ) {
    const beganAt = performance.now()
    // Whole moments, so that a time alone says what was looked at.
    const end = await search.endOfWindow(to === undefined ? undefined : { startedAt: to, id: 0 }, size)
    const window = { ...filter, ending_at: to, starting_at: end?.startedAt ?? filter.starting_at }
    const ofWindow = { ...page, filter: window }
    const partsOfWindow = await partsOfPeriod(reader, window, viewer)
    found = firstOf([...found, ...(await firstOfParts(reader, ofWindow, partsOfWindow))], page)
    to = end?.startedAt
    const now = performance.now()
    if (to === undefined || now >= endsAt) return { views: await viewsOf(reader, idsOf(found)), searchedTo: to }
    size = nextSize(size, now - beganAt, pace)
  }
}

const idsOf = (found: readonly FigurePosition[]) => found.map(({ id }) => id)

/** The first entries of these parts together. */
async function firstOfParts(
  reader: Reader,
  { filter, viewer, sort, order, after, limit }: SortedPage,
  parts: readonly (SQL | undefined)[],
): Promise<FigurePosition[]> {
  const { entries } = reader.tables
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
  const found: FigurePosition[] = []
  for (const part of parts) {
    const rows = await reader
      .select({ id: entries.id, value: sql<bigint | null>`${figure}`.mapWith(entries.listValue) })
      .from(entries)
      .where(and(part, condition))
      .orderBy(sql`${inDirection(figure)} NULLS LAST`, inDirection(entries.id))
      .limit(limit)
    found.push(...rows)
  }
  return firstOf(found, { order, limit })
}

/** The first of some entries, each once: parts may overlap. */
function firstOf(
  found: readonly FigurePosition[],
  { order, limit }: Pick<SortedPage, 'order' | 'limit'>,
): FigurePosition[] {
  const each = new Map(found.map((position) => [position.id, position]))
  return [...each.values()].sort(comparing(order)).slice(0, limit)
}

/** Conditions with an index in the order of time, which together hold for all that the filter lets through. */
async function partsOfPeriod(reader: Reader, filter: EntryFilter, viewer: Viewer): Promise<(SQL | undefined)[]> {
  const { starting_at, ending_at } = filter
  const parts = await indexedParts(reader, filter, viewer)
  return parts.map((part) => and(part, conditionOf(reader, { starting_at, ending_at })))
}

/** Where a page that ends with this entry is continued. */
export function figurePositionOf(view: EntryView, sort: SortFigure, share?: EntryShare): FigurePosition {
  const { entry } = view
  const value = isCount(sort) ? BigInt(entry[COUNT_COLUMNS[sort]]) : FIGURES[sort](view, share)
  return { value, id: entry.id }
}

type SortCount = keyof typeof COUNT_COLUMNS

const isCount = (sort: SortFigure): sort is SortCount => Object.hasOwn(COUNT_COLUMNS, sort)

const FIGURES: Record<
  Exclude<SortFigure, SortCount>,
  (view: EntryView, share: EntryShare | undefined) => bigint | null
> = {
  cost: ({ entry }) => costNanosOf(entry),
  list_value: ({ entry }) => entry.listValue,
  reported_cost: ({ entry }) => entry.reportedCost,
  marginal_cost: (view, share) => amountOfEntry(view, share, 'marginal'),
  allocated_cost: (view, share) => amountOfEntry(view, share, 'allocated'),
  tokens: ({ entry }) => BigInt(totalTokens(entry)),
  duration: ({ entry }) => BigInt(entry.endedAt - entry.startedAt),
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
