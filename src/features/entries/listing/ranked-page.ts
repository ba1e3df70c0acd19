/** Pages of entries that no index has in the requested order, from the columns of the roll-up. */
import type { SlowTask } from '../../../database/database.ts'
import { type Found, findSearchStart, type SearchTask, searchEntries } from '../../rollup/service.ts'
import { type EntryView, getViews } from '../store.ts'

/** A page, as far as the search for it got, or the moment where one should begin. */
export type RankedPage = ({ views: EntryView[] } & Pick<Found, 'searchedTo'>) | { searchFrom: number }

/** Undefined if the roll-up can't answer the filter, or not yet. */
export const RANKED_PAGE_TASK: SlowTask<SearchTask, RankedPage | undefined> = {
  name: 'entries.ranked-page',
  async run(reader, search) {
    const found = await searchEntries(reader, search)
    if (found) {
      const { ranked, searchedTo } = found
      const ids = ranked.map(({ id }) => id)
      return { views: await getViews(reader, ids), searchedTo }
    }
    const from = search.sort === 'started_at' ? await findSearchStart(reader, search) : undefined
    if (from === undefined) return undefined
    return from === null ? { views: [], searchedTo: undefined } : { searchFrom: from }
  },
}
