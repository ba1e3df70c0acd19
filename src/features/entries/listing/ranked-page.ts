/** Pages of entries that no index has in the requested order, from the columns of the roll-up. */
import type { SlowTask } from '../../../database/database.ts'
import { type SearchTask, searchEntries } from '../rollup/service.ts'
import { type EntryView, getViews } from '../store.ts'

/** Undefined if the roll-up can't answer the filter, or not yet. */
export const RANKED_PAGE_TASK: SlowTask<SearchTask, EntryView[] | undefined> = {
  name: 'entries.ranked-page',
  async run(reader, search) {
    const ranked = await searchEntries(reader, search)
    const ids = ranked?.map(({ id }) => id)
    return ids && getViews(reader, ids)
  },
}
