/** The entry filters in the URL: the API's parameters and a named period. */
import { type many, many as manyTexts, one } from '../../address.ts'
import { addDays, startOfDay } from '../../format/moments.ts'
import { readPeriod } from '../period.ts'

/** Parameters that take several values; entries match any of them. */
export const LISTS = [
  'project',
  'ticket',
  'client',
  'agent_manager',
  'agent_name',
  'agent_harness',
  'model',
  'provider',
  'status',
  'source',
  'session_id',
  'label',
  'without_label',
  'placed',
  'bill',
  'sheet',
] as const
export type ListName = (typeof LISTS)[number]

/** Parameters that take one value. */
export const SINGLES = [
  'starting_at',
  'ending_at',
  'ended_after',
  'billable',
  'priced',
  'possible_duplicate',
  'superseded',
  'q',
] as const
export type SingleName = (typeof SINGLES)[number]

type Readers = Record<ListName, typeof many> & Record<SingleName | 'period', typeof one>

/** Readers of the filters in the URL; pages add their own parameters. */
export const FILTERS = Object.fromEntries([
  ...LISTS.map((name) => [name, manyTexts]),
  ...[...SINGLES, 'period' as const].map((name) => [name, one]),
]) as Readers

export type Filters = Record<ListName, string[]> & Record<SingleName | 'period', string | undefined>

/** The filters as API parameters; unset ones are left out. */
export type EntryQuery = Partial<Record<ListName, string[]> & Record<SingleName, string>>

/** A period as times, because the API's lists do not take days in a time zone. */
function periodQuery(period: string | undefined, timeZone: string): EntryQuery {
  if (period === undefined) return {}
  const { from, to } = readPeriod(period, timeZone)
  return { starting_at: startOfDay(from, timeZone), ending_at: startOfDay(addDays(to, 1), timeZone) }
}

export function entryQuery(filters: Filters, timeZone: string): EntryQuery {
  const query: EntryQuery = {}
  for (const name of LISTS) if (filters[name].length > 0) query[name] = filters[name]
  for (const name of SINGLES) if (filters[name]) query[name] = filters[name]
  // Times set by a link are narrower than a named period and take precedence.
  return { ...periodQuery(filters.period, timeZone), ...query }
}

/** The entries page for a list of the API: `/api/v1/token-entries?priced=false`. */
export const pageOfList = (list: string): string => `/entries?${list.split('?')[1] ?? ''}`
