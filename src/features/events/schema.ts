/** API schema of the event log, shared by OpenAPI, webhooks and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { moment, orNull, strict } from '../../schema/types.ts'

const named = (description: string) =>
  orNull(Type.Object({ id: Type.String(), name: Type.String() }, { ...strict, description }))

const values = (description: string) =>
  orNull(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `${description} Never contains summaries, labels, prompts or secrets.`,
    }),
  )

export const Event = Type.Object(
  {
    id: Type.String({
      description: 'Ids ascend: pass the last one that you have handled as `after`.',
      pattern: '^evt_\\d+$',
      examples: ['evt_48213'],
    }),
    type: Type.String({
      description: 'What happened. Later versions of Tally have further types: ignore those that you do not know.',
      examples: ['entry.approved'],
    }),
    at: moment('When it happened.'),
    actor: orNull(
      Type.Object(
        {
          user: named('The person who caused it, or the creator of the token; null for the command line.'),
          token: named('The token that was used; null for a signed-in person.'),
        },
        { ...strict, description: 'Who caused it; null for Tally itself and for the command line.' },
      ),
    ),
    object: orNull(
      Type.Object(
        {
          id: Type.String(),
          name: orNull(Type.String({ description: 'Its name at the time.' })),
          url: orNull(Type.String({ description: 'Its page in the web application; null if it has none.' })),
        },
        { ...strict, description: 'What it happened to; null for several objects.' },
      ),
    ),
    before: values('The changed fields before.'),
    after: values('The changed fields after, and explanations such as `reason`.'),
  },
  { ...strict, $id: 'Event', description: 'Something that happened.' },
)
export type Event = Static<typeof Event>

export const EventList = Type.Object(
  {
    data: Type.Array(Event),
    has_more: Type.Boolean({ description: 'Whether there may be more events already, even if `data` is empty.' }),
    next_after: Type.String({
      description: 'Pass it as `after` to continue. Never null: keep it, and continue from there the next time.',
      pattern: '^evt_\\d+$',
    }),
  },
  { ...strict, $id: 'EventList', description: 'Events, oldest first.' },
)
