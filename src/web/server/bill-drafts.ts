/** Drafts of bills, which everyone who sends bills shares. */
import { queryOptions } from '@tanstack/react-query'
import { answer, api, apiUntil, type Body } from './api.ts'
import { queryClient } from './queries.ts'
import { useSend } from './send.ts'

export type BillDraft = Body<Awaited<ReturnType<(typeof api)['bill-drafts']['get']>>>['data'][number]
export type DraftForm = BillDraft['form']

/** All of them: the API keeps no more. */
const LISTED = '200'

export const billDraftsQuery = queryOptions({
  queryKey: ['bills', 'drafts'],
  queryFn: async ({ signal }) => (await answer(apiUntil(signal)['bill-drafts'].get({ query: { limit: LISTED } }))).data,
})

/** Always read again: somebody else may have changed it. */
export const billDraftQuery = (id: string | undefined) =>
  queryOptions({
    queryKey: ['bill-draft', id],
    queryFn: ({ signal }): Promise<BillDraft> => answer(apiUntil(signal)['bill-drafts']({ id: id! }).get()),
    enabled: id !== undefined,
    staleTime: 0,
    gcTime: 0,
    // Only when it is opened: nothing replaces what somebody types.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })

export const addDraft = (form: DraftForm): Promise<BillDraft> => answer(api['bill-drafts'].post({ form }))

export const changeDraft = (id: string, change: { form: DraftForm; revision: number }): Promise<BillDraft> =>
  answer(api['bill-drafts']({ id }).put(change))

export const readDraft = (id: string): Promise<BillDraft> => answer(api['bill-drafts']({ id }).get())

/** Not with all that is known of bills: a preview costs more than a draft. */
export const forgetDrafts = () => queryClient.invalidateQueries({ queryKey: billDraftsQuery.queryKey })

const changes = ['bills'] as const

export const useAddDraft = (after?: () => void) => useSend({ send: addDraft, changes, ...(after && { after }) })

export const useRemoveDraft = (after?: (draft: BillDraft) => void) =>
  useSend({
    send: ({ id }: BillDraft) => answer(api['bill-drafts']({ id }).delete()),
    changes,
    ...(after && { after: (_: unknown, draft: BillDraft) => after(draft) }),
  })

/** Of a bill that was sent: a draft that is gone already is as good. */
export const discardDraft = (id: string): Promise<unknown> =>
  answer(api['bill-drafts']({ id }).delete()).catch(() => undefined)
