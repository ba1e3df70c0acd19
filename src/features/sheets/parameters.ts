/** Parameters that several routes of sheets have. */
import { parameter } from '../../http/query.ts'

export const sheetPath = { id: 'ID of the sheet (sht_…).' }

/** Limits of the time in which a sheet's period or a session began. */
export const moments = {
  starting_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Periods or sessions that started at or after this time.',
  }),
  ending_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Periods or sessions that started before this time.',
  }),
}
