/** A page of a report on usage, as JSON: calculated and serialized off the main thread, from one state of the database. */
import type { Viewer } from '../../access/visibility.ts'
import type { Reader, SlowTask } from '../../database/database.ts'
import { zstd } from '../../lib/zstd.ts'
import { totalOf } from '../rollup/service.ts'
import { bucketsOf } from './buckets.ts'
import { readExtras, totalExtrasBody } from './extra-figures.ts'
import { isProvisional } from './provisional.ts'
import { type UsageQuery, writeUsagePage } from './query.ts'
import { type ReportSums, readUse } from './sums.ts'
import { bucketsJson, costOf, withFigures } from './usage-json.ts'
import { NO_FIGURES, queryBody } from './wire.ts'

export interface UsagePageQuery {
  viewer: Viewer
  query: UsageQuery
  /** The maximum number of groups on a page. */
  rowLimit: number
  /** Of the page, if the client accepts it: a compressed one takes a fraction of the time on its way. */
  encoding?: 'zstd' | undefined
}

export interface UsagePage {
  /** UTF-8, in the encoding of the query, which reaches the client as it is. */
  json: Uint8Array<ArrayBuffer>
  /** The start of the next page; null on the last one. */
  next: number | null
}

/** Undefined if the first bucket alone has more groups than a page. */
export const USAGE_PAGE_TASK: SlowTask<UsagePageQuery, UsagePage | undefined> = {
  name: 'reports.usage-page',
  run: readUsagePage,
}

async function readUsagePage(
  reader: Reader,
  { viewer, query, rowLimit, encoding }: UsagePageQuery,
): Promise<UsagePage | undefined> {
  const { filter, dimensions, basis } = query
  let buckets = bucketsOf({ ...query, startingAt: query.from }, query.limit)
  const bounds = [...buckets.map(({ startingAt }) => startingAt), buckets.at(-1)!.endingAt]
  const rows = await readUse(reader, { viewer, filter, dimensions, basis, bounds, limit: rowLimit + 1 })
  if (rows.sums.length > rowLimit) {
    // The bucket of the last row may have more rows: it starts the next page.
    buckets = buckets.slice(0, rows.sums.buckets[rowLimit]!)
    if (buckets.length === 0) return undefined
  }
  const { endingAt } = buckets.at(-1)!
  const next = endingAt < query.endingAt ? endingAt : null
  const head = {
    ...queryBody(query),
    bucket_width: query.width,
    week_start: query.weekStart,
    group_by: dimensions,
    basis,
    ...((await isProvisional(reader, viewer, query)) && { provisional: true }),
  }
  const paging = {
    has_more: next !== null,
    next_page: next === null ? null : writeUsagePage({ from: next, endingAt: query.endingAt }),
  }
  const totals = await totalsBody(reader, { viewer, query }, buckets.length === 1 && next === null ? rows : undefined)
  const extras = await readExtras(reader, {
    ...{ viewer, filter, dimensions, basis, include: query.include },
    bounds: bounds.slice(0, buckets.length + 1),
  })
  const data = bucketsJson(buckets, { ...rows, dimensions, extras }, query.fillGaps)
  const json = `${JSON.stringify({ ...head, totals }).slice(0, -1)},"data":${data},${JSON.stringify(paging).slice(1)}`
  const bytes = new TextEncoder().encode(json)
  return { json: encoding === 'zstd' ? zstd(bytes) : bytes, next }
}

/** Of the whole query, regardless of the page. */
async function totalsBody(
  reader: Reader,
  { viewer, query }: Pick<UsagePageQuery, 'viewer' | 'query'>,
  onlyBucket: ReportSums | undefined,
): Promise<object> {
  const { filter, basis, from, startingAt, endingAt } = query
  const { sums } =
    onlyBucket && from === startingAt
      ? { sums: totalOf(onlyBucket.sums) }
      : await readUse(reader, { viewer, filter, dimensions: [], basis, bounds: [startingAt, endingAt] })
  const extras = await readExtras(reader, {
    ...{ viewer, filter, dimensions: [], basis, include: query.include },
    bounds: [startingAt, endingAt],
  })
  return {
    ...(sums.length === 0 ? NO_FIGURES : withFigures({}, sums, 0)),
    ...totalExtrasBody(extras),
    ...(await rejectedBody(reader, { viewer, query })),
  }
}

/** Rejected entries are usage, but nobody is billed for them. Of the whole query. */
async function rejectedBody(reader: Reader, { viewer, query }: Pick<UsagePageQuery, 'viewer' | 'query'>) {
  const { filter, basis, startingAt, endingAt } = query
  if (filter.status && !filter.status.includes('rejected')) return NO_REJECTED
  const rejected = { ...filter, status: ['rejected' as const] }
  const bounds = [startingAt, endingAt]
  const { sums } = await readUse(reader, { viewer, filter: rejected, dimensions: [], basis, bounds })
  return sums.length === 0 ? NO_REJECTED : { rejected_entries: sums.entries[0]!, rejected_cost: costOf(sums, 0) }
}

const NO_REJECTED = { rejected_entries: 0, rejected_cost: null }
