/** What reports count of the entries of a list, and what they leave out. */
import { queryOptions } from '@tanstack/react-query'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { sumsQuery } from '../../parts/entries/sums-query.ts'
import { answer, apiUntil } from '../../server/api.ts'

const askSums = (query: EntryQuery, signal: AbortSignal, further: { group_by?: ['status']; basis?: CostBasis } = {}) =>
  answer(apiUntil(signal).reports.usage.get({ query: { ...sumsQuery(query), ...further } }))

/** Statuses that reports leave out, with words for their entries. */
const UNCOUNTED = [
  { statuses: ['draft', 'pending'], words: 'on token sheets' },
  { statuses: ['held'], words: 'held' },
  { statuses: ['discarded'], words: 'discarded' },
  { statuses: ['voided'], words: 'voided' },
]

async function askUncounted(query: EntryQuery, signal: AbortSignal) {
  const status = UNCOUNTED.flatMap(({ statuses }) => statuses)
  const { data, totals } = await askSums({ ...query, status }, signal, { group_by: ['status'] })
  const results = data.flatMap((bucket) => bucket.results)
  const parts = UNCOUNTED.map((part) => ({
    ...part,
    entries: results
      .filter(({ status }) => part.statuses.includes(status!))
      .reduce((sum, { entries }) => sum + entries, 0),
  }))
  return { entries: totals.entries, parts: parts.filter(({ entries }) => entries > 0) }
}

export const listTotalsQuery = (query: EntryQuery, basis: CostBasis) =>
  queryOptions({
    queryKey: ['reports', 'sums', query, basis],
    queryFn: async ({ signal }) => {
      const { totals, provisional = false } = await askSums(query, signal, basis === 'cost' ? {} : { basis })
      return { ...totals, provisional }
    },
  })

export const uncountedQuery = (query: EntryQuery) =>
  queryOptions({
    queryKey: ['reports', 'sums', 'uncounted', query],
    queryFn: ({ signal }) => askUncounted(query, signal),
  })
