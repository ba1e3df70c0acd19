/** API schema of the organization's settings, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TOptional, type TSchema, Type } from '@sinclair/typebox'
import { LOGO_TYPES } from '../../schema/fields.ts'
import { component, flag, oneOf, orNull, strict, text } from '../../schema/types.ts'
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

export const Settings = component(
  'Settings',
  'Settings of the organization. Billing details are omitted for members.',
  {
    ...READ,
    public_url_option: orNull(text('The public URL in effect, if an option of this server overrides `public_url`.')),
    demo: flag('Whether the database contains demo data from `tally demo`.'),
    logo: Type.Optional(orNull(oneOf(LOGO_TYPES, 'Type of the logo on bills; null if there is none.'))),
  },
)
export type Settings = Static<typeof Settings>

export const SettingsChange = Type.Partial(Type.Object(CHANGED), {
  ...strict,
  $id: 'SettingsChange',
  description: 'Changes to the settings. Absent fields stay unchanged.',
})
export type SettingsChange = Static<typeof SettingsChange>
