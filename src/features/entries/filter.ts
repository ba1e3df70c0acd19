/** The filters that lists of entries take, and the place in the list where the next page begins. Pure. */
import { PLACED_BY, type PlacedBy, SOURCES, type Source, STATUSES, type Status } from '../../database/tables.ts'
import { type Fault, validationFailed } from '../../errors.ts'
import { readTimestamp } from './report.ts'

/** Several values of one filter mean any of them; several filters mean all of them. */
export interface EntryFilter {
  /** Inclusive, by the start of the session. */
  startingAt?: number | undefined
  /** Exclusive. */
  endingAt?: number | undefined
  /** Ids (`prj_…`), keys, names or aliases. */
  projects?: string[] | undefined
  /** Ids (`tkt_…`) or keys. */
  tickets?: string[] | undefined
  /** Ids (`cli_…`) or names. */
  clients?: string[] | undefined
  /** Ids (`usr_…`) or e-mail addresses. */
  managers?: string[] | undefined
  agents?: string[] | undefined
  harnesses?: string[] | undefined
  models?: string[] | undefined
  statuses?: Status[] | undefined
  sources?: Source[] | undefined
  sessionKeys?: string[] | undefined
  labels?: { name: string; value: string }[] | undefined
  placed?: (PlacedBy | 'none')[] | undefined
  priced?: boolean | undefined
  /** Ids (`bil_…`) or numbers, or `none` for entries on no bill. */
  bills?: string[] | undefined
  /** A text that the summary contains, whatever the case. */
  text?: string | undefined
}

/** The filters that an index answers at once; any other may have to look at every entry. */
const INDEXED: (keyof EntryFilter)[] = [
  'startingAt',
  'endingAt',
  'projects',
  'tickets',
  'managers',
  'bills',
  'sessionKeys',
]

export function isIndexed(filter: EntryFilter): boolean {
  return Object.entries(filter).every(
    ([name, value]) => value === undefined || INDEXED.includes(name as keyof EntryFilter),
  )
}

/** The last entry of a page. The next one begins behind it, also when entries arrive meanwhile. */
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

/** How many entries a page has where nothing else is asked for, and at most. */
export const DEFAULT_LIMIT = 50
export const LIST_LIMIT = 1_000

/** Which entries a list shows, and which page of them. */
export interface ListQuery {
  filter: EntryFilter
  limit: number
  /** Undefined for the first page. */
  after: Position | undefined
  /** Undefined where the caller did not say. */
  format: 'json' | 'csv' | undefined
}

/** A query as text, from a query string or the command line. Empty texts count as not given. */
export interface QueryTexts {
  starting_at?: string | undefined
  ending_at?: string | undefined
  project?: string[] | undefined
  ticket?: string[] | undefined
  client?: string[] | undefined
  agent_manager?: string[] | undefined
  agent_name?: string[] | undefined
  agent_harness?: string[] | undefined
  model?: string[] | undefined
  status?: string[] | undefined
  source?: string[] | undefined
  session_id?: string[] | undefined
  label?: string[] | undefined
  placed?: string[] | undefined
  priced?: string | undefined
  bill?: string[] | undefined
  q?: string | undefined
  limit?: string | undefined
  page?: string | undefined
  format?: string | undefined
}

const FORMATS = ['json', 'csv'] as const
export const PLACED_FILTERS = ['none', ...PLACED_BY] as const

/** What the texts mean. Throws 422 with every fault, under `/query/<name>`. */
export function readListQuery(texts: QueryTexts): ListQuery {
  const faults: Fault[] = []
  const refuse = (name: keyof QueryTexts, code: string, message: string) => {
    faults.push({ pointer: `/query/${name}`, code, message })
    return undefined
  }
  const moment = (name: 'starting_at' | 'ending_at') => {
    const text = texts[name]
    if (!text) return undefined
    // A plus that was not percent-encoded arrives as a space.
    return (
      readTimestamp(text.replace(' ', '+')) ??
      refuse(name, 'bad_format', 'must be an RFC 3339 timestamp with its offset, such as 2026-11-01T00:00:00Z')
    )
  }
  const oneOf = <T extends string>(name: 'status' | 'source' | 'placed', allowed: readonly T[]): T[] | undefined => {
    const values = some(texts[name])
    if (values?.some((value) => !allowed.includes(value as T)))
      return refuse(name, 'not_allowed', `must be one of ${allowed.join(', ')}`)
    return values as T[] | undefined
  }
  const flag = (text: string | undefined) => {
    if (!text) return undefined
    return text === 'true' || text === 'false'
      ? text === 'true'
      : refuse('priced', 'not_allowed', 'must be true or false')
  }
  const labels = () => {
    const pairs = some(texts.label)
      ?.reduce(joinCommas, [])
      .map((text) => ({ name: text.split(':')[0]!, value: text.slice(text.indexOf(':') + 1) }))
    if (some(texts.label)?.[0]?.includes(':') === false)
      return refuse('label', 'bad_format', 'must be name:value, such as repository:acme/web')
    return pairs
  }
  const filter: EntryFilter = {
    startingAt: moment('starting_at'),
    endingAt: moment('ending_at'),
    projects: some(texts.project),
    tickets: some(texts.ticket),
    clients: some(texts.client),
    managers: some(texts.agent_manager),
    agents: some(texts.agent_name),
    harnesses: some(texts.agent_harness),
    models: some(texts.model),
    statuses: oneOf('status', STATUSES),
    sources: oneOf('source', SOURCES),
    sessionKeys: some(texts.session_id),
    labels: labels(),
    placed: oneOf('placed', PLACED_FILTERS),
    priced: flag(texts.priced),
    bills: some(texts.bill),
    text: texts.q || undefined,
  }
  const limit = !texts.limit || /^\d{1,4}$/.test(texts.limit) ? Number(texts.limit || DEFAULT_LIMIT) : 0
  if (limit < 1 || limit > LIST_LIMIT) refuse('limit', 'not_allowed', `must be a whole number from 1 to ${LIST_LIMIT}`)
  const after = texts.page ? readPage(texts.page) : undefined
  if (texts.page && !after) refuse('page', 'bad_page', 'must be the next_page of an earlier answer')
  const format = FORMATS.find((known) => known === texts.format)
  if (texts.format && !format) refuse('format', 'not_allowed', `must be one of ${FORMATS.join(', ')}`)
  if (faults.length > 0) throw validationFailed(faults)
  return { filter, limit, after, format }
}

function some(values: string[] | undefined): string[] | undefined {
  const given = values?.filter((value) => value !== '')
  return given && given.length > 0 ? given : undefined
}

/** A value that has no name of its own is the rest of one that holds a comma. */
function joinCommas(pairs: string[], text: string): string[] {
  if (text.includes(':') || pairs.length === 0) return [...pairs, text]
  return [...pairs.slice(0, -1), `${pairs.at(-1)},${text}`]
}
