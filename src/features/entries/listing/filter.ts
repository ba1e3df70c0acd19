/** The filters that lists of entries take, and the place in the list where the next page begins. Pure. */
import {
  PLACED_BY,
  type PlacedBy,
  SOURCES,
  type Source,
  STATUSES,
  type Status,
} from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import { type ListFormat, Query, type QueryTexts } from '../../../query.ts'

/** Several values of one filter mean any of them; several filters mean all of them. */
export interface EntryFilter {
  /** Inclusive, by the start of the session. */
  startingAt?: number | undefined
  /** Exclusive. */
  endingAt?: number | undefined
  /** Sessions that ended after this moment. */
  endedAfter?: number | undefined
  /** Ids (`prj_…`), keys, names or aliases, or `none` for entries on no project. */
  projects?: string[] | undefined
  /** Ids (`tkt_…`) or keys. */
  tickets?: string[] | undefined
  /** Ids (`cli_…`) or names, or `none` for entries on a project without a client. */
  clients?: string[] | undefined
  /** Whether bills take the project; what is on none can still come onto one that they take. */
  billable?: boolean | undefined
  /** Ids (`usr_…`) or e-mail addresses. */
  managers?: string[] | undefined
  agents?: string[] | undefined
  harnesses?: string[] | undefined
  models?: string[] | undefined
  /** Names, or `none` for entries that name none. */
  providers?: string[] | undefined
  statuses?: Status[] | undefined
  sources?: Source[] | undefined
  sessionKeys?: string[] | undefined
  labels?: { name: string; value: string }[] | undefined
  /** Names of labels of which an entry has none. */
  withoutLabels?: string[] | undefined
  placed?: (PlacedBy | 'none')[] | undefined
  priced?: boolean | undefined
  /** Whether an earlier entry says exactly the same, or another person's session has the same id. */
  possibleDuplicate?: boolean | undefined
  /** Whether another source supplies the session now, so that the figures are 0. */
  superseded?: boolean | undefined
  /** Ids (`bil_…`) or numbers, or `none` for entries on no bill. */
  bills?: string[] | undefined
  /** Ids (`sht_…`). */
  sheets?: string[] | undefined
  /** On this bill, or on one of its lines; also where the bill is void now. */
  billedOn?: { bill: Id<'bil'>; line?: number | undefined } | undefined
  /** A text that the summary contains, whatever the case. */
  text?: string | undefined
}

/** The filters of which each value has an index that gives its entries in the order of time. */
const ORDERED = ['projects', 'managers'] as const satisfies (keyof EntryFilter)[]

/** The filters that leave so few entries that these may as well be sorted. */
const SELECTIVE: (keyof EntryFilter)[] = ['tickets', 'sheets', 'sessionKeys']

const TIMES: (keyof EntryFilter)[] = ['startingAt', 'endingAt']

/**
 * Whether indexes answer a page at once; anything else may have to look at every entry. Of two filters that are not
 * selective only one has its index, which may lead past any number of entries to the next that the other lets through.
 * `isLimited`: the caller sees some entries only, which is such a filter as well.
 */
export function isIndexed(filter: EntryFilter, isLimited: boolean): boolean {
  const used = (Object.keys(filter) as (keyof EntryFilter)[]).filter((name) => filter[name] !== undefined)
  if (used.some((name) => SELECTIVE.includes(name))) return true
  const others = used.filter((name) => !TIMES.includes(name))
  if (!others.every((name) => ORDERED.includes(name as never)) && !isUnattributed(filter, others)) return false
  return others.length + Number(isLimited) <= 1
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

/** The last entry of a page. The next one begins after it, even if entries arrive meanwhile. */
export interface Position {
  startedAt: number
  id: number
}

export function writePage({ startedAt, id }: Position): string {
  return Buffer.from(`${startedAt}.${id}`).toString('base64url')
}

export function readPage(page: string): Position | undefined {
  const match = /^(-?\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(page, 'base64url').toString('latin1'))
  return match ? { startedAt: Number(match[1]), id: Number(match[2]) } : undefined
}

/** Which entries a list shows, and which page of them. */
export interface ListQuery {
  filter: EntryFilter
  limit: number
  /** Undefined for the first page. */
  after: Position | undefined
  /** Undefined where the caller did not say. */
  format: ListFormat | undefined
}

export const PLACED_FILTERS = ['none', ...PLACED_BY] as const

/** What the texts mean. Throws 422 with every issue. */
export function readListQuery(texts: QueryTexts): ListQuery {
  const query = new Query(texts)
  const read: ListQuery = {
    filter: readFilter(query),
    limit: query.limit(),
    after: query.page(readPage),
    format: query.format(),
  }
  query.finish()
  return read
}

/** The filters among the parameters of a list, a report or an action. The caller finishes the query. */
export function readFilter(query: Query): EntryFilter {
  return {
    startingAt: query.moment('starting_at'),
    endingAt: query.moment('ending_at'),
    endedAfter: query.moment('ended_after'),
    projects: query.list('project'),
    tickets: query.list('ticket'),
    clients: query.list('client'),
    billable: query.flag('billable'),
    managers: query.list('agent_manager'),
    agents: query.list('agent_name'),
    harnesses: query.list('agent_harness'),
    models: query.list('model'),
    providers: query.list('provider'),
    statuses: query.someOf('status', STATUSES),
    sources: query.someOf('source', SOURCES),
    sessionKeys: query.list('session_id'),
    labels: readLabels(query),
    withoutLabels: query.list('without_label'),
    placed: query.someOf('placed', PLACED_FILTERS),
    priced: query.flag('priced'),
    possibleDuplicate: query.flag('possible_duplicate'),
    superseded: query.flag('superseded'),
    bills: query.list('bill'),
    sheets: query.list('sheet'),
    text: query.text('q'),
  }
}

/** As {@link readFilter}, of a call that changes what the filter lets through. */
export function readSelectingFilter(query: Query): EntryFilter {
  query.refuseEmpty()
  return readFilter(query)
}

function readLabels(query: Query): EntryFilter['labels'] {
  const texts = query.list('label')
  if (texts?.[0]?.includes(':') === false)
    return query.refuse('label', 'bad_format', 'must be name:value, such as repository:acme/web')
  return texts
    ?.reduce(joinCommas, [])
    .map((text) => ({ name: text.split(':')[0]!, value: text.slice(text.indexOf(':') + 1) }))
}

/** A value that has no name of its own is the rest of one that holds a comma. */
function joinCommas(pairs: string[], text: string): string[] {
  if (text.includes(':') || pairs.length === 0) return [...pairs, text]
  return [...pairs.slice(0, -1), `${pairs.at(-1)},${text}`]
}
