import { answer, api, type Body } from './api.ts'

/** What is shared, and how: the request of a new link. */
export type NewShareLink = NonNullable<Parameters<(typeof api)['share-links']['post']>[0]>
export type CreatedShareLink = Body<Awaited<ReturnType<(typeof api)['share-links']['post']>>>
export type ShareLink = Body<Awaited<ReturnType<(typeof api)['share-links']['get']>>>['data'][number]

export const createShareLink = (link: NewShareLink): Promise<CreatedShareLink> => answer(api['share-links'].post(link))
