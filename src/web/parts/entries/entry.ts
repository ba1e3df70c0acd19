/** Entries of the API, and short texts about them. */
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { dayOf, secondsInWords } from '../../format/moments.ts'
import { answer, api, apiUntil, type Body } from '../../server/api.ts'
import { PAGE_LIMIT } from '../../server/list.ts'
import type { EntryQuery } from './filters.ts'

/** The order of the list, absent for the latest first, and what cost is, absent for the reported cost or else the list value. */
export interface EntryOrder {
  sort?: string
  order?: 'asc'
  basis?: CostBasis
}

export const askEntries = (query: EntryQuery & EntryOrder, page: string | undefined, signal: AbortSignal) =>
  answer(apiUntil(signal)['token-entries'].get({ query: { ...query, limit: PAGE_LIMIT, ...(page && { page }) } }))

export const askEntry = (id: string, signal: AbortSignal) => answer(apiUntil(signal)['token-entries']({ id }).get())

export const askHistory = (id: string, signal: AbortSignal) =>
  answer(apiUntil(signal)['token-entries']({ id }).history.get())

export type Entry = Awaited<ReturnType<typeof askEntries>>['data'][number]
export type EntryDetail = Awaited<ReturnType<typeof askEntry>>

/** A bulk action. */
export type Action = Parameters<(typeof api)['token-entries']['actions']['post']>[0]
export type ActionResults = Body<Awaited<ReturnType<(typeof api)['token-entries']['actions']['post']>>>

/** The entries with these ids, or all that match the query. */
export type Chosen = { ids: string[] } | { query: EntryQuery }

/** With a signal only for a dry run, which is a query: see {@link apiUntil}. */
export function act(chosen: Chosen, action: Action, signal?: AbortSignal): Promise<ActionResults> {
  const { actions } = (signal ? apiUntil(signal) : api)['token-entries']
  return 'ids' in chosen
    ? answer(actions.post({ ...action, ids: chosen.ids }, { query: {} }))
    : answer(actions.post(action, { query: chosen.query }))
}

/** Parts of the API whose responses depend on the assignment and status of entries. */
export const CHANGED_BY_ENTRIES = ['entries', 'reports', 'projects', 'tickets', 'sheets'] as const

/** The key of the ticket, else of the project: `ACME-42`, `ACME`; undefined for unattributed entries. */
export const placeKey = ({ project, ticket }: Pick<Entry, 'project' | 'ticket'>): string | undefined =>
  ticket?.key ?? project?.key

/** The branch that the work was done on, else its place. */
export const branchOf = (entry: Pick<Entry, 'labels' | 'project' | 'ticket'>): string =>
  entry.labels.branch ?? placeKey(entry) ?? 'unattributed'

/** The day of the session that the entry is for. */
export const dayOfSlice = ({ slice, started_at }: Pick<Entry, 'slice' | 'started_at'>, timeZone: string): string =>
  slice?.day ?? dayOf(new Date(started_at), timeZone)

/** `1 h 12 min`; null if unknown. */
export const activeTimeOf = ({ active_seconds }: Pick<Entry, 'active_seconds'>): string | null =>
  active_seconds === null ? null : secondsInWords(active_seconds)

/** The summary, else the name of the agent. */
export const nameOf = (entry: Pick<Entry, 'summary' | 'agent_name'>): string => entry.summary ?? entry.agent_name
