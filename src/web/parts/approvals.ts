/** Sheets and reported entries that wait for the person's approval. */
import { useQuery } from '@tanstack/react-query'
import { answer, type api, apiUntil, type Body } from '../server/api.ts'

export type Approvals = Body<Awaited<ReturnType<typeof api.approvals.get>>>

export const useApprovals = (enabled = true) =>
  useQuery({
    queryKey: ['sheets', 'approvals'],
    queryFn: ({ signal }) => answer(apiUntil(signal).approvals.get({ query: {} })),
    enabled,
  })
