/** The columns of exported reports, named as in the JSON. */
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { type ExtraFigure, MEMBERS } from './extra-figures.ts'
import type { CacheQuery } from './query.ts'
import type {
  CacheGroup,
  CacheReport,
  CompletenessCheck,
  PriceEffect,
  SurchargeModel,
  UnpricedModel,
  UsageBucket,
  UsageResult,
  Variance,
  WhatIfModel,
} from './schema.ts'
import type { Dimension } from './sums.ts'

/** Of a column of cost. */
export const costHeading = (basis: CostBasis): string => (basis === 'cost' ? 'cost' : `cost (${basis})`)

/** Money and sums of counts are exact JSON numbers, written with the same text. */
export function exact(number: number | null): string | null {
  return number === null ? null : JSON.stringify(number)
}

type Tokens = UsageResult['tokens']

function tokenColumns<Row>(tokensOf: (row: Row) => Tokens | undefined): CsvColumn<Row>[] {
  const kinds = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'total'] as const
  return kinds.map((kind) => ({ heading: kind, cell: (row) => exact(tokensOf(row)?.[kind] ?? 0) }))
}

/** A group with its bucket; empty buckets have a line as well if gaps are filled. */
export interface UsageLine {
  bucket: UsageBucket
  result: UsageResult | undefined
}

export async function* usageLines(buckets: AsyncIterable<UsageBucket>): AsyncGenerator<UsageLine> {
  for await (const bucket of buckets) {
    if (bucket.results.length === 0) yield { bucket, result: undefined }
    for (const result of bucket.results) yield { bucket, result }
  }
}

export function usageColumns(
  dimensions: readonly Dimension[],
  include: readonly ExtraFigure[] = [],
  basis: CostBasis = 'cost',
): CsvColumn<UsageLine>[] {
  return [
    { heading: 'starting_at', cell: ({ bucket }) => bucket.starting_at },
    { heading: 'ending_at', cell: ({ bucket }) => bucket.ending_at },
    ...dimensions.flatMap(dimensionColumns),
    { heading: 'entries', cell: ({ result }) => result?.entries ?? 0 },
    { heading: 'unpriced_entries', cell: ({ result }) => result?.unpriced_entries ?? 0 },
    { heading: 'straddling_entries', cell: ({ result }) => result?.straddling_entries ?? 0 },
    ...tokenColumns(({ result }: UsageLine) => result?.tokens),
    { heading: costHeading(basis), cell: ({ result }) => exact(result?.cost ?? null) },
    { heading: 'list_value', cell: ({ result }) => exact(result?.list_value ?? null) },
    { heading: 'reported_cost', cell: ({ result }) => exact(result?.reported_cost ?? null) },
    ...include
      .flatMap((figure) => MEMBERS[figure])
      .map((member) => ({ heading: member, cell: ({ result }: UsageLine) => exact(result?.[member] ?? null) })),
  ]
}

/** Objects have their id next to their name, since names may not be unique. */
function dimensionColumns(dimension: Dimension): CsvColumn<{ result: Partial<UsageResult> | undefined }>[] {
  switch (dimension) {
    case 'project':
    case 'ticket':
      return [
        { heading: dimension, cell: ({ result }) => result?.[dimension]?.key },
        { heading: `${dimension}_id`, cell: ({ result }) => result?.[dimension]?.id },
      ]
    case 'client':
    case 'agent_manager':
    case 'plan':
      return [
        { heading: dimension, cell: ({ result }) => result?.[dimension]?.name },
        { heading: `${dimension}_id`, cell: ({ result }) => result?.[dimension]?.id },
      ]
    case 'agent_name':
    case 'agent_harness':
    case 'provider':
    case 'model':
    case 'status':
    case 'source':
    case 'funding':
      return [{ heading: dimension, cell: ({ result }) => result?.[dimension] }]
    default:
      return [{ heading: dimension, cell: ({ result }) => result?.labels?.[dimension.slice('label:'.length)] }]
  }
}

export const UNPRICED_COLUMNS: CsvColumn<UnpricedModel>[] = [
  ...fieldColumns<UnpricedModel>('model', 'provider', 'entries'),
  ...tokenColumns((row: UnpricedModel) => row.tokens),
  ...fieldColumns<UnpricedModel>('first_at', 'last_at'),
]

export const VARIANCE_COLUMNS: CsvColumn<Variance>[] = [
  ...fieldColumns<Variance>('model', 'agent_name', 'entries'),
  { heading: 'reported_cost', cell: (row) => exact(row.reported_cost) },
  { heading: 'list_value', cell: (row) => exact(row.list_value) },
  { heading: 'difference', cell: (row) => exact(row.difference) },
  { heading: 'ratio', cell: (row) => exact(row.ratio) },
]

export const COMPLETENESS_COLUMNS: CsvColumn<CompletenessCheck>[] = [
  ...fieldColumns<CompletenessCheck>('check', 'entries', 'unpriced_entries'),
  { heading: 'cost', cell: (row) => exact(row.cost) },
  { heading: 'list', cell: (row) => row.list },
]

export interface CacheLine {
  bucket: CacheReport['data'][number]
  result: CacheGroup
}

export const cacheLines = ({ data }: CacheReport): CacheLine[] =>
  data.flatMap((bucket) => bucket.results.map((result) => ({ bucket, result })))

export function cacheColumns(groupBy: CacheQuery['groupBy']): CsvColumn<CacheLine>[] {
  return [
    { heading: 'starting_at', cell: ({ bucket }) => bucket.starting_at },
    { heading: 'ending_at', cell: ({ bucket }) => bucket.ending_at },
    ...(groupBy === undefined ? [] : dimensionColumns(groupBy)),
    { heading: 'entries', cell: ({ result }) => result.entries },
    { heading: 'unvalued_entries', cell: ({ result }) => result.unvalued_entries },
    ...tokenColumns(({ result }: CacheLine) => result.tokens),
    { heading: 'hit_rate', cell: ({ result }) => exact(result.hit_rate) },
    { heading: 'uncached_value', cell: ({ result }) => exact(result.uncached_value) },
    { heading: 'cached_value', cell: ({ result }) => exact(result.cached_value) },
    { heading: 'saved', cell: ({ result }) => exact(result.saved) },
  ]
}

export const WHAT_IF_COLUMNS: CsvColumn<WhatIfModel>[] = [
  ...fieldColumns<WhatIfModel>('model', 'provider', 'entries', 'unvalued_entries'),
  ...tokenColumns((row: WhatIfModel) => row.tokens),
  { heading: 'value', cell: (row) => exact(row.value) },
  { heading: 'other_value', cell: (row) => exact(row.other_value) },
  { heading: 'difference', cell: (row) => exact(row.difference) },
  { heading: 'ratio', cell: (row) => exact(row.ratio) },
]

const PRICE_KINDS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

export const PRICE_CHANGES_COLUMNS: CsvColumn<PriceEffect>[] = [
  ...fieldColumns<PriceEffect>('model', 'provider', 'changed_at', 'ending_at'),
  ...(['before', 'after'] as const).flatMap((side) =>
    PRICE_KINDS.map((kind) => ({
      heading: `${kind}_${side}`,
      cell: (row: PriceEffect) => exact(row[side][kind]),
    })),
  ),
  ...fieldColumns<PriceEffect>('entries', 'unvalued_entries'),
  { heading: 'value_before', cell: (row) => exact(row.value_before) },
  { heading: 'value_after', cell: (row) => exact(row.value_after) },
  { heading: 'effect', cell: (row) => exact(row.effect) },
  { heading: 'ratio', cell: (row) => exact(row.ratio) },
]

export const SURCHARGE_COLUMNS: CsvColumn<SurchargeModel>[] = [
  ...fieldColumns<SurchargeModel>('model', 'provider', 'entries', 'unvalued_entries'),
  { heading: 'cost', cell: (row) => exact(row.cost) },
  { heading: 'list_value', cell: (row) => exact(row.list_value) },
  { heading: 'surcharge', cell: (row) => exact(row.surcharge) },
  { heading: 'base_value', cell: (row) => exact(row.base_value) },
  { heading: 'share', cell: (row) => exact(row.share) },
]
