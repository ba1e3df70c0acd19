/** Proposed rules of the API. */
import { answer, api, apiUntil, type Body } from '../server/api.ts'
import { PAGE_LIMIT } from '../server/list.ts'

export const proposals = api['placement-rules'].proposals

export type Proposal = Body<Awaited<ReturnType<typeof proposals.get>>>['data'][number]

export const askProposals = (state: Proposal['state'] | undefined, signal: AbortSignal) =>
  answer(apiUntil(signal)['placement-rules'].proposals.get({ query: { limit: PAGE_LIMIT, ...(state && { state }) } }))
