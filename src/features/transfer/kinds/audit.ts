import { json, moment, orNone, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

/** A change in the audit log. */
export const AUDIT = kind({
  type: 'audit',
  table: 'audit',
  order: ['id'],
  fields: {
    at: moment('at'),
    person: orNone(reference('userId', 'users')),
    for: orNone(reference('forId', 'users')),
    token: orNone(reference('tokenId', 'tokens')),
    origin: text('origin'),
    action: text('action'),
    object_id: orNone(text('objectId')),
    object_name: orNone(text('objectName')),
    before: orNone(json('before')),
    after: orNone(json('after')),
  },
})
