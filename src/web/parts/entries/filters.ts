/** The entry filters in the URL: the API's parameters and a named period. */
import { ENTRY_FILTER_LIST, type EntryFilterName, isListFilter, type ListFilterName } from '../../../entry-filters.ts'
import { many, one } from '../../address.ts'
import { addDays, startOfDay } from '../../format/moments.ts'
import { readPeriod } from '../period.ts'

type SingleFilterName = Exclude<EntryFilterName, ListFilterName>
type Readers = Record<ListFilterName, typeof many> & Record<SingleFilterName | 'period', typeof one>

export const FILTER_NAMES = ENTRY_FILTER_LIST.map(([name]) => name)

/** Readers of the filters in the URL; pages add their own parameters. */
export const FILTERS = {
  ...Object.fromEntries(FILTER_NAMES.map((name) => [name, isListFilter(name) ? many : one])),
  period: one,
} as Readers

export type Filters = Record<ListFilterName, string[]> & Record<SingleFilterName | 'period', string | undefined>

/** The filters as API parameters; unset ones are left out. */
export type EntryQuery = Partial<Record<ListFilterName, string[]> & Record<SingleFilterName, string>>

/** A period as times, because the API's lists do not take days in a time zone. */
function periodQuery(period: string | undefined, timeZone: string): EntryQuery {
  if (period === undefined) return {}
  const { from, to } = readPeriod(period, timeZone)
  return { starting_at: startOfDay(from, timeZone), ending_at: startOfDay(addDays(to, 1), timeZone) }
}

export function entryQuery(filters: Filters, timeZone: string): EntryQuery {
  const set = FILTER_NAMES.filter((name) => filters[name]?.length)
  const query: EntryQuery = Object.fromEntries(set.map((name) => [name, filters[name]]))
  // Times set by a link are narrower than a named period and take precedence.
  return { ...periodQuery(filters.period, timeZone), ...query }
}

/** The entries page for a list of the API: `/api/v1/token-entries?priced=false`. */
export const pageOfList = (list: string): string => `/entries?${list.split('?')[1] ?? ''}`

/** The filters of a list of the API, for calls that take the same. */
export function queryOfList(list: string): EntryQuery {
  const parameters = new URLSearchParams(list.split('?')[1])
  const set = FILTER_NAMES.filter((name) => parameters.has(name))
  return Object.fromEntries(set.map((name) => [name, FILTERS[name](parameters.getAll(name))]))
}
