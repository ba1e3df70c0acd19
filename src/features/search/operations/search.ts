import { type Call, operation, result } from '../../../operations/operation.ts'
import { parameter, requiredParameter } from '../../../operations/parameters.ts'
import type { Scope } from '../../../shared/token-scopes.ts'
import { EXAMPLE_SEARCH } from '../examples.ts'
import { MOST_HITS, readSearchQuery, TEXT_LIMIT, USUAL_HITS } from '../query.ts'
import { SEARCH_TYPES, SearchAnswer, type SearchType } from '../schema.ts'
import type { SearchService } from '../service.ts'

/** What an API token needs to list each type. */
const SCOPES = {
  project: 'projects:read',
  ticket: 'projects:read',
  client: 'projects:read',
  bill: 'bills:read',
  person: 'people:read',
  model: 'prices:read',
  session: 'entries:read',
  entry: 'entries:read',
} as const satisfies Record<SearchType, Scope>

/** Intentionally the only one: what is found is changed where it is. */
export const searchEverything = operation({
  id: 'search',
  tag: 'Search',
  method: 'GET',
  path: '/search',
  summary: 'Search everything',
  description:
    'Finds clients, projects, tickets, people, bills and models by a part of a name, key, alias, number, title or e-mail address, sessions and entries (`ent_…`) by the first six or more characters of their id, and the newest entries by a part of their summary. Models without a price are found by entries that you can see. Returns only what you could also list: bills with the roles billing and admin, people with the role admin, entries and sessions as far as you can see them, and with an API token what its scopes allow. The search of summaries ends after a fixed time: `searched_to` then says how far it got.',
  allow: ['read', 'session'],
  scope: [...new Set(Object.values(SCOPES))],
  query: {
    q: requiredParameter({
      type: 'string',
      maxLength: TEXT_LIMIT,
      description: `The text to search for, at most ${TEXT_LIMIT} characters.`,
    }),
    limit: parameter({
      type: 'integer',
      minimum: 1,
      maximum: MOST_HITS,
      description: `Results per type; ${USUAL_HITS} by default.`,
    }),
  },
  answer: result('What was found.', SearchAnswer, EXAMPLE_SEARCH),
  problems: ['database_deadline'],
  run: ({ search }: { search: SearchService }, call) =>
    search.search({ viewer: call.asker.viewer, types: typesFor(call) }, readSearchQuery(call.query)),
})

/** The types that a caller may list, each as the routes of its own list allow it. */
function typesFor(call: Call): SearchType[] {
  const { viewer, listsPeople } = call.asker
  return SEARCH_TYPES.filter((type) => {
    if (!call.hasScope(SCOPES[type])) return false
    if (type === 'bill') return viewer.sees === 'everything'
    return type !== 'person' || listsPeople
  })
}
