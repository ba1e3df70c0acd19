/** Paged lists of the API, loaded as they are scrolled. */
import {
  type InfiniteData,
  type InfiniteQueryObserverResult,
  type UseInfiniteQueryOptions,
  useInfiniteQuery,
} from '@tanstack/react-query'
import { answer, apiUntil, type Body, type Settled } from './api.ts'
import type { Part } from './queries.ts'

/** Rows per page: more than are on a tall screen and loaded ahead, so that one request fills it. */
export const PAGE_LIMIT = '100'

interface PageOf<Row> {
  data: Row[]
  has_more: boolean
  next_page: string | null
  /** Set if the page ended early because the search took long: what has been searched, back to this time. */
  searched_to?: string | null
}

export interface List<Row> {
  /** The rows loaded so far; undefined before the first page. */
  rows: Row[] | undefined
  error: Error | null
  hasMore: boolean
  /** Set if a search paused before it found a whole page; `fetchMore` continues it from this time. */
  searchedTo: string | null
  isFetchingMore: boolean
  fetchMore: () => void
  /** Reloads the list. */
  refetch: () => unknown
  isStale: boolean
}

interface ListOptions<Row> {
  /** Polling interval, for lists that wait for something. */
  refetchIntervalMs?: number
  /** Polls only while this is true of one of the loaded rows. */
  isWaiting?: (row: Row) => boolean
  enabled?: boolean
}

/** Fetches one page; the signal is aborted when the list is no longer shown. */
type Ask<Page> = (page: string | undefined, signal: AbortSignal) => Promise<Page>

type Pages<Page> = UseInfiniteQueryOptions<Page, Error, InfiniteData<Page>, readonly unknown[], string | undefined>

/** The query of a list: each page names the next one. */
export const listQuery = <Page extends PageOf<unknown>>(
  key: readonly [Part, ...unknown[]],
  ask: Ask<Page>,
  { refetchIntervalMs = 0, isWaiting, enabled }: ListOptions<Page['data'][number]> = {},
): Pages<Page> => ({
  queryKey: key,
  queryFn: ({ pageParam, signal }) => ask(pageParam, signal),
  initialPageParam: undefined,
  getNextPageParam: (last) => last.next_page ?? undefined,
  placeholderData: (before) => before,
  refetchInterval: ({ state }) =>
    !isWaiting || state.data?.pages.some(({ data }) => data.some(isWaiting)) ? refetchIntervalMs || false : false,
  enabled: enabled ?? true,
})

type ListState<Page extends PageOf<unknown>> = List<Page['data'][number]> & { first: Page | undefined }

/** The rows of all pages loaded so far. */
export const listOf = <Page extends PageOf<unknown>>(
  query: InfiniteQueryObserverResult<InfiniteData<Page>>,
): ListState<Page> => ({
  rows: query.data?.pages.flatMap((page) => page.data),
  first: query.data?.pages[0],
  error: query.error,
  hasMore: query.hasNextPage,
  searchedTo: query.data?.pages.at(-1)?.searched_to ?? null,
  isFetchingMore: query.isFetchingNextPage,
  fetchMore: () => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage()
  },
  refetch: query.refetch,
  isStale: query.isPlaceholderData,
})

/**
 * While the list loads with a new query, it keeps the previous rows and `isStale` is true. `first` is the first page as
 * returned, for fields that cover the whole list, such as totals.
 */
export const useList = <Page extends PageOf<unknown>>(
  key: readonly [Part, ...unknown[]],
  ask: Ask<Page>,
  options?: ListOptions<Page['data'][number]>,
): ListState<Page> => listOf(useInfiniteQuery(listQuery(key, ask, options)))

/** The same: `useApiList(['bills', query], (api, paging) => api.bills.get({ query: { ...query, ...paging } }))`. */
export const useApiList = <Call extends Settled & { data: PageOf<unknown> | Response | null }>(
  key: readonly [Part, ...unknown[]],
  ask: (api: ReturnType<typeof apiUntil>, paging: { page: string | undefined; limit: string }) => Promise<Call>,
  options?: ListOptions<Body<Call>['data'][number]>,
) => useList(key, (page, signal) => answer(ask(apiUntil(signal), { page, limit: PAGE_LIMIT })), options)
