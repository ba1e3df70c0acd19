/** Sessions far above the usual in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { array, component, moment, money, number, object, oneOf, orNull, text } from '../../schema/types.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'

export const OutlierSession = component('OutlierSession', {
  id: text('Id of the entry.'),
  started_at: moment('Start of the session.'),
  agent_manager: object({ id: Type.String(), name: Type.String() }),
  agent_name: Type.String(),
  model: text('As reported.'),
  project: orNull(text('Key of the project.')),
  summary: orNull(Type.String()),
  cost: money('Cost of the entry, on the `basis` of the report.'),
  usual: money('Median cost of the entries of the same person in the 28 days before.'),
  times: orNull(number('`cost` divided by `usual`, to 1 decimal; null if that is 0.')),
  score: orNull(number('Modified z-score, to 1 decimal; null if all entries of the past cost the same.')),
})
export type OutlierSession = Static<typeof OutlierSession>

export const OutliersReport = component('OutliersReport', {
  starting_at: moment('Start of the period, inclusive.'),
  ending_at: moment('End of the period, exclusive.'),
  time_zone: text('Time zone of days.'),
  basis: oneOf(COST_BASES, 'As requested.'),
  data: array('Furthest above the usual cost first, at most 100.', OutlierSession),
})
export type OutliersReport = Static<typeof OutliersReport>
