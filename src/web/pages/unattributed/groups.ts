/** The groups of entries that nothing placed, as the API answers them. */
import { useQuery } from '@tanstack/react-query'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { LISTS } from '../../parts/entries/filters.ts'
import { answer, api, type Body } from '../../server/api.ts'

type Report = Body<Awaited<ReturnType<typeof api.reports.unattributed.get>>>
export type Group = Report['data'][number]
export type Totals = Report['totals'] & { placedOnNothing: number }

/** Groups a page: few organizations have more, and those begin with the dearest. */
const PAGE_LIMIT = '100'

export const askGroups = (query: EntryQuery, page: string | undefined) =>
  answer(api.reports.unattributed.get({ query: { ...query, limit: PAGE_LIMIT, ...(page && { page }) } }))

/** Sums of all groups; the list of them asks by page. */
export const useTotals = (query: EntryQuery) =>
  useQuery({
    queryKey: ['reports', 'unattributed', 'totals', query],
    queryFn: async (): Promise<Totals> => {
      const { totals, placed_on_nothing } = await answer(
        api.reports.unattributed.get({ query: { ...query, limit: '1' } }),
      )
      return { ...totals, placedOnNothing: placed_on_nothing.entries }
    },
    placeholderData: (before) => before,
  })

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
