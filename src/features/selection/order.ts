/** The orders and formats of lists of entries, and where their pages begin. Pure. */
import { LIST_FORMATS, ORDERS } from '../../schema/query.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'

/** One JSON object per line is for programs that read more than a page. */
export const ENTRY_FORMATS = [...LIST_FORMATS, 'ndjson'] as const

/**
 * What a list can be sorted by. Only the time has an index: the others are read and sorted for each page. Names are not
 * among them: a page of a million entries by model is the first entries of one model, which a filter finds at once.
 */
export const LIST_SORTS = [
  ...(['started_at', 'duration', 'cost', 'list_value', 'reported_cost'] as const),
  ...(['tokens', 'input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const),
] as const
export type ListSort = (typeof LIST_SORTS)[number]

/** What a list is sorted by, which by cost is the amount of its basis. */
export type EntrySort = ListSort | 'marginal_cost' | 'allocated_cost'

/** A figure of an entry, as opposed to its time. Amounts are nano-dollars, durations milliseconds. */
export type SortFigure = Exclude<EntrySort, 'started_at'>

/** The figure by which a list is sorted by cost. */
export const COST_SORTS = {
  cost: 'cost',
  list: 'list_value',
  marginal: 'marginal_cost',
  allocated: 'allocated_cost',
} as const satisfies Record<CostBasis, SortFigure>

export const LIST_ORDERS = ORDERS
export type ListOrder = (typeof LIST_ORDERS)[number]

/** The last entry of a page. The next one begins after it, even if entries arrive meanwhile. */
export interface Position {
  startedAt: number
  id: number
}

/** Oldest first, a page says so: in the other order it would mean the entries on the other side. */
export function writePage({ startedAt, id }: Position, order: ListOrder = 'desc'): string {
  return Buffer.from(`${order === 'asc' ? 'asc.' : ''}${startedAt}.${id}`).toString('base64url')
}

export function readPage(page: string, order: ListOrder = 'desc'): Position | undefined {
  const text = Buffer.from(page, 'base64url').toString('latin1')
  const [, isAscending, startedAt, id] = /^(asc\.)?(-?\d{1,15})\.(\d{1,16})$/.exec(text) ?? []
  if (startedAt === undefined || (isAscending !== undefined) !== (order === 'asc')) return undefined
  return { startedAt: Number(startedAt), id: Number(id) }
}

/** An entry's place in the order of a figure, which is null for an amount that is not known. */
export interface FigurePosition {
  value: bigint | null
  id: number
}

/**
 * A part of the time: the end is exclusive, in milliseconds, and undefined is without an end. Sorting all entries can
 * take too long. The list is then that of its latest part, followed by that of the time before.
 */
export interface Section {
  from: number | undefined
  to: number | undefined
}

/** Where a page of a list by a figure begins. */
export interface FigurePage {
  /** Undefined at the beginning of a section. */
  after: FigurePosition | undefined
  section: Section | undefined
}

/** Sorting by a figure. Entries without it are last in both orders; of equal ones, the ids are in the same order. */
export interface FigureOrder extends FigurePage {
  sort: SortFigure
  order: ListOrder
}

export function writeFigurePage({ sort, order, after, section }: FigureOrder): string {
  const position = `${sort}.${order}.${after?.value ?? ''}.${after?.id ?? ''}`
  const period = section ? `.${section.from ?? ''}.${section.to ?? ''}` : ''
  return Buffer.from(position + period).toString('base64url')
}

const FIGURE_PAGE =
  /^([a-z0-9_]+)\.([a-z]+)\.(?:(-?\d{1,19})?\.(\d{1,16})|\.(?=\.))(?:\.(-?\d{1,15})?\.(-?\d{1,15})?)?$/

/** Undefined for the page of another order as well, where the position would mean something else. */
export function readFigurePage({ sort, order }: FigureOrder, page: string): FigurePage | undefined {
  const match = FIGURE_PAGE.exec(Buffer.from(page, 'base64url').toString('latin1'))
  if (!match || match[1] !== sort || match[2] !== order) return undefined
  const [value, id, from, to] = match.slice(3).map((digits) => (digits === undefined ? undefined : BigInt(digits)))
  // No database could compare it.
  if (value !== undefined && BigInt.asIntN(64, value) !== value) return undefined
  const isWhole = from === undefined && to === undefined
  if (id === undefined && isWhole) return undefined
  return {
    after: id === undefined ? undefined : { value: value ?? null, id: Number(id) },
    section: isWhole ? undefined : { from: numberOf(from), to: numberOf(to) },
  }
}

const numberOf = (digits: bigint | undefined) => (digits === undefined ? undefined : Number(digits))
