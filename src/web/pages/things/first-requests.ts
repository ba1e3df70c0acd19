/**
 * The requests for the usage of a thing. They need no more than its address, so that they are sent before the thing
 * itself is known, and before anything is rendered if the application starts with its page.
 */
import { queryOptions } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useSearch } from 'wouter/use-browser-location'
import { one, oneOf, readAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { completenessQuery } from '../../parts/open-checks.tsx'
import { asBounds, type Period } from '../../parts/period.ts'
import { type ThingKind, thingAt } from '../../parts/thing-address.ts'
import { type Dimension, readDimension } from '../../parts/usage/dimensions.ts'
import { usageQuery } from '../../parts/usage/usage.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { type Me, useSettings } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { trendQuestion } from '../reports/question.ts'
import { type UsageOf, usageOf } from './kinds.ts'
import { usagePeriodOf } from './usage-period.ts'

export const USAGE_ADDRESS = { period: one, bucket: one, by: readDimension, measure: oneOf('cost', 'tokens') }

/** Every group of a dimension, and the totals of the thing, which are those of any dimension. */
export const groupsQuery = (filter: EntryQuery, period: Period, dimension: Dimension) =>
  usageQuery({ period, filter, width: 'all', by: [dimension], include: [] })

/** When the first entry started; null if there is none. */
export const firstStartQuery = (filter: EntryQuery) =>
  queryOptions({
    queryKey: ['entries', 'first', filter],
    queryFn: async ({ signal }) => {
      const query = { ...filter, order: 'asc', limit: '1' }
      return (await answer(apiUntil(signal)['token-entries'].get({ query }))).data[0]?.started_at ?? null
    },
  })

/** What is in sight when the page opens, except what follows from these answers. */
function askUsage({ filter, by, usual }: UsageOf, search: string, timeZone: string, hasSpan: boolean): void {
  const address = readAddress(search, USAGE_ADDRESS)
  const { period, name } = usagePeriodOf(hasSpan ? undefined : address.period, usual, timeZone)
  const dimension = dimensionOf(by, address.by)
  for (const each of new Set([by[0], dimension])) void queryClient.prefetchQuery(groupsQuery(filter, period, each))
  void queryClient.prefetchQuery(completenessQuery({ ...filter, ...asBounds(period) }))
  if (name !== undefined) {
    const width = widthFor(period, address.bucket)
    const question = { measure: address.measure, by: dimension, second: undefined, earlier: undefined } as const
    void queryClient.prefetchQuery(usageQuery(trendQuestion({ ...question, width, period, filter })))
  } else if (!hasSpan) void queryClient.prefetchQuery(firstStartQuery(filter))
}

/** What the usage is broken down by: what the address says, if the page has it. */
export const dimensionOf = (by: UsageOf['by'], inAddress: Dimension | undefined): Dimension =>
  inAddress !== undefined && by.includes(inAddress) ? inAddress : by[0]

const askThing = (kind: ThingKind, key: string, search: string, timeZone: string) =>
  askUsage(usageOf(kind, key), search, timeZone, kind === 'session')

/** For the page that the application starts with. */
export function askThingAt({ settings }: Me, search: string, path: string): void {
  const thing = thingAt(path, search)
  if (thing) askThing(thing.kind, thing.key, search, settings.time_zone)
}

/** For a page that has to read what the thing is called first. */
export function useUsageAhead(kind: ThingKind, key: string): void {
  const { time_zone } = useSettings()
  const search = useSearch()
  // biome-ignore lint/correctness/useExhaustiveDependencies: once it is open, the page sends its own requests
  useEffect(() => askThing(kind, key, search, time_zone), [kind, key])
}
