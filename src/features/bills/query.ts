/** Query parameters of bills. Pure. */

import { notFound } from '../../errors.ts'
import { daysOfMonth, isDay } from '../../lib/calendar.ts'
import { type Query, queryReader } from '../../schema/query.ts'
import { COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'
import { ENTRY_FORMATS, readPage } from '../selection/contract.ts'
import { BILL_STATES, RATE_LIMIT } from './schema.ts'
import { BILL_SORTS } from './sorts.ts'
import type { BillState } from './store/bills.ts'

/** Client, project and ticket by id or name. */
export interface BillListFilter {
  states?: BillState[] | undefined
  client?: string | undefined
  project?: string | undefined
  ticket?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Whose period ends in it. */
  month?: string | undefined
  overdue?: boolean | undefined
  deliveryFailed?: boolean | undefined
}

function readFilter(query: Query): BillListFilter {
  const day = (name: string) => {
    const text = query.text(name)
    if (text === undefined || isDay(text)) return text
    return query.refuse(name, 'bad_format', 'must be a date, such as 2026-11-30')
  }
  const month = query.text('month')
  if (month !== undefined && !daysOfMonth(month)) {
    query.refuse('month', 'bad_format', 'must be a month, such as 2026-11')
  }
  return {
    states: query.someOf('state', BILL_STATES),
    client: query.text('client'),
    project: query.text('project'),
    ticket: query.text('ticket'),
    from: day('from'),
    to: day('to'),
    month,
    overdue: query.flag('overdue'),
    deliveryFailed: query.flag('delivery_failed'),
  }
}

export const readBillList = queryReader((query) => ({
  filter: readFilter(query),
  ...query.sortedListPage(BILL_SORTS),
}))

export const readBillTotals = queryReader(readFilter)

export interface BillRunQuery {
  month: string
  includeEarlier: boolean | undefined
  leaveUnpriced: boolean
  basis: CostBasis | undefined
  allowsProvisional: boolean
  /** By currency. */
  rates: Record<string, number>
}

/** `EUR:0.92`, with at most as many decimals as a bill's exchange rate. */
const RATE = /^([A-Z]{3}):(\d{1,7}(?:\.\d{1,10})?)$/

export const readBillRun = queryReader((query): BillRunQuery => {
  const month = query.text('month')
  if (month === undefined) query.refuse('month', 'required', 'is required, such as 2026-11')
  else if (!daysOfMonth(month)) query.refuse('month', 'bad_format', 'must be a month, such as 2026-11')
  const includeEarlier = query.flag('include_earlier')
  const leaveUnpriced = query.flag('leave_unpriced') ?? false
  const rates: Record<string, number> = {}
  for (const text of query.list('rate') ?? []) {
    const [, currency, rate] = RATE.exec(text) ?? []
    if (currency === undefined || !(Number(rate) > 0) || Number(rate) > RATE_LIMIT) {
      query.refuse('rate', 'bad_format', 'must be a currency and its value per US dollar, such as EUR:0.92')
    } else {
      rates[currency] = Number(rate)
    }
  }
  const basis = query.oneOf('basis', COST_BASES)
  const allowsProvisional = query.flag('provisional') ?? false
  return { month: month!, includeEarlier, leaveUnpriced, basis, allowsProvisional, rates }
})

/** Exactly one of client and project. Throws 422 otherwise. */
export const readUsualTerms = queryReader((query): { client: string } | { project: string } => {
  const [client, project] = [query.text('client'), query.text('project')]
  if ((client === undefined) === (project === undefined)) {
    query.refuse('client', 'required', 'exactly one of client and project is required')
  }
  return client === undefined ? { project: project! } : { client }
})

/** The number of a payment in a path. Throws 404, as for one that does not exist. */
export function readPaymentNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw notFound(`The payment '${text}'`)
  return Number(text)
}

/** The line of a bill, and the page of its entries. */
export const readBillEntries = queryReader((query) => {
  const text = query.text('line')
  const line = text !== undefined && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined
  if (text !== undefined && line === undefined) query.refuse('line', 'not_allowed', 'must be a line number')
  return { line, limit: query.limit(), after: query.page(readPage), format: query.oneOf('format', ENTRY_FORMATS) }
})
