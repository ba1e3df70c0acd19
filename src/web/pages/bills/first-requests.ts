/** The requests of the billing run, which take the longest of all pages: sent before it is rendered. */
import { queryOptions } from '@tanstack/react-query'
import { COST_BASES } from '../../../shared/cost-basis.ts'
import { flag, many, one, oneOf, readAddress } from '../../address.ts'
import { type api, apiQuery } from '../../server/api.ts'
import { billDraftsQuery } from '../../server/bill-drafts.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { lastMonth } from './run-body.ts'

/** Entries arrive all day: a run that is opened again is read again. */
const RUN_FRESH_MS = 2_000

export const RUN_ADDRESS = {
  month: one,
  earlier: oneOf('', 'include', 'leave'),
  unpriced: flag,
  basis: oneOf('', ...COST_BASES),
  provisional: flag,
  rate: many,
  preview: many,
}

type RunAddress = ReturnType<typeof readAddress<typeof RUN_ADDRESS>>

export function runQuery({ month, earlier, unpriced, basis, provisional, rate }: RunAddress, timeZone: string) {
  const query = {
    month: month ?? lastMonth(timeZone),
    ...(earlier && { include_earlier: earlier === 'include' ? 'true' : 'false' }),
    ...(unpriced && { leave_unpriced: 'true' }),
    ...(basis && { basis }),
    ...(provisional && { provisional: 'true' }),
    ...(rate.length > 0 && { rate }),
  }
  return queryOptions({
    ...apiQuery(['bills', 'run', query], (api) => api.bills.run.get({ query })),
    staleTime: RUN_FRESH_MS,
  })
}

export type BillFilter = NonNullable<NonNullable<Parameters<typeof api.bills.totals.get>[0]>['query']>

export const billSumsQuery = (query: BillFilter) =>
  queryOptions(apiQuery(['bills', 'totals', query], (api) => api.bills.totals.get({ query })))

export function askBillingRun({ settings }: Me, search: string, path: string): void {
  if (path !== '/bills/run') return
  void queryClient.prefetchQuery(runQuery(readAddress(search, RUN_ADDRESS), settings.time_zone))
  void queryClient.prefetchQuery(billSumsQuery({}))
  void queryClient.prefetchQuery(billDraftsQuery)
}
