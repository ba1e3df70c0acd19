/** The whole search on one state of the database: one turn of a process for slow reads, however many types it reads. */
import type { Viewer } from '../../access/visibility.ts'
import type { SlowTask } from '../../database/database.ts'
import { SEARCH_TYPES, type SearchType } from './schema.ts'
import { findEntries, findSessions } from './store/entries.ts'
import { findModels } from './store/models.ts'
import {
  type Found,
  findBills,
  findClients,
  findPeople,
  findProjects,
  findTickets,
  type Wanted,
} from './store/names.ts'

interface SearchRequest extends Wanted {
  viewer: Viewer
  types: readonly SearchType[]
}

interface SearchResult {
  hits: Found[]
  /** The moment before which summaries were not searched. */
  searchedTo: number | undefined
}

/** With the rest of a request, a search takes less than a tenth of a second, which a person notices as none. */
const BUDGET_MS = 60

/** However long the names took. */
const LEAST_FOR_ENTRIES_MS = 15

const NAMED = {
  project: findProjects,
  ticket: findTickets,
  client: findClients,
  bill: findBills,
  person: findPeople,
}

export const SEARCH_TASK: SlowTask<SearchRequest, SearchResult> = {
  name: 'search',
  async run(reader, { viewer, types, ...wanted }) {
    const hits: Found[] = []
    const endsAt = performance.now() + BUDGET_MS
    let searchedTo: number | undefined
    for (const type of SEARCH_TYPES) {
      if (!types.includes(type)) continue
      if (type === 'session') hits.push(...(await findSessions(reader, viewer, wanted)))
      else if (type === 'model') {
        hits.push(...(await findModels(reader, types.includes('entry') ? viewer : undefined, wanted)))
      } else if (type === 'entry') {
        const budgetMs = Math.max(LEAST_FOR_ENTRIES_MS, endsAt - performance.now())
        const found = await findEntries(reader, viewer, { ...wanted, budgetMs })
        hits.push(...found.hits)
        searchedTo = found.searchedTo
      } else hits.push(...(await NAMED[type](reader, wanted)))
    }
    return { hits, searchedTo }
  },
}
