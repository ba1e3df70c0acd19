/**
 * Pages of a filter without an index, such as a text: entries are looked through in the order of time, in windows so
 * small that each statement is short, until the page is full or the time is up.
 */

import { and, eq, gte, lte, not, type SQL } from 'drizzle-orm'
import { type Viewer, visibleEntries, visibleParts } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import {
  conditionOf,
  type EntryFilter,
  type ListOrder,
  orderedPart,
  type Position,
  partsOf,
} from '../../../selection/contract.ts'
import type { EntryView } from '../../store.ts'
import { firstOf, isBehind, PART_LIMIT, type PageRequest, timeOrder, viewsOf } from './lists.ts'

export interface Pace {
  /** After this time, the page ends. A person waits a moment for the first answer, and can then go on. */
  budgetMs: number
  /** How long a statement should take: others wait for the same process, and the running one is not stopped halfway. */
  statementMs: number
  /** Entries in the first window. */
  rows: number
}

const PACE: Pace = { budgetMs: 200, statementMs: 30, rows: 5_000 }

/** More would make a statement that meets colder pages than the one before take too long. */
const MOST_ROWS = 50_000

export interface Searched {
  views: EntryView[]
  /** The last entry that was looked at, if there may be further ones that match. */
  searchedTo: Position | undefined
}

export async function searchViews(
  reader: Reader,
  { filter, viewer, order = 'desc', after, limit }: PageRequest,
  { budgetMs, statementMs, rows }: Pace = PACE,
): Promise<Searched> {
  const parts = await indexedParts(reader, filter, viewer)
  const search = new Search(reader, filter, await visibleEntries(reader, viewer), order, parts)
  const endsAt = performance.now() + budgetMs
  const viewsFound = () =>
    viewsOf(
      reader,
      found.map(({ id }) => id),
    )
  let found: Position[] = []
  let from = after
  for (let size = rows; ; ) {
    const beganAt = performance.now()
    const to = await search.endOfWindow(from, size)
    found = found.concat(await search.matches({ from, to, size, limit: limit - found.length }))
    if (found.length >= limit || !to) return { views: await viewsFound(), searchedTo: undefined }
    const now = performance.now()
    if (now >= endsAt) return { views: await viewsFound(), searchedTo: to }
    size = nextSize(size, now - beganAt, { rows, statementMs })
    from = to
  }
}

/** The entries of the window after one that took so long. */
export function nextSize(
  size: number,
  tookMs: number,
  { rows, statementMs }: Pick<Pace, 'rows' | 'statementMs'>,
): number {
  return Math.ceil(Math.min(MOST_ROWS, Math.max(rows / 10, size * Math.min(2, statementMs / tookMs))))
}

/**
 * Conditions of which each has an index in the order of time. Every entry that the filter lets through and the viewer
 * can see meets one of them.
 */
export async function indexedParts(reader: Reader, filter: EntryFilter, viewer: Viewer): Promise<(SQL | undefined)[]> {
  const parts =
    viewer.sees === 'everything'
      ? partsOf(orderedPart(filter)).map((part) => conditionOf(reader, part))
      : await visibleParts(reader, viewer)
  return parts.length > PART_LIMIT ? [undefined] : parts
}

interface Window {
  /** The last entry before the window; undefined for the start. */
  from: Position | undefined
  /** The last entry in it; undefined for the end. */
  to: Position | undefined
  /** Maximum number of entries. */
  size: number
}

/** Looks through entries in the order of time. */
export class Search {
  readonly #inPeriod: SQL | undefined
  readonly #condition: SQL | undefined

  constructor(
    readonly reader: Reader,
    filter: EntryFilter,
    visible: SQL | undefined,
    readonly order: ListOrder,
    readonly parts: (SQL | undefined)[],
  ) {
    const { starting_at, ending_at } = filter
    this.#inPeriod = conditionOf(reader, { starting_at, ending_at })
    this.#condition = and(conditionOf(reader, filter), visible)
  }

  /** The last entry of a window of at most `size` entries; undefined if all that are left are fewer. */
  async endOfWindow(from: Position | undefined, size: number): Promise<Position | undefined> {
    const ends: Position[] = []
    for (const part of this.parts) {
      const [end] = await this.#entries(part, from)
        .limit(1)
        .offset(this.#share(size) - 1)
      if (end) ends.push(end)
    }
    return firstOf(ends, this.order, 1)[0]
  }

  /** The first entries of a window that match. */
  async matches({ limit, ...window }: Window & { limit: number }): Promise<Position[]> {
    const found: Position[] = []
    for (const part of this.parts) {
      const matches = this.reader.engine === 'sqlite' ? this.#joined(part, window) : this.#ofRange(part, window)
      found.push(...(await matches.limit(limit)))
    }
    return firstOf(found, this.order, limit)
  }

  /** Without statistics, another index may seem better to SQLite: the limit keeps it from merging the two queries. */
  #joined(part: SQL | undefined, { from, to, size }: Window) {
    const { entries } = this.reader.tables
    const window = this.#entries(part, from, to).limit(this.#share(size)).as('in_window')
    return this.reader
      .select({ id: entries.id, startedAt: entries.startedAt })
      .from(window)
      .crossJoin(entries)
      .where(and(eq(entries.id, window.id), this.#condition))
      .orderBy(...timeOrder(this.reader, this.order))
  }

  /** PostgreSQL would read all entries to join them with more than some thousands, but knows how few such a range has. */
  #ofRange(part: SQL | undefined, { from, to }: Window) {
    const { startedAt } = this.reader.tables.entries
    const end = to && (this.order === 'desc' ? gte(startedAt, to.startedAt) : lte(startedAt, to.startedAt))
    return this.#entries(and(part, end, this.#condition), from, to)
  }

  /** Each part's share of a window. */
  #share(size: number): number {
    return Math.max(1, Math.ceil(size / this.parts.length))
  }

  #entries(part: SQL | undefined, from: Position | undefined, to?: Position) {
    const { reader, order } = this
    const { entries } = reader.tables
    const isPast = isBehind(reader, to, order)
    return reader
      .select({ id: entries.id, startedAt: entries.startedAt })
      .from(entries)
      .where(and(part, this.#inPeriod, isBehind(reader, from, order), isPast && not(isPast)))
      .orderBy(...timeOrder(reader, order))
  }
}
