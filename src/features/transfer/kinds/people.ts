import { NOTIFICATION_TOPICS, ROLES, SHARED_MONEY, TOKEN_KINDS } from '../../../database/schema/values.ts'
import { choice, choices, day, flag, json, moment, orNone, ownId, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

export const PERSON = kind({
  type: 'person',
  table: 'users',
  order: ['id'],
  isContext: true,
  // Nobody can sign in until a new password is set.
  filled: { passwordHash: () => null },
  fields: {
    id: ownId('usr'),
    email: text('email'),
    name: text('name'),
    role: choice('role', ROLES),
    created_at: moment('createdAt'),
    last_signed_in_at: orNone(moment('lastSignedInAt')),
    disabled_at: orNone(moment('disabledAt')),
    erased_at: orNone(moment('erasedAt')),
    notifications: orNone(choices('notifications', NOTIFICATION_TOPICS)),
  },
  parts: {
    /** While it is not finished, it has the words that are left to replace. */
    erasure: {
      table: 'erasures',
      of: 'userId',
      single: true,
      fields: {
        words: orNone(json('words')),
        counts: json('counts'),
        started_at: moment('startedAt'),
        ended_at: orNone(moment('endedAt')),
      },
    },
    preferences: { table: 'preferences', of: 'userId', single: true, fields: { chosen: json('chosen') } },
    additional_emails: { table: 'userEmails', of: 'userId', fields: { email: text('email') } },
  },
})

/** The length of the hash of a token, see `people/tokens/secret.ts`. */
const HASH_BYTES = 32

/** A token without its secret. It is never valid again, because nobody knows a secret with this hash. */
export const TOKEN = kind({
  type: 'token',
  table: 'tokens',
  order: ['id'],
  isContext: true,
  filled: { hash: () => crypto.getRandomValues(new Uint8Array(HASH_BYTES)) },
  fields: {
    id: ownId('tok'),
    kind: choice('kind', TOKEN_KINDS),
    name: text('name'),
    hint: text('hint'),
    created_by: reference('createdBy', 'users'),
    allow_bills: flag('allowBills'),
    scopes: orNone(json('scopes')),
    networks: orNone(json('networks')),
    created_at: moment('createdAt'),
    expires_at: orNone(moment('expiresAt')),
    last_used_at: orNone(moment('lastUsedAt')),
    revoked_at: moment('revokedAt'),
  },
})

export const DEPUTY = kind({
  type: 'deputy',
  table: 'deputies',
  order: ['id'],
  fields: {
    id: ownId('dep'),
    person: reference('personId', 'users'),
    deputy: reference('deputyId', 'users'),
    first_day: day('firstDay'),
    last_day: day('lastDay'),
    starts_at: moment('startsAt'),
    ends_at: moment('endsAt'),
    created_at: moment('createdAt'),
  },
})

export const VIEWER_GRANT = kind({
  type: 'viewer_grant',
  table: 'viewerGrants',
  order: ['id'],
  fields: {
    viewer: reference('userId', 'users'),
    client: orNone(reference('clientId', 'clients')),
    project: orNone(reference('projectId', 'projects')),
    money: choice('money', SHARED_MONEY),
    shows_people: flag('showsPeople'),
    shows_bills: flag('showsBills'),
    created_at: moment('createdAt'),
  },
})
