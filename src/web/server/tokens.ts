import { answer, api, type Body } from './api.ts'
import { useSend } from './send.ts'

type NewToken = Parameters<typeof api.tokens.post>[0]
export type TokenKind = NewToken['kind']
export type CreatedToken = Body<Awaited<ReturnType<typeof api.tokens.post>>>
export type Token = Body<Awaited<ReturnType<typeof api.tokens.get>>>['data'][number]

/** Creates a token. The form shows any error. */
export const useNewToken = (after?: (token: CreatedToken) => void) =>
  useSend({
    send: (token: NewToken): Promise<CreatedToken> => answer(api.tokens.post(token)),
    changes: ['tokens'],
    after,
    quiet: true,
  })
