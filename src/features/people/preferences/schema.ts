/** API schema of preferences: how one person wants pages to look. Nothing that is calculated depends on them. */
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { WEEKDAYS } from '../../../database/schema/values.ts'
import { array, component, object, orNull, strict } from '../../../schema/types.ts'
import { LOCALE } from '../../../shared/locales.ts'

/** Tables have about twenty columns. */
const COLUMNS_LIMIT = 40

/** From one digit to a whole screen. */
const WIDTH_MIN_PX = 40
const WIDTH_MAX_PX = 1200

const DENSITIES = ['comfortable', 'compact'] as const

/** The names of tables and columns are those of the web application: `entries`, `cache_read`. */
const NAME = '^[a-z][a-z0-9_-]{0,39}$'

const TableView = object('The columns of one table.', {
  columns: Type.Optional(
    array('The visible columns; the usual ones if absent.', Type.String({ pattern: NAME }), {
      maxItems: COLUMNS_LIMIT,
      uniqueItems: true,
    }),
  ),
  widths: Type.Optional(
    Type.Record(Type.String({ pattern: NAME }), Type.Integer({ minimum: WIDTH_MIN_PX, maximum: WIDTH_MAX_PX }), {
      ...strict,
      maxProperties: COLUMNS_LIMIT,
      description: 'The width of columns in CSS pixels.',
    }),
  ),
})

/** A union, because these are checked by the schema alone. */
const either = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  ) as unknown as TUnsafe<Value>

const FIELDS = {
  locale: orNull(
    Type.String({
      pattern: LOCALE,
      description:
        'BCP 47 tag of the format of numbers and dates, such as `de-CH`; null for that of the organization, or else of the browser.',
      examples: ['de-CH'],
    }),
  ),
  week_start: orNull(either(WEEKDAYS, 'First day of the week in calendars; null for that of the organization.')),
  density: either(DENSITIES, 'The height of the rows of tables.'),
}

const named = { ...strict, description: 'By name of the table.' }
const tableName = Type.String({ pattern: NAME })

export const Preferences = component('Preferences', 'How the person wants pages to look.', {
  ...FIELDS,
  tables: Type.Record(tableName, TableView, named),
})
export type Preferences = Static<typeof Preferences>

export const PreferencesChange = Type.Partial(
  Type.Object({ ...FIELDS, tables: Type.Record(tableName, orNull(TableView), named) }),
  {
    ...strict,
    $id: 'PreferencesChange',
    description: 'Changes to preferences. Absent fields and tables stay unchanged; null resets a table.',
  },
)
export type PreferencesChange = Static<typeof PreferencesChange>
