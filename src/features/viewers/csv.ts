/** The columns of the exported usage report of viewers, named as in the JSON. */
import type { CsvColumn } from '../../lib/csv-column.ts'
import type { SharedDimension } from './query.ts'
import type { SharedUsage, SharedUsageResult } from './schema.ts'

export interface SharedUsageLine {
  bucket: Pick<SharedUsage['data'][number], 'starting_at' | 'ending_at'>
  result: SharedUsageResult
}

export const sharedUsageLines = ({ data }: SharedUsage): SharedUsageLine[] =>
  data.flatMap(({ results, ...bucket }) => results.map((result) => ({ bucket, result })))

/** Money and sums of counts are exact JSON numbers, written with the same text. */
const exact = (number: number | null) => (number === null ? null : JSON.stringify(number))

const TOKENS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'total'] as const

export function sharedUsageColumns(dimensions: readonly SharedDimension[]): CsvColumn<SharedUsageLine>[] {
  return [
    { heading: 'starting_at', cell: ({ bucket }) => bucket.starting_at },
    { heading: 'ending_at', cell: ({ bucket }) => bucket.ending_at },
    ...dimensions.map((dimension) => ({ heading: dimension, cell: cellOf(dimension) })),
    { heading: 'entries', cell: ({ result }) => result.entries },
    ...TOKENS.map((kind) => ({ heading: kind, cell: ({ result }: SharedUsageLine) => exact(result.tokens[kind]) })),
    { heading: 'cost', cell: ({ result }) => exact(result.cost) },
    { heading: 'cost_entries', cell: ({ result }) => result.cost_entries },
    {
      heading: 'amounts',
      cell: ({ result }) => result.amounts.map(({ currency, amount }) => `${exact(amount)} ${currency}`).join('; '),
    },
    { heading: 'amount_entries', cell: ({ result }) => result.amount_entries },
  ]
}

function cellOf(dimension: SharedDimension): CsvColumn<SharedUsageLine>['cell'] {
  return ({ result }) => {
    const key = result[dimension]
    if (key === null || key === undefined || typeof key === 'string') return key
    return 'key' in key ? key.key : key.name
  }
}
