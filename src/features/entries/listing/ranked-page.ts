/** Pages of entries that no index has in the requested order, from the columns of the roll-up. */
import type { SlowTask } from '../../../database/database.ts'
import { findSearchStart, type SearchTask, searchEntries } from '../../rollup/service.ts'
import { type EntryView, getViews } from '../store.ts'

/** A page, or the moment where a search for it should begin. */
export type RankedPage = { views: EntryView[] } | { searchFrom: number }

/** Undefined if the roll-up can't answer the filter, or not yet. */
export const RANKED_PAGE_TASK: SlowTask<SearchTask, RankedPage | undefined> = {
  name: 'entries.ranked-page',
  async run(reader, search) {
    const ranked = await searchEntries(reader, search)
    if (ranked)
      return {
        views: await getViews(
          reader,
          ranked.map(({ id }) => id),
        ),
      }
    const from = search.sort === 'started_at' ? await findSearchStart(reader, search) : undefined
    if (from === undefined) return undefined
    return from === null ? { views: [] } : { searchFrom: from }
  },
}
