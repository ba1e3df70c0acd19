/** Groups of unattributed entries from the API. */
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'
import { PAGE_LIMIT } from '../../server/list.ts'

export type Report = Body<Awaited<ReturnType<typeof api.reports.unattributed.get>>>
export type Group = Report['data'][number]

export const askGroups = (query: EntryQuery, page: string | undefined, signal: AbortSignal) =>
  answer(apiUntil(signal).reports.unattributed.get({ query: { ...query, limit: PAGE_LIMIT, ...(page && { page }) } }))

/** What all entries of the group share besides the fields that define the group. */
export const furtherOf = ({ common, rule }: Group): Group['common'] =>
  common.filter(({ field }) => !rule.conditions.some((condition) => condition.field === field))
