/** What the API says of entries, and what is said of one in a few words. */
import { answer, api, type Body } from '../../server/api.ts'
import type { EntryQuery } from './filters.ts'

/** As many as fill a tall screen twice; more come while one scrolls. */
const PAGE_LIMIT = '100'

export const askEntries = (query: EntryQuery, page: string | undefined) =>
  answer(api['token-entries'].get({ query: { ...query, limit: PAGE_LIMIT, ...(page && { page }) } }))

export const askEntry = (id: string) => answer(api['token-entries']({ id }).get())

export const askHistory = (id: string) => answer(api['token-entries']({ id }).history.get())

export type Entry = Awaited<ReturnType<typeof askEntries>>['data'][number]
export type EntryDetail = Awaited<ReturnType<typeof askEntry>>
export type HistoryStep = Awaited<ReturnType<typeof askHistory>>['data'][number]

/** What is to be done with many at once. */
export type Action = Parameters<(typeof api)['token-entries']['actions']['post']>[0]
export type ActionResults = Body<Awaited<ReturnType<(typeof api)['token-entries']['actions']['post']>>>

/** Those of the query, or those with the ids. */
export type Chosen = { ids: string[] } | { query: EntryQuery }

export const act = (chosen: Chosen, action: Action): Promise<ActionResults> =>
  'ids' in chosen
    ? answer(api['token-entries'].actions.post({ ...action, ids: chosen.ids }, { query: {} }))
    : answer(api['token-entries'].actions.post(action, { query: chosen.query }))

/** Parts of the API whose answers depend on where entries are and how far they got. */
export const CHANGED_BY_ENTRIES = ['entries', 'reports', 'projects', 'tickets', 'sheets'] as const

/** `ACME-42`, else `ACME`; undefined where it is on nothing. */
export const placeKey = ({ project, ticket }: Pick<Entry, 'project' | 'ticket'>): string | undefined =>
  ticket?.key ?? project?.key

/** What an entry is called where it has no summary. */
export const nameOf = (entry: Pick<Entry, 'summary' | 'agent_name'>): string => entry.summary ?? entry.agent_name
