/** What waits for the signed-in person, for the menu and the page Inbox. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, type api, apiUntil, type Body } from './api.ts'

export type InboxItem = Body<Awaited<ReturnType<typeof api.inbox.get>>>['data'][number]

export const inboxQuery = queryOptions({
  queryKey: ['inbox'],
  queryFn: ({ signal }) => answer(apiUntil(signal).inbox.get()),
})

export const useInbox = (enabled = true) => useQuery({ ...inboxQuery, enabled })
