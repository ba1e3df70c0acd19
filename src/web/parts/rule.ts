/** Placement rules of the API. */
import { answer, api, apiUntil, type Body } from '../server/api.ts'

const rules = api['placement-rules']

export type Rule = Body<Awaited<ReturnType<typeof rules.get>>>['data'][number]
export type Explanation = Body<Awaited<ReturnType<typeof rules.test.post>>>
export type Sample = Parameters<typeof rules.test.post>[0]['sample']

/** All rules, in order. */
export const askRules = ({ signal }: { signal: AbortSignal }) => answer(apiUntil(signal)['placement-rules'].get())
