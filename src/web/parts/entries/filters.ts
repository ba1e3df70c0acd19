/** Which entries a page is about, as it stands in the address: the parameters of the API, and a period by its name. */
import { type many, many as manyTexts, one } from '../../address.ts'
import { addDays, startOfDay } from '../../format/moments.ts'
import { readPeriod } from '../period.ts'

/** Parameters that take several values, any of which will do. */
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

/** How the filters are read from the address; pages add what else they keep there. */
export const FILTERS = Object.fromEntries([
  ...LISTS.map((name) => [name, manyTexts]),
  ...[...SINGLES, 'period' as const].map((name) => [name, one]),
]) as Readers

export type Filters = Record<ListName, string[]> & Record<SingleName | 'period', string | undefined>

/** As the API takes them; what is not filtered by is left out. */
export type EntryQuery = Partial<Record<ListName, string[]> & Record<SingleName, string>>

/** An own period of the address, as moments: lists of the API know no days of a zone. */
function periodQuery(period: string | undefined, timeZone: string): EntryQuery {
  if (period === undefined) return {}
  const { from, to } = readPeriod(period, timeZone)
  return { starting_at: startOfDay(from, timeZone), ending_at: startOfDay(addDays(to, 1), timeZone) }
}

export function entryQuery(filters: Filters, timeZone: string): EntryQuery {
  const query: EntryQuery = {}
  for (const name of LISTS) if (filters[name].length > 0) query[name] = filters[name]
  for (const name of SINGLES) if (filters[name]) query[name] = filters[name]
  // Where both are there, moments that a link brought along are narrower than a period by name.
  return { ...periodQuery(filters.period, timeZone), ...query }
}

/** The page of the entries that a path of the API lists: `/api/v1/token-entries?priced=false`. */
export const pageOfList = (list: string): string => `/entries?${list.split('?')[1] ?? ''}`
