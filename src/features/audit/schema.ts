/** API schema of the audit log, shared by OpenAPI and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import { timestamp } from '../../lib/duration.ts'
import { array, component, emailAddress, listOf, moment, orNull, strict, text } from '../../schema/types.ts'
import type { AuditView } from './store.ts'

const values = (description: string) =>
  orNull(Type.Record(Type.String(), Type.Unknown(), { description: `${description} Never contains secrets.` }))

export const AuditedChange = component('AuditedChange', 'A change in the audit log. Kept permanently.', {
  at: moment('When the change was made.'),
  user: orNull(
    Type.Object(
      { id: Type.String(), name: Type.String(), email: emailAddress() },
      {
        ...strict,
        description:
          'The person who made the change; null for Tally itself, and for the command line unless `--as` named one. `origin` says which.',
      },
    ),
  ),
  for: orNull(
    Type.Object(
      { id: Type.String(), name: Type.String(), email: emailAddress() },
      { ...strict, description: 'The person for whom `user` made the change, as their deputy; null otherwise.' },
    ),
  ),
  token: orNull(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      { ...strict, description: 'The token that was used; null for a signed-in person.' },
    ),
  ),
  origin: text(
    'The address of the client, `command line of <user>`, `command line of <user> (sudo by <user>)`, or `tally`.',
    { examples: ['192.0.2.7'] },
  ),
  action: text('What was done, such as `project.changed`.', { examples: ['token.created'] }),
  object: orNull(
    Type.Object(
      { id: Type.String(), name: text('Its name at the time.') },
      { ...strict, description: 'The object that was changed; null for bulk changes and for the organization.' },
    ),
  ),
  before: values('The changed values before the change.'),
  after: values('The changed values after the change.'),
  removed: array(
    'The ids in `object`, `before` and `after` of things that were removed, by this change or later.',
    Type.String(),
  ),
})
export type AuditedChange = Static<typeof AuditedChange>

export const AuditTrail = listOf(AuditedChange, 'AuditTrail', 'Changes, newest first.')

export const EXAMPLE_CHANGE: AuditedChange = {
  at: '2026-11-20T17:53:04.000Z',
  user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', email: 'ada@example.com' },
  for: null,
  token: null,
  origin: '192.0.2.7',
  action: 'user.changed',
  object: { id: 'usr_01a1fa172a0277f3983322718874f2e4', name: 'grace@example.com' },
  before: { role: 'member' },
  after: { role: 'billing' },
  removed: [],
}

export function changeBody({
  at,
  user,
  represented,
  token,
  origin,
  action,
  objectId,
  objectName,
  before,
  after,
  removed,
}: AuditView): AuditedChange {
  return {
    at: timestamp(at),
    user: user && { id: user.uid, name: user.name, email: user.email },
    for: represented && { id: represented.uid, name: represented.name, email: represented.email },
    token: token && { id: token.uid, name: token.name },
    origin,
    action,
    object: objectId === null ? null : { id: objectId, name: objectName ?? objectId },
    before,
    after,
    removed,
  }
}

const json = (changed: Record<string, unknown> | null) => changed && JSON.stringify(changed)

export const AUDIT_COLUMNS: CsvColumn<AuditedChange>[] = [
  { heading: 'at', cell: ({ at }) => at },
  { heading: 'user', cell: ({ user }) => user?.email },
  { heading: 'token', cell: ({ token }) => token?.name },
  ...fieldColumns<AuditedChange>('origin', 'action'),
  { heading: 'object_id', cell: ({ object }) => object?.id },
  { heading: 'object', cell: ({ object }) => object?.name },
  { heading: 'before', cell: ({ before }) => json(before) },
  { heading: 'after', cell: ({ after }) => json(after) },
  { heading: 'for', cell: (change) => change.for?.email },
  // Addresses and names change.
  { heading: 'user_id', cell: ({ user }) => user?.id },
  { heading: 'token_id', cell: ({ token }) => token?.id },
  { heading: 'for_id', cell: (change) => change.for?.id },
]
