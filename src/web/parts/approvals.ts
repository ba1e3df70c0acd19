/** Sheets and reported entries that wait for the person's approval. */
import { useQuery } from '@tanstack/react-query'
import { type api, apiQuery, type Body } from '../server/api.ts'

export type Approvals = Body<Awaited<ReturnType<typeof api.approvals.get>>>

export const useApprovals = (enabled = true) =>
  useQuery({
    ...apiQuery(['sheets', 'approvals'], (api) => api.approvals.get({ query: {} })),
    enabled,
  })
