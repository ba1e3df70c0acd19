/** What waits for the signed-in person, for the menu and the page Inbox. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { type api, apiQuery, type Body } from './api.ts'

export type InboxItem = Body<Awaited<ReturnType<typeof api.inbox.get>>>['data'][number]

export const inboxQuery = queryOptions(apiQuery(['inbox'], (api) => api.inbox.get()))

export const useInbox = (enabled = true) => useQuery({ ...inboxQuery, enabled })
