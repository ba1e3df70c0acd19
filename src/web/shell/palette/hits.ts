/** What the search of the server found, as items of the palette. */
import { addressOf } from '../../address.ts'
import { addressOfThing } from '../../parts/thing-address.ts'
import type { api, Body } from '../../server/api.ts'
import type { Group, Item } from './item.ts'

export type SearchAnswer = Body<Awaited<ReturnType<typeof api.search.get>>>
export type Hit = SearchAnswer['data'][number]

/** The page of each type of hit. */
const PAGES: Record<Hit['type'], (hit: Pick<Hit, 'id'>) => string> = {
  project: ({ id }) => addressOfThing('project', id),
  client: ({ id }) => addressOfThing('client', id),
  ticket: ({ id }) => addressOfThing('ticket', id),
  bill: ({ id }) => `/bills/${id}`,
  person: ({ id }) => addressOfThing('person', id),
  model: ({ id }) => addressOfThing('model', id),
  session: ({ id }) => addressOfThing('session', id),
  entry: ({ id }) => addressOf('/entries', { open: id }),
}

const addressOfHit = (hit: Pick<Hit, 'type' | 'id'>): string => PAGES[hit.type](hit)

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

/** In the order of the answer, but clients first if one is meant: its name begins with the text, and no project has it. */
export function groupsOf(hits: readonly Hit[], text: string): Group[] {
  const sought = text.toLowerCase()
  const isClient = hits.some(({ type, name }) => type === 'client' && name.toLowerCase().startsWith(sought))
  const isProject = hits.some(
    ({ type, name, detail }) =>
      type === 'project' && [name, ...(detail?.split(' · ') ?? [])].some((each) => each.toLowerCase() === sought),
  )
  const groups = [...Map.groupBy(hits, ({ type }) => type)]
  const first = isClient && !isProject ? groups.filter(([type]) => type === 'client') : []
  return [...new Set([...first, ...groups])].map(([type, found]) => ({
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
