/** Query parameters of bills. Pure. */

import { notFound } from '../../errors.ts'
import { isDay } from '../../lib/calendar.ts'
import { type ListPage, Query, type QueryTexts } from '../../query.ts'
import { ENTRY_FORMATS, type ListQuery, readPage } from '../entries/listing/filter.ts'
import { BILL_STATES } from './schema.ts'
import type { BillState } from './store/bills.ts'

export interface BillListQuery extends ListPage {
  states: BillState[] | undefined
  /** Id or name. */
  client: string | undefined
  /** Id, key, name or alias. */
  project: string | undefined
  from: string | undefined
  to: string | undefined
  overdue: boolean | undefined
}

function readFilter(query: Query): Omit<BillListQuery, keyof ListPage> {
  const day = (name: string) => {
    const text = query.text(name)
    if (text === undefined || isDay(text)) return text
    return query.refuse(name, 'bad_format', 'must be a date, such as 2026-11-30')
  }
  return {
    states: query.someOf('state', BILL_STATES),
    client: query.text('client'),
    project: query.text('project'),
    from: day('from'),
    to: day('to'),
    overdue: query.flag('overdue'),
  }
}

/** Throws 422 with every issue. */
export function readBillList(texts: QueryTexts): BillListQuery {
  const query = new Query(texts)
  const read = { ...readFilter(query), ...query.listPage() }
  query.finish()
  return read
}

/** Throws 422 with every issue. */
export function readBillTotals(texts: QueryTexts): Omit<BillListQuery, keyof ListPage> {
  const query = new Query(texts)
  const read = readFilter(query)
  query.finish()
  return read
}

/** The number of a payment in a path. Throws 404, as for one that does not exist. */
export function readPaymentNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw notFound(`The payment '${text}'`)
  return Number(text)
}

/** The line of a bill, and the page of its entries. Throws 422 with every issue. */
export function readBillEntries(texts: QueryTexts): Pick<ListQuery, 'limit' | 'after' | 'format'> & {
  line: number | undefined
} {
  const query = new Query(texts)
  const text = query.text('line')
  const line = text !== undefined && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined
  if (text !== undefined && line === undefined) query.refuse('line', 'not_allowed', 'must be a line number')
  const read = { line, limit: query.limit(), after: query.page(readPage), format: query.oneOf('format', ENTRY_FORMATS) }
  query.finish()
  return read
}
