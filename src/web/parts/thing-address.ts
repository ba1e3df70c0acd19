/** The page of each thing that has usage of its own: the only place that knows its address. Pure. */
import { addressOf, changedAddress } from '../address.ts'

/**
 * Names are parameters and no parts of a path: agents choose them, and `..` or `a/b` in a path would be another page.
 */
const PAGES = {
  client: (id) => `/work/clients/${encodeURIComponent(id)}`,
  project: (id) => `/work/projects/${encodeURIComponent(id)}`,
  ticket: (id) => `/work/tickets/${encodeURIComponent(id)}`,
  person: (id) => `/usage/people/${encodeURIComponent(id)}`,
  agent: (name) => addressOf('/usage/agent', { name }),
  model: (name) => addressOf('/usage/model', { name }),
  session: (name) => addressOf('/usage/session', { name }),
} as const satisfies Record<string, (key: string) => string>

export type ThingKind = keyof typeof PAGES

/** By id, or by name where things have nothing else. */
export const addressOfThing = (kind: ThingKind, key: string): string => PAGES[kind](key)

const BY_PREFIX: Readonly<Record<string, (id: string) => string>> = {
  bdg: (id) => `/budgets/${id}`,
  bil: (id) => `/bills/${id}`,
  cli: PAGES.client,
  ent: (id) => `/entries/${id}`,
  pln: (id) => `/plans/${id}`,
  prj: PAGES.project,
  sht: (id) => `/sheets/${id}`,
  tkt: PAGES.ticket,
  usr: PAGES.person,
  whk: (id) => `/webhooks/${id}`,
}

/** The page of what has this id; undefined if it has none. */
export function addressOfId(id: string): string | undefined {
  const prefix = id.slice(0, 3)
  return Object.hasOwn(BY_PREFIX, prefix) ? BY_PREFIX[prefix]!(id) : undefined
}

/** The thing whose page an address is: the reverse of {@link addressOfThing}. Undefined for other pages. */
export function thingAt(path: string, search: string): { kind: ThingKind; key: string } | undefined {
  const name = new URLSearchParams(search).get('name')
  const id = idIn(path.split('/').at(-1)!)
  for (const kind of Object.keys(PAGES) as ThingKind[]) {
    const key = path === addressOfThing(kind, '') ? name : id
    if (key && addressOfThing(kind, key).split('?')[0] === path) return { kind, key }
  }
  return undefined
}

/** Addresses that people write may contain anything. */
function idIn(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** The things that usage is grouped by; the other dimensions have no pages. */
const KINDS: Partial<Record<string, ThingKind>> = {
  client: 'client',
  project: 'project',
  ticket: 'ticket',
  agent_manager: 'person',
  agent_name: 'agent',
  model: 'model',
}

/** The page of a group of a report, in the same period; undefined for groups that have none. */
export function addressOfGroup(dimension: string, key: string | null, period: string | undefined): string | undefined {
  const kind = Object.hasOwn(KINDS, dimension) ? KINDS[dimension] : undefined
  if (kind === undefined || key === null) return undefined
  const [path, search = ''] = addressOfThing(kind, key).split('?')
  return changedAddress(path!, search, { period })
}
