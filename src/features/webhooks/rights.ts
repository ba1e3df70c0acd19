/** Whose rights a webhook has, and what of the event log these reach. Pure. */
import type { Actor } from '../../access/actor.ts'
import type { Principal } from '../../access/caller.ts'
import type { WebhookSuspendedReason } from '../../database/schema/values.ts'
import { ALERT_TYPES, EVENT_TYPE_NAMES, type EventType, eventTypesOf, isEventType } from '../../shared/event-types.ts'
import { includesScope, type Scope } from '../../shared/token-scopes.ts'
import { EVERY_EVENT, type EventReader, eventReaderOf, mayRead, scopesToRead } from '../events/service.ts'
import type { Standing } from '../people/service.ts'
import { isEvent } from './messages/payload.ts'
import type { EndpointRow } from './store/endpoints.ts'

/** Of a message that tests a webhook, which is no event. */
export const TEST_TYPE = 'webhook.test'

/** Who manages webhooks. */
export interface Manager {
  /** Null on the command line, which may do whatever an admin may. */
  principal: Principal | null
  by: Actor
}

/** What somebody may be sent of events. */
export interface Rights {
  /** Undefined if they may not read events. */
  reader: EventReader | undefined
  /** The API token that limits them; null for a person and for the command line. */
  token: Extract<Principal, { kind: 'api' }>['token'] | null
}

/** Webhooks are for admins: those of somebody who was one have the rights of then, until they are taken over. */
export function rightsOf(principal: Principal | null): Rights {
  if (!principal) return { reader: EVERY_EVENT, token: null }
  const reader = eventReaderOf({ ...principal, person: { ...principal.person, role: 'admin' } })
  return { reader, token: principal.kind === 'api' ? principal.token : null }
}

/** Why an owner may not be sent events now; undefined if they may. */
export function suspensionOf({ principal, state }: Standing): WebhookSuspendedReason | undefined {
  if (state !== 'usable') return REASONS[state]
  if (principal.person.role !== 'admin') return 'owner_role'
  return rightsOf(principal).reader ? undefined : 'token_scopes'
}

const REASONS: Record<Exclude<Standing['state'], 'usable'>, WebhookSuspendedReason> = {
  revoked: 'token_revoked',
  expired: 'token_expired',
  stopped: 'owner_disabled',
  off: 'api_tokens_off',
}

/** `its owner, Ada, is disabled`: after "because". */
export function suspensionText(
  reason: WebhookSuspendedReason,
  { owner, token }: { owner: string | undefined; token: string | undefined },
): string {
  const tokenOf = `the API token '${token}' of its owner, ${owner},`
  const texts: Record<WebhookSuspendedReason, string> = {
    owner_disabled: `its owner, ${owner}, is disabled`,
    owner_role: `its owner, ${owner}, is no longer an admin`,
    token_revoked: `${tokenOf} was revoked`,
    token_expired: `${tokenOf} has expired`,
    token_scopes: `${tokenOf} may not read events`,
    api_tokens_off: 'API tokens are turned off in the settings',
  }
  return texts[reason]
}

export function readsType({ reader }: Rights, type: EventType): boolean {
  return reader !== undefined && mayRead(reader, type)
}

/** What an API token needs to be told more than the event in a chat: about its entry, its budget or its bill. */
const DETAILS: Record<string, Scope> = {
  entry: 'entries:read',
  usage: 'entries:read',
  budget: 'budgets:read',
  bill: 'bills:read',
}

/** The scope for what chats say besides the events of a type; undefined if that is nothing. */
export function scopeOfDetails(type: EventType): Scope | undefined {
  return DETAILS[type.split('.')[0]!]
}

export function readsDetails({ token }: Rights, type: EventType): boolean {
  const scope = scopeOfDetails(type)
  return token === null || scope === undefined || includesScope(token.scopes ?? [], scope)
}

/** Whether somebody may be shown what was sent: an event that they may read, and what a chat was told besides. */
export function readsMessage(rights: Rights, { type, body }: { type: string; body: string }): boolean {
  // A test says nothing, and a later version may have sent types that this one does not know.
  if (!isEventType(type)) return type === TEST_TYPE || rights.token === null
  return readsType(rights, type) && (isEvent(body) || readsDetails(rights, type))
}

/** The types that patterns select. */
export function selectedTypes(patterns: readonly string[]): EventType[] {
  if (patterns.includes('*')) return EVENT_TYPE_NAMES
  return EVENT_TYPE_NAMES.filter((type) => patterns.some((pattern) => eventTypesOf(pattern).includes(type)))
}

/** Of what a pattern names, a type that may not be read; `*` names what may be read, if that is anything. */
export function unreadableType(pattern: string, rights: Rights): EventType | undefined {
  if (pattern === '*') return rights.reader ? undefined : EVENT_TYPE_NAMES[0]
  return eventTypesOf(pattern).find((type) => !readsType(rights, type))
}

/** Of what a webhook is sent with its owner's rights, a type of which it is sent more than others may read; or undefined. */
export function typeBeyond(
  rights: Rights,
  ownerRights: Rights,
  { types, format }: Pick<EndpointRow, 'types' | 'format'>,
): EventType | undefined {
  const hasDetails = format !== 'standard'
  return [...selectedTypes(types), ...ALERT_TYPES].find(
    (type) =>
      readsType(ownerRights, type) &&
      (!readsType(rights, type) || (hasDetails && readsDetails(ownerRights, type) && !readsDetails(rights, type))),
  )
}

/** `the scopes events:read and audit:read`, without which a token reads neither events of a type nor, in chats, what they are about. */
export function neededScopes(type: EventType, { withDetails = false } = {}): string {
  const details = withDetails ? scopeOfDetails(type) : undefined
  const scopes = [...scopesToRead(type), ...(details ? [details] : [])]
  return scopes.length === 1 ? `the scope ${scopes[0]}` : `the scopes ${scopes.join(' and ')}`
}
