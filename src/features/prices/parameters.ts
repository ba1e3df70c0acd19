/** What the routes of prices, loads and aliases share. */
import { parameter } from '../../operations/parameters.ts'
import { TABLE_FORMATS } from './service.ts'

/** Who may change prices and aliases; everybody may read them. */
export const MAY_CHANGE = { session: ['billing', 'admin'] } as const

/** Parameters of the calls that read a price table. */
export const TABLE_PARAMETERS = {
  format: parameter({
    type: 'string',
    enum: [...TABLE_FORMATS],
    description: 'Format of the file; detected automatically by default.',
  }),
  allow_older: parameter({
    type: 'boolean',
    description: 'Also loads rows that are older than the different prices they replace.',
  }),
  dry_run: parameter({ type: 'boolean', description: 'Returns what would be added, without writing anything.' }),
}
