/** Sums that wait for a bill that is being sent or voided, if they depend on which entries are billed. */
import { dependsOnBilling } from '../entries/listing/filter.ts'
import type { EntriesService } from '../entries/service.ts'
import type { Sums, SumsQuery } from './sums.ts'

export function settledSums({ sums, compare }: Sums, { settled }: Pick<EntriesService['billing'], 'settled'>): Sums {
  function read<Result>(
    { dimensions, filter }: Pick<SumsQuery, 'dimensions' | 'filter'>,
    sum: () => Promise<Result>,
  ): Promise<Result> {
    return dimensions.includes('status') || dependsOnBilling(filter) ? settled(sum) : sum()
  }
  return {
    sums: (query) => read(query, () => sums(query)),
    compare: (query) => read(query, () => compare(query)),
  }
}
