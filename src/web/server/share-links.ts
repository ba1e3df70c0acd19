import { answer, api, type Body } from './api.ts'
import { useSend } from './send.ts'

/** What is shared, and how: the request of a new link. */
export type NewShareLink = NonNullable<Parameters<(typeof api)['share-links']['post']>[0]>
export type CreatedShareLink = Body<Awaited<ReturnType<(typeof api)['share-links']['post']>>>
export type ShareLink = Body<Awaited<ReturnType<(typeof api)['share-links']['get']>>>['data'][number]

/** Creates a share link. The form shows any error. */
export const useNewShareLink = (after: (link: CreatedShareLink) => void) =>
  useSend({
    send: (link: NewShareLink): Promise<CreatedShareLink> => answer(api['share-links'].post(link)),
    changes: ['share-links'],
    after,
    quiet: true,
  })
