import { answer, api, type Body } from './api.ts'

type NewToken = Parameters<typeof api.tokens.post>[0]
export type TokenKind = NewToken['kind']
export type CreatedToken = Body<Awaited<ReturnType<typeof api.tokens.post>>>
export type Token = Body<Awaited<ReturnType<typeof api.tokens.get>>>['data'][number]

export const createToken = (token: NewToken): Promise<CreatedToken> => answer(api.tokens.post(token))
