import { answer, api, type Body } from './api.ts'

export type NewTrust = Parameters<typeof api.trusts.post>[0]
export type Trust = Body<Awaited<ReturnType<typeof api.trusts.get>>>['data'][number]

export const addTrust = (trust: NewTrust): Promise<Trust> => answer(api.trusts.post(trust))
