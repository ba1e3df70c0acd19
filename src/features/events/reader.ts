/** What of the log a caller may read: the one rule for lists, streams and webhooks. Pure. */
import type { Caller, Principal } from '../../access/caller.ts'
import { approvalViewerOf, EVERYTHING, type Viewer } from '../../access/visibility.ts'
import { type Audience, EVENT_TYPES, type EventType } from '../../shared/event-types.ts'
import { includesScope, type Scope } from '../../shared/token-scopes.ts'

/** Who reads the log. */
export interface EventReader {
  viewer: Viewer
  /** Admins also read events of accounts, tokens and settings. */
  isAdmin: boolean
}

/** The reader of the command line. */
export const EVERY_EVENT: EventReader = { viewer: EVERYTHING, isAdmin: true }

/** What an API token needs to read any event, and to read those for admins. */
export const READ_SCOPE = 'events:read' satisfies Scope
const ADMINS_SCOPE = 'audit:read' satisfies Scope

/** Undefined for an API token that may not read events. */
export function eventReaderOf(caller: Caller | Principal): EventReader | undefined {
  if (caller.kind === 'api' && !includesScope(caller.token.scopes ?? [], READ_SCOPE)) return undefined
  const { person } = caller
  return { viewer: approvalViewerOf(person), isAdmin: person.role === 'admin' && readsAccounts(caller) }
}

/** No token reads in events what it may not read elsewhere: a read token nothing of people, tokens and settings. */
function readsAccounts(caller: Caller | Principal): boolean {
  if (caller.kind === 'api') return includesScope(caller.token.scopes ?? [], ADMINS_SCOPE)
  return caller.kind === 'session'
}

/** Whether a reader may see events of a type: of most types all of them, of the others those whose objects they see. */
export function mayRead({ viewer, isAdmin }: EventReader, type: EventType): boolean {
  const seesAll = viewer.sees === 'everything'
  const isFor: Record<Audience, boolean> = {
    entries: true,
    sheets: true,
    budgets: true,
    usage: true,
    billing: seesAll,
    admins: seesAll && isAdmin,
  }
  return isFor[EVENT_TYPES[type].audience]
}

/** The scopes that an API token of an admin needs to read events of a type. */
export function scopesToRead(type: EventType): Scope[] {
  return EVENT_TYPES[type].audience === 'admins' ? [READ_SCOPE, ADMINS_SCOPE] : [READ_SCOPE]
}
