/** Lists of the API page by page, as far as they are scrolled. */
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import type { Part } from './queries.ts'

interface PageOf<Row> {
  data: Row[]
  has_more: boolean
  next_page: string | null
}

export interface List<Row> {
  /** What was fetched so far; undefined before the first page. */
  rows: Row[] | undefined
  error: Error | null
  hasMore: boolean
  isFetchingMore: boolean
  fetchMore: () => void
  /** Asks for all of it anew. */
  refetch: () => unknown
  isStale: boolean
}

interface ListOptions {
  /** Asks for the first page again so often, as where something is waited for. */
  refetchIntervalMs?: number
  enabled?: boolean
}

/**
 * `useList(['entries', filters], (page) => answer(api['token-entries'].get({ query: { ...filters, page } })))`. While other
 * filters are asked for, the rows of those before stay, and `isStale` says so. `first` is the first page as it was answered,
 * for what it says of all of them, such as sums.
 */
export function useList<Page extends PageOf<unknown>>(
  key: readonly [Part, ...unknown[]],
  ask: (page: string | undefined) => Promise<Page>,
  { refetchIntervalMs, enabled }: ListOptions = {},
): List<Page['data'][number]> & { first: Page | undefined } {
  const query = useInfiniteQuery<Page, Error, InfiniteData<Page>, readonly unknown[], string | undefined>({
    queryKey: key,
    queryFn: ({ pageParam }) => ask(pageParam),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next_page ?? undefined,
    placeholderData: (before) => before,
    refetchInterval: refetchIntervalMs ?? false,
    enabled: enabled ?? true,
  })
  return {
    rows: query.data?.pages.flatMap((page) => page.data),
    first: query.data?.pages[0],
    error: query.error,
    hasMore: query.hasNextPage,
    isFetchingMore: query.isFetchingNextPage,
    fetchMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage()
    },
    refetch: query.refetch,
    isStale: query.isPlaceholderData,
  }
}
