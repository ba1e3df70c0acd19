/** The parameters of a list of entries: filters, order and page. Pure. */

import { validationFailed } from '../../../errors.ts'
import { Query, type QueryTexts } from '../../../schema/query.ts'
import { COST_BASES, type CostBasis } from '../../../shared/cost-basis.ts'
import {
  COST_SORTS,
  ENTRY_FORMATS,
  type EntryFilter,
  type FigureOrder,
  LIST_ORDERS,
  LIST_SORTS,
  type ListOrder,
  type Position,
  readFigurePage,
  readFilter,
  readPage,
} from '../../selection/contract.ts'
import { type ChangesQuery, readChangesPage } from './changes.ts'

/** Which entries a list shows, in which order, and which page of them. */
export interface ListQuery {
  filter: EntryFilter
  limit: number
  /** The order of time. */
  order: ListOrder
  /** Undefined for the first page. */
  after: Position | undefined
  /** The order of a figure instead. */
  byFigure: FigureOrder | undefined
  /** The order of changes instead. */
  changes: ChangesQuery | undefined
  /** By which cost is counted. */
  basis: CostBasis
  /** Undefined where the caller did not say. */
  format: (typeof ENTRY_FORMATS)[number] | undefined
}

/** What the texts mean; dates are days of the time zone. Throws 422 with every issue. */
export function readListQuery(texts: QueryTexts, timeZone: string): ListQuery {
  const query = new Query(texts)
  const sort = query.oneOf('sort', LIST_SORTS) ?? 'started_at'
  const order = query.oneOf('order', LIST_ORDERS) ?? 'desc'
  const basis = query.oneOf('basis', COST_BASES) ?? 'cost'
  const read: ListQuery = {
    filter: readFilter(query, timeZone),
    limit: query.limit(),
    order,
    after: undefined,
    byFigure: undefined,
    changes: undefined,
    basis,
    format: query.oneOf('format', ENTRY_FORMATS),
  }
  const since = query.moment('updated_since', timeZone)
  if (since !== undefined) {
    read.changes = { since, after: query.page(readChangesPage) }
    if (sort !== 'started_at' || order !== 'desc')
      query.refuse('updated_since', 'not_allowed', 'has an order of its own; leave out sort and order')
  } else if (sort === 'started_at') read.after = query.page((page) => readPage(page, order))
  else {
    const figure = sort === 'cost' ? COST_SORTS[basis] : sort
    read.byFigure = readFigureOrder(query, { sort: figure, order, after: undefined, section: undefined })
  }
  query.finish()
  return read
}

function readFigureOrder(query: Query, by: FigureOrder): FigureOrder {
  return { ...by, ...query.page((page) => readFigurePage(by, page)) }
}

/** Exports are read once from the newest entry to the oldest, page by page. Throws 422 for another order. */
export function requireExportable({ order, byFigure, changes }: ListQuery): void {
  if (order === 'desc' && !byFigure && !changes) return
  const name = changes ? 'updated_since' : byFigure ? 'sort' : 'order'
  const message = 'is not available for exports, which are newest first; sort the file, or get pages of JSON'
  throw validationFailed([{ pointer: `/query/${name}`, code: 'not_allowed', message }])
}
