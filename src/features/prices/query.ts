/** Query parameters of prices: every issue is reported under `/query/<name>`. Pure. */
import { type Query, queryReader, type SortedListPage } from '../../schema/query.ts'
import {
  SERVICE_FIELDS,
  SERVICE_KINDS,
  SERVICE_NAME,
  TOOL_NAME,
  type UsageDetails,
  usageDetails,
  ZERO_COUNTS,
} from '../../shared/usage.ts'
import { ALWAYS } from './formats/tally.ts'
import type { LoadOptions } from './load-plan.ts'
import { COUNT_KINDS, type Counts, PRICE_FIELDS } from './rates.ts'
import { PRICE_SOURCES, TABLE_FORMATS, type TableFormat } from './sources.ts'
import type { PriceFilter } from './store.ts'

/** What lists of prices can be sorted by: models in use come first in both orders. */
export const PRICE_SORTS = { model: 'text' } as const

export interface PriceListQuery extends SortedListPage<keyof typeof PRICE_SORTS> {
  filter: PriceFilter
}

export const readPriceList = queryReader(
  (query): PriceListQuery => ({
    filter: {
      search: query.text('search'),
      providers: query.list('provider'),
      models: query.list('model'),
      sources: query.someOf('source', PRICE_SOURCES),
    },
    ...query.sortedListPage(PRICE_SORTS),
  }),
)

export interface ResolveQuery {
  model: string
  provider: string | null
  at: number | undefined
  /** The tier, speed, region and tools of the request. */
  details: UsageDetails | null
  /** The tokens of a single request; undefined if neither tokens nor tools are given. */
  counts: Counts | undefined
}

/** The limit of a count in reports. */
const COUNT_LIMIT = 1_000_000_000_000

/** A day is one of the time zone. */
export const readResolve = queryReader((query, timeZone: string): ResolveQuery => {
  const model = query.text('model')
  if (model === undefined) query.refuse('model', 'required', 'is required')
  const tools = readTools(query)
  const read = {
    model: model ?? '',
    provider: query.text('provider') ?? null,
    at: query.moment('at', timeZone),
    details: usageDetails({
      ...Object.fromEntries(SERVICE_KINDS.map((kind) => [kind, readName(query, SERVICE_FIELDS[kind])])),
      tools,
    }),
    counts: readCounts(query) ?? (tools ? ZERO_COUNTS : undefined),
  }
  return read
})

/** A service tier, a speed or a region; null if absent. */
function readName(query: Query, name: string): string | null {
  const text = query.text(name)
  if (text === undefined || new RegExp(SERVICE_NAME).test(text)) return text?.toLowerCase() ?? null
  query.refuse(name, 'bad_format', 'must be a name of 1 to 40 characters of a-z 0-9 _ . -')
  return null
}

/** More than any vendor charges for. */
const TOOLS_LIMIT = 32

/** `web_search:3`; null if absent. */
function readTools(query: Query): Record<string, number> | null {
  const texts = query.list('tool')
  if (!texts) return null
  const tools = texts.map((text): [string, number] => {
    const colon = text.lastIndexOf(':')
    return [text.slice(0, colon), /^\d{1,13}$/.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : Number.NaN]
  })
  const isValid = tools.every(([name, uses]) => new RegExp(TOOL_NAME).test(name) && uses <= COUNT_LIMIT)
  if (tools.length <= TOOLS_LIMIT && isValid) return Object.fromEntries(tools)
  query.refuse('tool', 'bad_format', `must be at most ${TOOLS_LIMIT} values of name:uses, such as web_search:3`)
  return null
}

function readCounts(query: Query): Counts | undefined {
  const counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }
  let isSaid = false
  for (const kind of COUNT_KINDS) {
    const name = PRICE_FIELDS[kind]
    const text = query.text(name)
    if (text === undefined) continue
    isSaid = true
    const count = /^\d{1,13}$/.test(text) ? Number(text) : Number.NaN
    if (count <= COUNT_LIMIT) counts[kind] = count
    else query.refuse(name, 'out_of_range', 'must be a whole number of tokens from 0 to 1000000000000')
  }
  return isSaid ? counts : undefined
}

export interface LoadQuery extends LoadOptions {
  format: TableFormat | undefined
  name: string | undefined
  modifiedAt: number | undefined
  dryRun: boolean
}

/** Longer names are not those of files. */
const NAME_LIMIT = 200
const NAME = new RegExp(`^[^\\p{Cc}]{1,${NAME_LIMIT}}$`, 'u')

/** Days are those of the time zone. */
export const readLoad = queryReader((query, { now, timeZone }: { now: number; timeZone: string }): LoadQuery => {
  const read: LoadQuery = {
    format: query.oneOf('format', TABLE_FORMATS),
    effectiveFrom: query.text('effective_from') === ALWAYS ? null : query.moment('effective_from', timeZone),
    asOf: query.moment('as_of', timeZone),
    modifiedAt: query.moment('modified_at', timeZone),
    name: query.text('name'),
    dryRun: query.flag('dry_run') ?? false,
    allowOlder: query.flag('allow_older') ?? false,
    force: query.flag('force') ?? false,
    allowFree: query.flag('allow_free') ?? false,
  }
  if (read.asOf !== undefined && read.asOf > now) query.refuse('as_of', 'in_the_future', 'must not be in the future')
  if (read.name !== undefined && !NAME.test(read.name))
    query.refuse('name', 'bad_format', `must have at most ${NAME_LIMIT} characters and no control characters`)
  return read
})

export const readUpdateQuery = queryReader((query) => ({
  dryRun: query.flag('dry_run') ?? false,
  allowOlder: query.flag('allow_older') ?? false,
}))

export const readFormat = queryReader((query) => query.oneOf('format', TABLE_FORMATS))

export const readAliasList = queryReader((query) => ({ all: query.flag('all') ?? false }))

/** The name of an alias. */
export const readAliasName = queryReader((query): string => {
  const alias = query.text('alias')
  if (alias === undefined) query.refuse('alias', 'required', 'is required')
  return alias!
})
