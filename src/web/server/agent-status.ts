import { answer, type api, apiUntil, type Body } from './api.ts'
import { PAGE_LIMIT } from './list.ts'

type StatusCall = (typeof api)['agent-status']['get']
type StatusQuery = NonNullable<NonNullable<Parameters<StatusCall>[0]>['query']>
export type AgentStatus = Body<Awaited<ReturnType<StatusCall>>>['data'][number]

export const agentStatusKey = (...rest: unknown[]) => ['agent-status', ...rest] as const

export const askAgentStatus = (query: StatusQuery) => (page: string | undefined, signal: AbortSignal) =>
  answer(apiUntil(signal)['agent-status'].get({ query: { limit: PAGE_LIMIT, ...query, page } }))
