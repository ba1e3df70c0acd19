/** The report that totals the entries of a list. */
import { addDays, dayOf } from '../../format/moments.ts'
import { FIRST_DAY } from '../period.ts'
import type { EntryQuery } from './filters.ts'

/** Without a status, the report leaves out what all reports leave out. */
export const sumsQuery = (query: EntryQuery) => ({
  starting_at: FIRST_DAY,
  // An agent's clock may be up to a day ahead.
  ending_at: addDays(dayOf(new Date(), 'UTC'), 2),
  ...query,
  bucket_width: 'all',
})
