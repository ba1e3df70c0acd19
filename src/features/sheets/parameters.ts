/** Parameters that several operations of sheets share. */
import { momentParameter } from '../../operations/parameters.ts'

/** Limits for the start of a sheet's period or of a session. */
export const moments = {
  starting_at: momentParameter('Periods or sessions that started at or after this time.'),
  ending_at: momentParameter('Periods or sessions that started before this time.'),
}
