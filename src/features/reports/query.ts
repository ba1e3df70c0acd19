/** Parameters of reports, parsed from text: each issue points to `/query/<name>`. Pure. */

import { WEEKDAYS, type Weekday } from '../../database/schema/values.ts'
import type { Span } from '../../lib/calendar.ts'
import { type ListFormat, type Query, queryReader, readKeyPage } from '../../schema/query.ts'
import { COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'
import { type EntryFilter, readFilter } from '../selection/contract.ts'
import { BUCKET_WIDTHS, type BucketWidth, countBuckets, findTimeZone, periodAt } from './buckets.ts'
import { EXTRA_FIGURES, type ExtraFigure } from './extra-figures.ts'
import { DIMENSIONS, type Dimension } from './sums.ts'

/** Defaults for a query. */
export interface Circumstances {
  now: number
  /** The organization's time zone and first day of the week. */
  timeZone: string
  weekStart: Weekday
}

/** Buckets per query: over a year of hours, 27 years of days. */
export const BUCKET_LIMIT = 10_000

/** Buckets per page, so that a year of days fits on one. */
export const PAGE_BUCKETS = 1_000

/** Three already result in more groups than a person looks at. */
const DIMENSION_LIMIT = 3

/** Limited like names of labels in reports. */
const LABEL = /^label:[a-z0-9_.-]{1,64}$/

export interface UsageQuery extends Span {
  width: BucketWidth
  timeZone: string
  weekStart: Weekday
  dimensions: Dimension[]
  basis: CostBasis
  /** All filters except the period. */
  filter: EntryFilter
  /** Figures that are calculated on request. */
  include: ExtraFigure[]
  /** Whether empty buckets are returned. */
  fillGaps: boolean
  /** The number of buckets on a page. */
  limit: number
  /** The start of the page; on the first one, the start of the period. */
  from: number
  format: ListFormat | undefined
}

export const readUsage = queryReader(usageIn)

function usageIn(query: Query, circumstances: Circumstances): UsageQuery {
  const page = query.page(readUsagePage)
  const { timeZone, filter, ...period } = readPeriod(query, {
    ...circumstances,
    // All pages of a report up to the present use the same present.
    now: page?.endingAt ?? circumstances.now,
  })
  const width = query.oneOf('bucket_width', BUCKET_WIDTHS) ?? '1d'
  const read: UsageQuery = {
    ...period,
    width,
    timeZone,
    weekStart: query.oneOf('week_start', WEEKDAYS) ?? circumstances.weekStart,
    dimensions: readDimensions(query),
    basis: readBasis(query),
    filter,
    include: [...new Set(query.someOf('include', EXTRA_FIGURES) ?? [])],
    fillGaps: query.flag('fill_gaps') ?? false,
    limit: query.limit({ usual: PAGE_BUCKETS, most: PAGE_BUCKETS }),
    from: page?.from ?? period.startingAt,
    format: query.format(),
  }
  if (countBuckets(read) > BUCKET_LIMIT) {
    const limit = BUCKET_LIMIT.toLocaleString('en')
    query.refuse(
      'bucket_width',
      'too_many_buckets',
      `results in more than ${limit} buckets for this period. Use wider buckets or a shorter period`,
    )
  } else if (page && !fits(page, read)) {
    query.refuse('page', 'bad_page', 'must be the next_page of a previous response to the same request')
  }
  return read
}

/** What the groups of an overview are of. */
export const OVERVIEW_DIMENSIONS = ['project', 'model', 'agent_manager'] as const
export type OverviewDimension = (typeof OVERVIEW_DIMENSIONS)[number]

/** More bars are thinner than a pixel. Those of a dozen groups are a page of the report. */
export const OVERVIEW_BUCKETS = 500

export interface OverviewQuery extends UsageQuery {
  dimension: OverviewDimension
  /** What the period is compared with. */
  previous: Span
}

export const readOverview = queryReader((query, circumstances: Circumstances): OverviewQuery => {
  const usage = usageIn(query, circumstances)
  const { startingAt, endingAt, timeZone } = usage
  const buckets = countBuckets(usage)
  if (buckets > OVERVIEW_BUCKETS && buckets <= BUCKET_LIMIT) {
    const message = `results in more than ${OVERVIEW_BUCKETS} buckets for this period. Use wider buckets or a shorter period`
    query.refuse('bucket_width', 'too_many_buckets', message)
  }
  const from = query.moment('previous_starting_at', timeZone) ?? startingAt - (endingAt - startingAt)
  const to = query.moment('previous_ending_at', timeZone) ?? startingAt
  if (from >= to && endingAt > startingAt)
    query.refuse('previous_ending_at', 'not_allowed', 'must be later than previous_starting_at')
  const dimension = query.oneOf('group_by', OVERVIEW_DIMENSIONS) ?? 'project'
  return { ...usage, dimension, previous: { startingAt: from, endingAt: to } }
})

interface UsagePage {
  from: number
  endingAt: number
}

export function writeUsagePage({ from, endingAt }: UsagePage): string {
  return Buffer.from(`${from}.${endingAt}`).toString('base64url')
}

function readUsagePage(page: string): UsagePage | undefined {
  const match = /^(-?\d{1,15})\.(-?\d{1,15})$/.exec(Buffer.from(page, 'base64url').toString('latin1'))
  return match ? { from: Number(match[1]), endingAt: Number(match[2]) } : undefined
}

/** Whether the page starts at one of the query's buckets. */
function fits({ from, endingAt }: UsagePage, { startingAt, endingAt: end, width, ...calendar }: UsageQuery): boolean {
  return (
    from > startingAt &&
    from < endingAt &&
    endingAt === end &&
    width !== 'all' &&
    periodAt(from, width, calendar).startingAt === from
  )
}

const readBasis = (query: Query): CostBasis => query.oneOf('basis', COST_BASES) ?? 'cost'

function readDimensions(query: Query): Dimension[] {
  const texts = query.list('group_by') ?? []
  if (!texts.every((text) => DIMENSIONS.includes(text as never) || LABEL.test(text))) {
    query.refuse('group_by', 'not_allowed', `must be one of ${DIMENSIONS.join(', ')}, or label:<name>`)
  } else if (new Set(texts).size < texts.length) {
    query.refuse('group_by', 'not_allowed', 'must not contain duplicates')
  } else if (texts.length > DIMENSION_LIMIT) {
    query.refuse('group_by', 'too_many', `must have at most ${DIMENSION_LIMIT} values`)
  }
  return texts as Dimension[]
}

export interface PeriodQuery extends Span {
  timeZone: string
  /** All filters except the period. */
  filter: EntryFilter
}

/** The period of a report, and the filter of its entries. The caller finishes the query. */
function readPeriod(query: Query, circumstances: Circumstances): PeriodQuery {
  const { timeZone, startingAt, endingAt = circumstances.now, filter } = readTimes(query, circumstances)
  if (query.text('starting_at') === undefined) query.refuse('starting_at', 'required', 'is required')
  if (startingAt !== undefined && startingAt >= endingAt) {
    if (query.text('ending_at') === undefined)
      query.refuse('starting_at', 'not_allowed', 'must be in the past if ending_at is absent')
    else query.refuse('ending_at', 'not_allowed', 'must be later than starting_at')
  }
  return { timeZone, startingAt: startingAt ?? endingAt, endingAt, filter }
}

interface Times {
  timeZone: string
  startingAt: number | undefined
  endingAt: number | undefined
  filter: EntryFilter
}

function readTimes(query: Query, { timeZone: usual }: Circumstances): Times {
  const named = query.text('time_zone')
  const found = named === undefined ? usual : findTimeZone(named)
  if (found === undefined)
    query.refuse('time_zone', 'not_allowed', 'must be an IANA time zone, such as Europe/Berlin or UTC')
  const timeZone = found ?? usual
  // Days are those of the report's buckets, which may have a time zone of their own.
  const { starting_at: startingAt, ending_at: endingAt, ...filter } = readFilter(query, timeZone)
  return { timeZone, startingAt, endingAt, filter }
}

/** A report that is a list, with the position of its page. */
export interface RankedQuery {
  timeZone: string
  filter: EntryFilter
  limit: number
  /** The number of rows before the page. */
  after: number
  format: ListFormat | undefined
}

export function readRanked(query: Query): Pick<RankedQuery, 'limit' | 'after' | 'format'> {
  return { limit: query.limit(), after: query.page(readKeyPage) ?? 0, format: query.format() }
}

export const readUnpriced = queryReader((query, circumstances: Circumstances): RankedQuery => {
  const { timeZone, filter, startingAt, endingAt } = readTimes(query, circumstances)
  return { timeZone, filter: { ...filter, starting_at: startingAt, ending_at: endingAt }, ...readRanked(query) }
})

export interface VarianceQuery extends RankedQuery, Span {}

export const readVariance = queryReader(
  (query, circumstances: Circumstances): VarianceQuery => ({
    ...readPeriod(query, circumstances),
    ...readRanked(query),
  }),
)

/** A report of a period that is not divided into pages. */
export interface PeriodAloneQuery extends PeriodQuery {
  format: ListFormat | undefined
}

export const readPeriodAlone = queryReader(
  (query, circumstances: Circumstances): PeriodAloneQuery => ({
    ...readPeriod(query, circumstances),
    format: query.format(),
  }),
)

/** What the use of caches is grouped by. */
export const CACHE_DIMENSIONS = ['model', 'agent_manager', 'project'] as const

/** Of sessions that cost more than is usual. */
export interface OutliersQuery extends PeriodAloneQuery {
  basis: CostBasis
}

export const readOutliers = queryReader(
  (query, circumstances: Circumstances): OutliersQuery => ({
    ...readPeriod(query, circumstances),
    basis: readBasis(query),
    format: query.format(),
  }),
)

export interface CacheQuery extends PeriodAloneQuery {
  width: BucketWidth
  weekStart: Weekday
  groupBy: (typeof CACHE_DIMENSIONS)[number] | undefined
  /** Of the buckets of the hit rates over time, in a report of the whole period. */
  trend: BucketWidth | undefined
}

export const readCache = queryReader((query, circumstances: Circumstances): CacheQuery => {
  const read: CacheQuery = {
    ...readPeriod(query, circumstances),
    width: query.oneOf('bucket_width', BUCKET_WIDTHS) ?? 'all',
    weekStart: circumstances.weekStart,
    groupBy: query.oneOf('group_by', CACHE_DIMENSIONS),
    trend: query.oneOf('trend', BUCKET_WIDTHS),
    format: query.format(),
  }
  if (read.trend && read.width !== 'all') query.refuse('trend', 'not_allowed', 'needs bucket_width=all')
  const field = read.trend ? 'trend' : 'bucket_width'
  if (countBuckets({ ...read, width: read.trend ?? read.width }) > PAGE_BUCKETS) {
    const limit = PAGE_BUCKETS.toLocaleString('en')
    const message = `results in more than ${limit} buckets for this period. Use wider buckets or a shorter period`
    query.refuse(field, 'too_many_buckets', message)
  }
  return read
})

export interface WhatIfQuery extends PeriodAloneQuery {
  /** The model whose prices are used instead. */
  as: { model: string; provider: string | null }
}

export const readWhatIf = queryReader((query, circumstances: Circumstances): WhatIfQuery => {
  const model = query.text('as_model')
  if (model === undefined) query.refuse('as_model', 'required', 'is required')
  const as = { model: model ?? '', provider: query.text('as_provider') ?? null }
  return { ...readPeriod(query, circumstances), as, format: query.format() }
})
