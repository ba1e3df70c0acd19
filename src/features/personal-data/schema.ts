/** API schema of an export of a person's data. */
import { Type } from '@sinclair/typebox'
import { moment, strict } from '../../schema.ts'
import { TokenEntry } from '../entries/schema.ts'
import { EXAMPLE_USER } from '../people/examples.ts'
import { UserBody } from '../people/schema.ts'
import { KINDS } from './kinds.ts'

export const PersonalData = Type.Object(
  {
    exported_at: moment('When the export began.'),
    account: UserBody,
    additional_emails: Type.Array(Type.String(), { description: 'Further addresses of the person in telemetry.' }),
    ...Object.fromEntries(
      KINDS.map(({ name, description, fields }) => [name, Type.Array(Type.Object(fields, strict), { description })]),
    ),
    entries: Type.Array(TokenEntry, { description: 'Entries of the person, newest first.' }),
  },
  {
    ...strict,
    $id: 'PersonalData',
    description: 'Everything that names a person or that they wrote. Never contains secrets or hashes of them.',
  },
)

export const EXAMPLE_PERSONAL_DATA = {
  exported_at: '2026-11-20T17:53:04.000Z',
  account: EXAMPLE_USER,
  additional_emails: ['ada@users.example.com'],
  ...Object.fromEntries(KINDS.map(({ name }) => [name, []])),
  entries: [],
}
