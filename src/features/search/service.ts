/** One search over everything that has a name, and over the newest entries. */
import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { timestamp } from '../../lib/duration.ts'
import type { SearchQuery } from './query.ts'
import type { SearchAnswer, SearchType } from './schema.ts'
import { SEARCH_TASK } from './task.ts'

/** Who searches: what of the entries they see, and which other types they may list. */
export interface Searcher {
  viewer: Viewer
  types: readonly SearchType[]
}

export type SearchService = ReturnType<typeof createSearchService>

export function createSearchService({ db }: { db: Database }) {
  return {
    /** What the searcher could also find in the list of each type. Ends after a fixed time. */
    async search({ viewer, types }: Searcher, { text, limit }: SearchQuery): Promise<SearchAnswer> {
      const { hits, searchedTo } = await db.slowly(SEARCH_TASK, { text, limit, viewer, types })
      return {
        data: hits.map(({ at, ...hit }) => ({ ...hit, at: at === null ? null : timestamp(at) })),
        searched_to: searchedTo === undefined ? null : timestamp(searchedTo),
      }
    },
  }
}
