/**
 * The requests for a thing and its usage. They need no more than its address, so that they are sent before the page is
 * rendered, and those for the usage before the thing itself is known.
 */
import { queryOptions } from '@tanstack/react-query'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { one, oneOf, readAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import { askEntries } from '../../parts/entries/entry.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { completenessQuery } from '../../parts/open-checks.tsx'
import { asBounds, type Period } from '../../parts/period.ts'
import { type ThingKind, thingAt } from '../../parts/thing-address.ts'
import { type Dimension, readDimension } from '../../parts/usage/dimensions.ts'
import { usageQuery } from '../../parts/usage/usage.ts'
import { answer, apiQuery, apiUntil } from '../../server/api.ts'
import { usualBasis } from '../../server/cost-basis.ts'
import { listQuery } from '../../server/list.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { trendQuestion } from '../reports/question.ts'
import type { Ticket } from '../work/project.ts'
import { type UsageOf, usageOf } from './kinds.ts'
import { usagePeriodOf } from './usage-period.ts'

export const USAGE_ADDRESS = { period: one, bucket: one, by: readDimension, measure: oneOf('cost', 'tokens') }

/** Every group of a dimension, and the totals of the thing, which are those of any dimension. */
export const groupsQuery = (filter: EntryQuery, period: Period, dimension: Dimension, basis: CostBasis) =>
  usageQuery({ period, filter, width: 'all', by: [dimension], include: [], basis })

export const clientQuery = (id: string) =>
  queryOptions(apiQuery(['clients', 'one', id], (api) => api.clients({ id }).get()))

export const projectQuery = (id: string) =>
  queryOptions(apiQuery(['projects', 'one', id], (api) => api.projects({ id }).get()))

export const ticketQuery = (id: string) =>
  queryOptions({
    queryKey: ['tickets', 'page', id],
    queryFn: ({ signal }): Promise<Ticket> => answer(apiUntil(signal).tickets({ id }).get()),
  })

/** The entries of a session, page by page: it may have hundreds of slices. */
export const sessionQuery = (name: string) =>
  listQuery(['entries', 'session', name], (page, signal) =>
    askEntries({ session_id: [name], order: 'asc' }, page, signal),
  )

/** The entry of a session that started last. */
export const sessionEndQuery = (name: string) =>
  queryOptions({
    queryKey: ['entries', 'session end', name],
    queryFn: async ({ signal }) => {
      const { data } = await answer(
        apiUntil(signal)['token-entries'].get({ query: { session_id: [name], limit: '1' } }),
      )
      return data[0]
    },
  })

/** How long the agents of a session worked, as far as that is known. */
export const activeTimeQuery = (name: string, timeZone: string) => {
  const { filter, usual } = usageOf('session', name)
  const { period } = usagePeriodOf(undefined, usual, timeZone)
  return usageQuery({ period, filter, width: 'all', by: [], include: ['active_seconds'] })
}

/** What the page shows of the thing itself. */
const ASK_ITSELF: Partial<Record<ThingKind, (key: string) => Promise<void>>> = {
  client: (id) => queryClient.prefetchQuery(clientQuery(id)),
  project: (id) => queryClient.prefetchQuery(projectQuery(id)),
  ticket: (id) => queryClient.prefetchQuery(ticketQuery(id)),
  session: (name) => queryClient.prefetchInfiniteQuery(sessionQuery(name)),
}

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
function askUsage({ filter, by, usual }: UsageOf, search: string, me: Me, hasSpan: boolean): void {
  const timeZone = me.settings.time_zone
  const basis = usualBasis(me)
  const address = readAddress(search, USAGE_ADDRESS)
  const { period, name } = usagePeriodOf(hasSpan ? undefined : address.period, usual, timeZone)
  const dimension = dimensionOf(by, address.by)
  for (const each of new Set([by[0], dimension])) {
    void queryClient.prefetchQuery(groupsQuery(filter, period, each, basis))
  }
  void queryClient.prefetchQuery(completenessQuery({ ...filter, ...asBounds(period) }))
  if (name !== undefined) {
    const width = widthFor(period, address.bucket)
    const question = { measure: address.measure, basis, by: dimension, second: undefined, earlier: undefined } as const
    void queryClient.prefetchQuery(usageQuery(trendQuestion({ ...question, width, period, filter })))
  } else if (!hasSpan) void queryClient.prefetchQuery(firstStartQuery(filter))
}

/** What the usage is broken down by: what the address says, if the page has it. */
export const dimensionOf = (by: UsageOf['by'], inAddress: Dimension | undefined): Dimension =>
  inAddress !== undefined && by.includes(inAddress) ? inAddress : by[0]

export function askThingAt(me: Me, search: string, path: string): void {
  const thing = thingAt(path, search)
  if (!thing) return
  void ASK_ITSELF[thing.kind]?.(thing.key)
  askUsage(usageOf(thing.kind, thing.key), search, me, thing.kind === 'session')
}
