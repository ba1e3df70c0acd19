import { Elysia, t } from 'elysia'
import type { Caller } from '../../access/caller.ts'
import { access, approvalViewerOf, askerOf, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documentation.ts'
import { parameter, requiredParameter } from '../../operations/parameters.ts'
import { includesScope, type Scope } from '../../shared/token-scopes.ts'
import { EXAMPLE_SEARCH } from './examples.ts'
import { MOST_HITS, readSearchQuery, USUAL_HITS } from './query.ts'
import { SEARCH_TYPES, SearchAnswer, type SearchType } from './schema.ts'
import type { SearchService } from './service.ts'

const tag = 'Search'

const SearchParameters = t.Object(
  {
    q: requiredParameter({ type: 'string', description: 'The text to search for, at most 200 characters.' }),
    limit: parameter({
      type: 'integer',
      minimum: 1,
      maximum: MOST_HITS,
      description: `Results per type; ${USUAL_HITS} by default.`,
    }),
  },
  { additionalProperties: false },
)

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

const ANY_SCOPE = [...new Set(Object.values(SCOPES))]

/** Intentionally only GET: what is found is changed where it is. */
export const searchRoutes = ({ search }: { search: SearchService }) =>
  new Elysia({ name: 'search', normalize: false })
    .use(access())
    .get(
      '',
      ({ query, caller }) =>
        search.search({ viewer: approvalViewerOf(caller), types: typesFor(caller) }, readSearchQuery(query)),
      {
        allow: ['read', 'session'],
        scope: ANY_SCOPE,
        query: SearchParameters,
        detail: documented({
          id: 'search',
          tag,
          summary: 'Search everything',
          description:
            'Finds clients, projects, tickets, people, bills and models by a part of a name, key, alias, number, title or e-mail address, sessions and entries (`ent_…`) by the first six or more characters of their id, and the newest entries by a part of their summary. Models without a price are found by entries that you can see. Returns only what you could also list: bills with the roles billing and admin, people with the role admin, entries and sessions as far as you can see them, and with an API token what its scopes allow. The search of summaries ends after a fixed time: `searched_to` then says how far it got.',
          responses: { 200: { description: 'What was found.', schema: SearchAnswer, example: EXAMPLE_SEARCH } },
          problems: ['database_deadline'],
        }),
      },
    )

/** The types that a caller may list, each as the routes of its own list allow it. */
function typesFor(sent: Caller | null): SearchType[] {
  const caller = requireCaller(sent)
  return SEARCH_TYPES.filter((type) => {
    if (caller.kind === 'api' && !includesScope(caller.token.scopes ?? [], SCOPES[type])) return false
    if (type === 'bill') return approvalViewerOf(caller).sees === 'everything'
    return type !== 'person' || askerOf(caller).listsPeople
  })
}
