/** The groups of entries that nothing placed, as the API answers them. */
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { LISTS } from '../../parts/entries/filters.ts'
import { answer, api, type Body } from '../../server/api.ts'

export type Report = Body<Awaited<ReturnType<typeof api.reports.unattributed.get>>>
export type Group = Report['data'][number]

/** Groups a page: few organizations have more, and those begin with the dearest. */
const PAGE_LIMIT = '100'

export const askGroups = (query: EntryQuery, page: string | undefined) =>
  answer(api.reports.unattributed.get({ query: { ...query, limit: PAGE_LIMIT, ...(page && { page }) } }))

/** The filter of exactly the group's entries, out of the path that lists them. */
export function filterOf({ list }: Group): EntryQuery {
  const parameters = new URLSearchParams(list.split('?')[1])
  const query: Record<string, string | string[]> = {}
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name)
    query[name] = (LISTS as readonly string[]).includes(name) ? values : values[0]!
  }
  return query
}

/** What all of the group's entries share besides that by which it is one. */
export const furtherOf = ({ common, rule }: Group): Group['common'] =>
  common.filter(({ field }) => !rule.conditions.some((condition) => condition.field === field))
