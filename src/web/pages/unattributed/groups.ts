/** Groups of unattributed entries from the API. */
import { readAddress } from '../../address.ts'
import { type EntryQuery, entryQuery, FILTERS } from '../../parts/entries/filters.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'
import { listQuery, PAGE_LIMIT } from '../../server/list.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'

export type Report = Body<Awaited<ReturnType<typeof api.reports.unattributed.get>>>
export type Group = Report['data'][number]

export const groupsKey = (query: EntryQuery) => ['reports', 'unattributed', query] as const

export const askGroups = (query: EntryQuery, page: string | undefined, signal: AbortSignal) =>
  answer(apiUntil(signal).reports.unattributed.get({ query: { ...query, limit: PAGE_LIMIT, ...(page && { page }) } }))

/** Sends the request of the page before it is rendered. */
export function askFirstGroups({ settings }: Me, search: string): void {
  const query = entryQuery(readAddress(search, FILTERS), settings.time_zone)
  const list = listQuery(groupsKey(query), (page, signal) => askGroups(query, page, signal))
  void queryClient.prefetchInfiniteQuery(list)
}

/** What all entries of the group share besides the fields that define the group. */
export const furtherOf = ({ common, rule }: Group): Group['common'] =>
  common.filter(({ field }) => !rule.conditions.some((condition) => condition.field === field))

/** Where the suggestion assigns the group: `ACME-42`, `ACME`; undefined without one. */
export const placeOf = ({ suggestion }: Pick<Group, 'suggestion'>): string | undefined =>
  suggestion?.ticket ?? suggestion?.project?.key

/** The conditions of a rule for the group; if its branches name tickets, also the one that finds them. */
export const conditionsOf = ({ rule, branch_pattern }: Group): Group['rule']['conditions'] =>
  branch_pattern === null ? rule.conditions : [...rule.conditions, { field: 'labels.branch', matches: branch_pattern }]

/** The ticket of such a rule: that which the condition finds. */
export const ticketOf = ({ branch_pattern }: Group): string => (branch_pattern === null ? '' : '{ticket}')
