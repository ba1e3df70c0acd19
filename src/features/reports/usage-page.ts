/** A page of a report on usage, as JSON: calculated and serialized off the main thread, from one state of the database. */
import type { Viewer } from '../../access/visibility.ts'
import type { Reader, SlowTask } from '../../database/database.ts'
import { totalOf } from '../rollup/service.ts'
import { bucketsOf } from './buckets.ts'
import { readExtras, totalExtrasJson } from './extra-figures.ts'
import { isProvisional } from './provisional.ts'
import { type UsageQuery, writeUsagePage } from './query.ts'
import { type ReportSums, readUse } from './sums.ts'
import { bucketsJson, costText, figuresJson } from './usage-json.ts'
import { figuresBody, NO_FIGURES, queryBody } from './wire.ts'

export interface UsagePageQuery {
  viewer: Viewer
  query: UsageQuery
  /** The maximum number of groups on a page. */
  rowLimit: number
}

export interface UsagePage {
  /** UTF-8, which reaches the client without being decoded. */
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
  { viewer, query, rowLimit }: UsagePageQuery,
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
  const totals = await totalsJson(reader, { viewer, query }, buckets.length === 1 && next === null ? rows : undefined)
  const extras = await readExtras(reader, {
    ...{ viewer, filter, dimensions, basis, include: query.include },
    bounds: bounds.slice(0, buckets.length + 1),
  })
  const data = bucketsJson(buckets, { ...rows, dimensions, extras }, query.fillGaps)
  const json = `${opened(head)},"totals":${totals},"data":${data},${JSON.stringify(paging).slice(1)}`
  return { json: new TextEncoder().encode(json), next }
}

/** The JSON of an object, without its end. */
function opened(body: object): string {
  return JSON.stringify(body).slice(0, -1)
}

/** Of the whole query, regardless of the page. */
async function totalsJson(
  reader: Reader,
  { viewer, query }: Omit<UsagePageQuery, 'rowLimit'>,
  onlyBucket: ReportSums | undefined,
): Promise<string> {
  const { filter, basis, from, startingAt, endingAt } = query
  const { sums } =
    onlyBucket && from === startingAt
      ? { sums: totalOf(onlyBucket.sums) }
      : await readUse(reader, { viewer, filter, dimensions: [], basis, bounds: [startingAt, endingAt] })
  const totals = sums.length === 0 ? JSON.stringify(figuresBody(NO_FIGURES)) : `{${figuresJson(sums, 0)}}`
  const extras = await readExtras(reader, {
    ...{ viewer, filter, dimensions: [], basis, include: query.include },
    bounds: [startingAt, endingAt],
  })
  return `${totals.slice(0, -1)}${totalExtrasJson(extras)},${await rejectedJson(reader, { viewer, query })}}`
}

/** Rejected entries are usage, but nobody is billed for them. Of the whole query, as the members of an object. */
async function rejectedJson(reader: Reader, { viewer, query }: Omit<UsagePageQuery, 'rowLimit'>): Promise<string> {
  const { filter, basis, startingAt, endingAt } = query
  const { entries, cost } =
    filter.status && !filter.status.includes('rejected')
      ? NO_REJECTED
      : rejectedOf(
          await readUse(reader, {
            viewer,
            filter: { ...filter, status: ['rejected'] },
            dimensions: [],
            basis,
            bounds: [startingAt, endingAt],
          }),
        )
  return `"rejected_entries":${entries},"rejected_cost":${cost}`
}

const NO_REJECTED = { entries: 0, cost: 'null' }

function rejectedOf({ sums }: ReportSums): typeof NO_REJECTED {
  return sums.length === 0 ? NO_REJECTED : { entries: sums.entries[0]!, cost: costText(sums, 0) }
}
