/** What the search of the server found, as items of the palette. */
import { addressOf } from '../../address.ts'
import type { api, Body } from '../../server/api.ts'
import type { Group, Item } from './item.ts'

export type SearchAnswer = Body<Awaited<ReturnType<typeof api.search.get>>>
export type Hit = SearchAnswer['data'][number]

/** The page of each type of hit: the only place that knows. */
const PAGES: Record<Hit['type'], (hit: Pick<Hit, 'id' | 'name'>) => string> = {
  project: ({ id }) => `/work/projects/${id}`,
  client: ({ id }) => `/work/clients/${id}`,
  ticket: ({ name }) => addressOf('/entries', { ticket: [name] }),
  bill: ({ id }) => `/bills/${id}`,
  person: ({ id }) => `/people/${id}`,
  model: ({ id }) => addressOf('/prices', { search: id }),
  session: ({ id }) => addressOf('/entries', { session_id: [id] }),
  entry: ({ id }) => addressOf('/entries', { open: id }),
}

const addressOfHit = (hit: Pick<Hit, 'type' | 'id' | 'name'>): string => PAGES[hit.type](hit)

const TITLES: Record<Hit['type'], string> = {
  project: 'Projects',
  ticket: 'Tickets',
  client: 'Clients',
  bill: 'Bills',
  person: 'People',
  model: 'Models',
  session: 'Sessions',
  entry: 'Entries',
}

/** In the order of the answer. */
export function groupsOf(hits: readonly Hit[]): Group[] {
  return [...Map.groupBy(hits, ({ type }) => type)].map(([type, found]) => ({
    title: TITLES[type],
    items: found.map(itemOf),
  }))
}

const itemOf = (hit: Hit): Item => ({
  key: `${hit.type} ${hit.id}`,
  title: hit.name,
  detail: hit.detail,
  href: addressOfHit(hit),
  isMuted: hit.archived,
})
