/** Sessions far above the usual in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { moment, orNull, strict } from '../../schema/types.ts'

const dollars = (description: string) => Type.Number({ description: `${description} In US dollars.` })

export const OutlierSession = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry.' }),
    started_at: moment('Start of the session.'),
    agent_manager: Type.Object({ id: Type.String(), name: Type.String() }, strict),
    agent_name: Type.String(),
    model: Type.String({ description: 'As reported.' }),
    project: orNull(Type.String({ description: 'Key of the project.' })),
    summary: orNull(Type.String()),
    cost: dollars('Cost of the entry: the reported cost, or else the list value.'),
    usual: dollars('Median cost of the entries of the same person in the 28 days before.'),
    times: orNull(Type.Number({ description: '`cost` divided by `usual`, to 1 decimal; null if that is 0.' })),
    score: orNull(
      Type.Number({ description: 'Modified z-score, to 1 decimal; null if all entries of the past cost the same.' }),
    ),
  },
  { ...strict, $id: 'OutlierSession' },
)
export type OutlierSession = Static<typeof OutlierSession>

export const OutliersReport = Type.Object(
  {
    starting_at: moment('Start of the period, inclusive.'),
    ending_at: moment('End of the period, exclusive.'),
    time_zone: Type.String({ description: 'Time zone of days.' }),
    data: Type.Array(OutlierSession, { description: 'Furthest above the usual cost first, at most 100.' }),
  },
  { ...strict, $id: 'OutliersReport' },
)
export type OutliersReport = Static<typeof OutliersReport>
