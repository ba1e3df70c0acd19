/** The entry filters in the URL: the API's parameters and a named period. */
import {
  ENTRY_FILTER_LIST,
  type EntryFilterName,
  isListFilter,
  type ListFilterName,
} from '../../../shared/entry-filters.ts'
import { addressOf, many, one } from '../../address.ts'
import { addDays, dayOf, startOfDay } from '../../format/moments.ts'
import { ownPeriod, readPeriod } from '../period.ts'

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

/**
 * The filters with their times as days, if they are the start and end of days in the zone: links of the API contain times,
 * the pages show days.
 */
export function withDays<Some extends Partial<Filters>>(filters: Some, timeZone: string): Some {
  const { starting_at, ending_at } = filters
  if (filters.period !== undefined || starting_at === undefined || ending_at === undefined) return filters
  const [from, next] = [starting_at, ending_at].map((moment) => dayStartingAt(moment, timeZone))
  if (from === undefined || next === undefined || from >= next) return filters
  const period = ownPeriod({ from, to: addDays(next, -1) })
  return { ...filters, starting_at: undefined, ending_at: undefined, period }
}

/** Undefined if the moment is none, or not the start of a day. */
function dayStartingAt(moment: string, timeZone: string): string | undefined {
  if (!moment.includes('T') || Number.isNaN(Date.parse(moment))) return undefined
  const day = dayOf(new Date(moment), timeZone)
  return Date.parse(startOfDay(day, timeZone)) === Date.parse(moment) ? day : undefined
}

/** The entries page for a list of the API, such as `/api/v1/token-entries?priced=false`, with its times as days. */
export const pageOfList = (list: string, timeZone: string): string =>
  addressOf('/entries', withDays<Partial<Filters>>(queryOfList(list), timeZone))

/** The filters of a list of the API, for calls that take the same. */
export function queryOfList(list: string): EntryQuery {
  const parameters = new URLSearchParams(list.split('?')[1])
  const set = FILTER_NAMES.filter((name) => parameters.has(name))
  return Object.fromEntries(set.map((name) => [name, FILTERS[name](parameters.getAll(name))]))
}
