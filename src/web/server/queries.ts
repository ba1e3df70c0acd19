/**
 * The query cache. Keys begin with a part of the API, so that a mutation can name what it invalidates:
 * `useSend({ changes: ['entries', 'reports'] })`. Dry runs have keys that begin otherwise, or they would run again.
 */
import { MutationCache, QueryCache, QueryClient, replaceEqualDeep } from '@tanstack/react-query'
import { Problem } from './problem.ts'
import { keepVersion } from './versions.ts'

export type Part =
  | 'me'
  | 'local-sessions'
  | 'inbox'
  | 'entries'
  | 'reports'
  | 'clients'
  | 'projects'
  | 'tickets'
  | 'rules'
  | 'prices'
  | 'sheets'
  | 'bills'
  | 'budgets'
  | 'plans'
  | 'users'
  | 'tokens'
  | 'trusts'
  | 'share-links'
  | 'report-views'
  | 'webhooks'
  | 'settings'
  | 'audit'
  | 'telemetry'
  | 'agent-status'

/** How long data counts as fresh: going back to a page within this time makes no requests. */
const FRESH_MS = 15_000

/** Whether a retry may help: only if the server is unreachable or busy. */
const mayHelp = (error: unknown) => error instanceof Problem && (error.status === 0 || error.status === 503)

/** Shows the sign-in page when a session ends while a page is open. */
function noticeSignedOut(error: unknown) {
  if (error instanceof Problem && error.status === 401) queryClient.setQueryData(['me'], null)
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignedOut }),
  mutationCache: new MutationCache({ onError: noticeSignedOut }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) => failures < 2 && mayHelp(error),
      // Refreshes a page that was left open when it is looked at again.
      refetchOnWindowFocus: true,
      networkMode: 'always',
      structuralSharing: (before, read) => {
        const kept: unknown = replaceEqualDeep(before, read)
        keepVersion(kept, read)
        return kept
      },
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

/** With what waits for the person, and the overview, which shows some of everything. */
export const forget = (parts: readonly Part[]) =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [part, kind] }) =>
      part === 'inbox' || parts.includes(part as Part) || (part === 'reports' && kind === 'overview'),
  })
