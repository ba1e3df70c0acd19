/** API schema of the organization's settings, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TOptional, type TSchema, Type } from '@sinclair/typebox'
import { LOGO_TYPES } from '../../schema/fields.ts'
import { oneOf, orNull, strict } from '../../schema/types.ts'
import { SETTINGS } from './fields.ts'

type Fields = typeof SETTINGS

/** In responses, where billing details are omitted for members. */
const READ = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, setting]) => [
    name,
    'isForBilling' in setting ? Type.Optional<TSchema>(setting.schema) : setting.schema,
  ]),
) as {
  [Name in keyof Fields]: Fields[Name] extends { isForBilling: true }
    ? TOptional<Fields[Name]['schema']>
    : Fields[Name]['schema']
}

const CHANGED = Object.fromEntries(Object.entries(SETTINGS).map(([name, { schema }]) => [name, schema])) as {
  [Name in keyof Fields]: Fields[Name]['schema']
}

export const Settings = Type.Object(
  {
    ...READ,
    public_url_option: orNull(
      Type.String({ description: 'The public URL in effect, if an option of this server overrides `public_url`.' }),
    ),
    demo: Type.Boolean({ description: 'Whether the database contains demo data from `tally demo`.' }),
    logo: Type.Optional(orNull(oneOf(LOGO_TYPES, 'Type of the logo on bills; null if there is none.'))),
  },
  {
    ...strict,
    $id: 'Settings',
    description: 'Settings of the organization. Billing details are omitted for members.',
  },
)
export type Settings = Static<typeof Settings>

export const SettingsChange = Type.Partial(Type.Object(CHANGED), {
  ...strict,
  $id: 'SettingsChange',
  description: 'Changes to the settings. Absent fields stay unchanged.',
})
export type SettingsChange = Static<typeof SettingsChange>
