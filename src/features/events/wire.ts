/** Serializes events. */
import { timestamp } from '../../lib/duration.ts'
import { writeEventId } from './query.ts'
import type { Event } from './schema.ts'
import type { EventView } from './store/list.ts'

/** Pages of the web application, by the prefix of the ids that they show. */
const PAGES: Record<string, string> = {
  ent: '/entries/',
  sht: '/sheets/',
  bil: '/bills/',
  prj: '/work/projects/',
  cli: '/work/clients/',
  rul: '/rules/',
  usr: '/people/',
  whk: '/webhooks/',
  bdg: '/budgets/',
  pln: '/plans/',
}

/** @param base the public address of the server; undefined if it is not known, for paths */
export function eventBody({ id, at, type, details, object, entry, user, token }: EventView, base = ''): Event {
  return {
    id: writeEventId(id),
    type,
    at: timestamp(at),
    actor: user || token ? { user: named(user), token: named(token) } : null,
    object: entry ? entryObject(entry, base) : object && { ...object, url: urlOf(object.id, base) },
    before: details?.before ?? null,
    after: details?.after ?? null,
  }
}

function named(one: { uid: string; name: string } | null): { id: string; name: string } | null {
  return one && { id: one.uid, name: one.name }
}

function entryObject({ uid, agent, startedAt }: NonNullable<EventView['entry']>, base: string): Event['object'] {
  return { id: uid, name: `${agent}, ${timestamp(startedAt)}`, url: urlOf(uid, base) }
}

function urlOf(id: string, base: string): string | null {
  const page = PAGES[id.slice(0, 3)]
  return page !== undefined && id[3] === '_' ? `${base}${page}${id}` : null
}
