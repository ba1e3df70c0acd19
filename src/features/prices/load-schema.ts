/** Loads, updates and comparisons of price tables in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { array, component, flag, integer, listOf, moment, oneOf, orNull, strict, text } from '../../schema/types.ts'
import { Author, Difference, date } from './schema.ts'
import { TABLE_FORMATS } from './sources.ts'

const LOAD = {
  id: Type.String({ examples: ['pld_01a1fa172a0277f3983322718874f2ef'] }),
  format: oneOf(['default', ...TABLE_FORMATS], 'Format of the file; `default` is the table included with Tally.'),
  name: orNull(
    text('Name of the file, or its address without the query; null for pasted text.', {
      examples: ['https://example.com/prices.json'],
    }),
  ),
  sha256: orNull(text('SHA-256 of the file, in hexadecimal digits.')),
  as_of: date('Date of the table.'),
  counts: Type.Partial(
    Type.Object({
      new: Type.Integer(),
      changed: Type.Integer(),
      same_price: Type.Integer(),
      overridden: Type.Integer(),
      unchanged: Type.Integer(),
      removed: Type.Integer(),
      older: Type.Integer(),
      refused: Type.Integer(),
      aliases: Type.Integer(),
    }),
    { ...strict, description: 'Rows by outcome, as in the response of the load. Empty for loads of earlier versions.' },
  ),
  loaded_at: moment('When it was loaded.'),
  loaded_by: Author,
  undone_at: orNull(moment('When it was undone.')),
  undone_by: Author,
}

export const PriceLoadBody = component('PriceLoad', 'The load of a price table.', LOAD)
export type PriceLoadBody = Static<typeof PriceLoadBody>

export const PriceLoadList = listOf(PriceLoadBody, 'PriceLoadList')

export const PriceLoadDetail = component('PriceLoadDetail', {
  ...LOAD,
  entries: integer(
    'Entries with a list value from this load: those of `GET /token-entries?price_load=…`. It can be undone while there are none.',
  ),
})
export type PriceLoadDetail = Static<typeof PriceLoadDetail>

export const UpdateStateBody = component('PriceUpdateState', {
  configured: flag('Whether the server has a source of updates (`TALLY_PRICES_FROM`).'),
  every_seconds: orNull(integer('Interval of scheduled updates (`TALLY_PRICES_EVERY`); null if they are off.')),
  source: orNull(text('Source of the last successful update.')),
  attempted_at: orNull(moment('When the last update began.')),
  succeeded_at: orNull(moment('When an update last succeeded, even if it added nothing.')),
  error: orNull(text('Why the last update failed; null if it succeeded.')),
  failures: integer('Failed updates since the last successful one.'),
})
export type UpdateStateBody = Static<typeof UpdateStateBody>

export const ComparisonBody = component('PriceComparison', {
  format: orNull(oneOf(TABLE_FORMATS, 'Format of the other table; null for the one included with Tally.')),
  models: integer('Models of entries of the last 30 days, by name and provider.'),
  differences: array(
    'Models with another price: `before` is the price in use, `after` that of the other table.',
    Difference,
  ),
})
export type ComparisonBody = Static<typeof ComparisonBody>
