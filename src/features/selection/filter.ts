/** Which entries: the filters of lists, reports, actions and rules. Pure. */
import { PLACED_BY, type Status } from '../../database/schema/values.ts'
import type { Id } from '../../lib/id.ts'
import type { Query } from '../../schema/query.ts'
import {
  ENTRY_FILTER_LIST,
  type ENTRY_FILTERS,
  type EntryFilterKind,
  type EntryFilterName,
} from '../../shared/entry-filters.ts'

interface Label {
  name: string
  value: string
}

/** Moments are in milliseconds since 1970. */
interface Values {
  moment: number
  list: string[]
  labels: Label[]
  flag: boolean
  text: string
}

export type ValueOf<Name extends EntryFilterName> = (typeof ENTRY_FILTERS)[Name] extends {
  values: readonly (infer Value)[]
}
  ? Value[]
  : Values[(typeof ENTRY_FILTERS)[Name]['kind']]

/** Several values of one filter mean any of them; several filters mean all of them. */
export interface EntryFilter extends Partial<{ [Name in EntryFilterName]: ValueOf<Name> | undefined }> {
  /** On this bill, or on one of its lines, even if the bill is void now. Not a parameter. */
  billedOn?: { bill: Id<'bil'>; line?: number | undefined } | undefined
}

/** The filters with an index that returns the entries of each value in the order of time. */
const ORDERED = ['project', 'agent_manager'] as const satisfies (keyof EntryFilter)[]

/** The filters that leave so few entries that these may as well be sorted. */
const SELECTIVE: (keyof EntryFilter)[] = ['ticket', 'sheet', 'session_id']

const TIMES: (keyof EntryFilter)[] = ['starting_at', 'ending_at']

/**
 * Whether indexes answer a page at once; anything else may have to look at every entry. Of two filters that are not
 * selective only one has its index, which may lead past any number of entries to the next that the other lets through.
 * `isLimited`: the caller sees some entries only, which is such a filter as well.
 */
export function isIndexed(filter: EntryFilter, isLimited: boolean): boolean {
  const used = usedOf(filter)
  if (used.some((name) => SELECTIVE.includes(name))) return true
  const others = used.filter((name) => !TIMES.includes(name))
  if (!others.every((name) => ORDERED.includes(name as never)) && !isUnattributed(filter, others)) return false
  return others.length + Number(isLimited) <= 1
}

/** Of entries that may still be billed, whatever is missing for that: rejected ones were decided on, as discarded and voided ones. */
export const OPEN_STATUSES: readonly Status[] = ['submitted', 'draft', 'pending', 'approved', 'held']

/** What keeps entries from the bill of any client, whatever their status, in the order in which it is resolved. */
export const PLACELESS = {
  unattributed: { status: [...OPEN_STATUSES], placed: ['none'] },
  without_project: { status: [...OPEN_STATUSES], project: ['none'], placed: [...PLACED_BY] },
  without_client: { status: [...OPEN_STATUSES], client: ['none'], billable: true },
} as const satisfies Record<string, EntryFilter>

/** The statuses between which entries move when a bill is sent or voided. */
const BILLABLE_STATUSES = ['submitted', 'approved', 'billed'] as const

/** Whether sending or voiding a bill changes which entries match. */
export function dependsOnBilling({ status, bill }: EntryFilter): boolean {
  const found = BILLABLE_STATUSES.filter((each) => status?.includes(each))
  return bill !== undefined || (found.length > 0 && found.length < BILLABLE_STATUSES.length)
}

function usedOf(filter: EntryFilter): (keyof EntryFilter)[] {
  return (Object.keys(filter) as (keyof EntryFilter)[]).filter((name) => filter[name] !== undefined)
}

/** Whether an index returns so few entries that sorting them is quick. A bill's are few compared with all. */
export function isSelective(filter: EntryFilter): boolean {
  const { bill } = filter
  const isOnBill = filter.billedOn !== undefined || (bill !== undefined && !bill.includes('none'))
  return isOnBill || usedOf(filter).some((name) => SELECTIVE.includes(name))
}

/** The part of a filter that has an index in the order of time: of several, the one that leaves fewest entries. */
export function orderedPart(filter: EntryFilter): EntryFilter {
  const { cost_mismatch, possible_duplicate, placed, project, agent_manager } = filter
  if (cost_mismatch) return { cost_mismatch }
  if (possible_duplicate) return { possible_duplicate }
  if (isUnattributed(filter, ['placed'])) return { placed }
  return project ? { project } : { agent_manager }
}

/** Those that nothing placed have an index of their own. */
function isUnattributed({ placed }: EntryFilter, used: string[]): boolean {
  return used.length === 1 && placed?.length === 1 && placed[0] === 'none'
}

/** Filters of one project or person each, which together let through what the filter does. */
export function partsOf(filter: EntryFilter): EntryFilter[] {
  return ORDERED.reduce<EntryFilter[]>(
    (parts, name) => parts.flatMap((part) => part[name]?.map((value) => ({ ...part, [name]: [value] })) ?? [part]),
    [filter],
  )
}

interface Reading {
  /** The values of a list that has no others. */
  values: readonly string[] | undefined
  timeZone: string
}

/** How a filter of each kind is read from the texts of its parameter, and written as such texts. */
const KINDS: {
  [Kind in EntryFilterKind]: {
    read(query: Query, name: string, how: Reading): Values[Kind] | undefined
    write(value: Values[Kind]): string[]
  }
} = {
  moment: {
    read: (query, name, { timeZone }) => query.moment(name, timeZone),
    write: (moment) => [new Date(moment).toISOString()],
  },
  list: {
    read: (query, name, { values }) => (values ? query.someOf(name, values) : query.list(name)),
    write: (texts) => texts,
  },
  labels: { read: readLabels, write: (labels) => labels.map(({ name, value }) => `${name}:${value}`) },
  flag: { read: (query, name) => query.flag(name), write: (flag) => [String(flag)] },
  text: { read: (query, name) => query.text(name), write: (text) => [text] },
}

/**
 * The filters among the parameters of a list, a report or an action; dates are days of the time zone. The caller
 * finishes the query.
 */
export function readFilter(query: Query, timeZone: string): EntryFilter {
  return Object.fromEntries(
    ENTRY_FILTER_LIST.map(([name, { kind, values }]) => [name, KINDS[kind].read(query, name, { values, timeZone })]),
  )
}

/** The path that lists the entries of a filter. */
export function listPath(filter: EntryFilter): string {
  const parameters = new URLSearchParams()
  for (const [name, { kind }] of ENTRY_FILTER_LIST) {
    const value = filter[name]
    if (value === undefined) continue
    // A list is repeated, because a name may contain the comma that would divide it.
    for (const text of KINDS[kind].write(value as never)) parameters.append(name, text)
  }
  return `/api/v1/token-entries?${parameters}`
}

function readLabels(query: Query, name: string): Label[] | undefined {
  const texts = query.list(name)
  if (texts?.[0]?.includes(':') === false)
    return query.refuse(name, 'bad_format', 'must be name:value, such as repository:acme/web')
  return texts
    ?.reduce(joinCommas, [])
    .map((text) => ({ name: text.split(':')[0]!, value: text.slice(text.indexOf(':') + 1) }))
}

/** A value that has no name of its own is the rest of one that holds a comma. */
function joinCommas(pairs: string[], text: string): string[] {
  if (text.includes(':') || pairs.length === 0) return [...pairs, text]
  return [...pairs.slice(0, -1), `${pairs.at(-1)},${text}`]
}
