/**
 * What was asked, kept as long as it is fresh. Keys begin with the part of the API that answers, so that a change
 * says what is no longer true: `useSend({ changes: ['entries', 'reports'] })`.
 */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { Problem } from './problem.ts'

export type Part =
  | 'me'
  | 'entries'
  | 'reports'
  | 'clients'
  | 'projects'
  | 'tickets'
  | 'rules'
  | 'prices'
  | 'sheets'
  | 'bills'
  | 'users'
  | 'tokens'
  | 'settings'
  | 'audit'
  | 'telemetry'

/** Within it going back to a page asks nothing again; agents report all day, so older figures are asked for anew. */
const FRESH_MS = 15_000

/** A refusal is an answer; only a server that does not answer, or is busy, may answer otherwise the next time. */
const mayHelp = (error: unknown) => error instanceof Problem && (error.status === 0 || error.status === 503)

/** A session that ended while a page was open: who one is is asked again, and that shows the sign-in page. */
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
      // Figures of a page that was left open overnight are renewed when it is looked at again.
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

export const forget = (parts: readonly Part[]) =>
  Promise.all(parts.map((part) => queryClient.invalidateQueries({ queryKey: [part] })))
