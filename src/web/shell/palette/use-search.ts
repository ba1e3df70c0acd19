/** Asks the server what has a text, once for all that is typed without a pause. */
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answer, apiUntil } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { asProblem, type Problem } from '../../server/problem.ts'
import type { SearchAnswer } from './hits.ts'

/** Between two keys of somebody who types on. */
const PAUSE_MS = 150

interface Search {
  found: SearchAnswer | undefined
  isPending: boolean
  problem: Problem | undefined
}

export function useSearch(typed: string): Search {
  const { person } = useMe()
  const [text] = useDebouncedValue(typed, PAUSE_MS)
  const enabled = text !== '' && typed !== '' && person.role !== 'viewer'
  // The request of an earlier text is aborted: nothing waits for it anymore.
  const { data, error, isFetching } = useQuery({
    queryKey: ['search', text],
    queryFn: ({ signal }): Promise<SearchAnswer> => answer(apiUntil(signal).search.get({ query: { q: text } })),
    enabled,
    placeholderData: keepPreviousData,
  })
  if (!enabled) return { found: undefined, isPending: typed !== text && person.role !== 'viewer', problem: undefined }
  return {
    found: data,
    isPending: isFetching || typed !== text,
    problem: error ? asProblem(error) : undefined,
  }
}
