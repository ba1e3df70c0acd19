/** Reports that wait for a bill that is being sent or voided, if they depend on which entries are billed. */

import type { EntriesService } from '../entries/service.ts'
import { dependsOnBilling, type EntryFilter } from '../selection/contract.ts'
import type { ExtraFigure } from './extra-figures.ts'
import type { Sums, SumsQuery } from './sums.ts'

export type Billing = Pick<EntriesService['billing'], 'settled'>

/** Reads entries of a filter. */
export function settledRead<Result>(
  { settled }: Billing,
  filter: EntryFilter,
  read: () => Promise<Result>,
): Promise<Result> {
  return dependsOnBilling(filter) ? settled(read) : read()
}

/** Sums entries of a filter by some dimensions. */
export function settledSum<Result>(
  billing: Billing,
  { dimensions, filter, include }: Pick<SumsQuery, 'dimensions' | 'filter'> & { include?: readonly ExtraFigure[] },
  sum: () => Promise<Result>,
): Promise<Result> {
  return dimensions.includes('status') || include?.includes('billed')
    ? billing.settled(sum)
    : settledRead(billing, filter, sum)
}

export function settledSums({ sums, compare }: Sums, billing: Billing): Sums {
  return {
    sums: (query) => settledSum(billing, query, () => sums(query)),
    compare: (query) => settledSum(billing, query, () => compare(query)),
  }
}
