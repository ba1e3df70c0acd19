/** Query parameters of prices: every issue is reported under `/query/<name>`. Pure. */
import { type ListPage, Query, type QueryTexts } from '../../query.ts'
import { TABLE_FORMATS, type TableFormat } from './formats/table-file.ts'
import { ALWAYS } from './formats/tally.ts'
import type { LoadOptions } from './load-plan.ts'
import { PRICE_SOURCES } from './price-table.ts'
import { PRICE_FIELDS, PRICED_KINDS, type TokenCounts } from './rates.ts'
import type { PriceFilter } from './store.ts'
import { SERVICE_FIELDS, SERVICE_KINDS, type UsageDetails, usageDetails } from './usage.ts'

export interface PriceListQuery extends ListPage {
  filter: PriceFilter
}

/** Throws 422 with every issue. */
export function readPriceList(texts: QueryTexts): PriceListQuery {
  const query = new Query(texts)
  const read: PriceListQuery = {
    filter: {
      search: query.text('search'),
      providers: query.list('provider'),
      models: query.list('model'),
      sources: query.someOf('source', PRICE_SOURCES),
    },
    ...query.listPage(),
  }
  query.finish()
  return read
}

export interface ResolveQuery {
  model: string
  provider: string | null
  at: number | undefined
  /** The tier, speed and region of the request. */
  service: UsageDetails | null
  /** The usage of a single request; undefined if not given. */
  counts: TokenCounts | undefined
}

/** The limit of a count in reports. */
const COUNT_LIMIT = 1_000_000_000_000

/** Throws 422 with every issue. */
export function readResolve(texts: QueryTexts): ResolveQuery {
  const query = new Query(texts)
  const model = query.text('model')
  if (model === undefined) query.refuse('model', 'required', 'is required')
  const read = {
    model: model ?? '',
    provider: query.text('provider') ?? null,
    at: query.moment('at'),
    service: usageDetails(
      Object.fromEntries(SERVICE_KINDS.map((kind) => [kind, query.text(SERVICE_FIELDS[kind])?.toLowerCase() ?? null])),
    ),
    counts: readCounts(query),
  }
  query.finish()
  return read
}

function readCounts(query: Query): TokenCounts | undefined {
  const counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }
  let isSaid = false
  for (const kind of PRICED_KINDS) {
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

/** Throws 422 with every issue. */
export function readLoad(texts: QueryTexts, now: number): LoadQuery {
  const query = new Query(texts)
  const read: LoadQuery = {
    format: query.oneOf('format', TABLE_FORMATS),
    effectiveFrom: query.text('effective_from') === ALWAYS ? null : query.moment('effective_from'),
    asOf: query.moment('as_of'),
    modifiedAt: query.moment('modified_at'),
    name: query.text('name'),
    dryRun: query.flag('dry_run') ?? false,
    allowOlder: query.flag('allow_older') ?? false,
    force: query.flag('force') ?? false,
    allowFree: query.flag('allow_free') ?? false,
  }
  if (read.asOf !== undefined && read.asOf > now) query.refuse('as_of', 'in_the_future', 'must not be in the future')
  if (read.name !== undefined && !NAME.test(read.name))
    query.refuse('name', 'bad_format', `must have at most ${NAME_LIMIT} characters and no control characters`)
  query.finish()
  return read
}

/** Throws 422 with every issue. */
export function readPage(texts: QueryTexts): ListPage {
  const query = new Query(texts)
  const read = query.listPage()
  query.finish()
  return read
}

/** Throws 422 with every issue. */
export function readUpdateQuery(texts: QueryTexts): { dryRun: boolean; allowOlder: boolean } {
  const query = new Query(texts)
  const read = { dryRun: query.flag('dry_run') ?? false, allowOlder: query.flag('allow_older') ?? false }
  query.finish()
  return read
}

/** Throws 422 with every issue. */
export function readFormat(texts: QueryTexts): TableFormat | undefined {
  const query = new Query(texts)
  const format = query.oneOf('format', TABLE_FORMATS)
  query.finish()
  return format
}

/** The name of an alias. Throws 422 if it is missing. */
export function readAliasName(texts: QueryTexts): string {
  const query = new Query(texts)
  const alias = query.text('alias')
  if (alias === undefined) query.refuse('alias', 'required', 'is required')
  query.finish()
  return alias!
}
