/** Groups of unattributed entries from the API. */
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { LISTS } from '../../parts/entries/filters.ts'
import { answer, api, type Body } from '../../server/api.ts'

export type Report = Body<Awaited<ReturnType<typeof api.reports.unattributed.get>>>
export type Group = Report['data'][number]

/** Groups per page. Few organizations have more, and the most expensive come first. */
const PAGE_LIMIT = '100'

export const askGroups = (query: EntryQuery, page: string | undefined) =>
  answer(api.reports.unattributed.get({ query: { ...query, limit: PAGE_LIMIT, ...(page && { page }) } }))

/** The filter that selects exactly the group's entries, parsed from the path of their list. */
export function filterOf({ list }: Group): EntryQuery {
  const parameters = new URLSearchParams(list.split('?')[1])
  const query: Record<string, string | string[]> = {}
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name)
    query[name] = (LISTS as readonly string[]).includes(name) ? values : values[0]!
  }
  return query
}

/** What all entries of the group share besides the fields that define the group. */
export const furtherOf = ({ common, rule }: Group): Group['common'] =>
  common.filter(({ field }) => !rule.conditions.some((condition) => condition.field === field))
