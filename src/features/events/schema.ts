/** API schema of the event log, shared by OpenAPI, webhooks and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { component, flag, moment, object, orNull, text } from '../../schema/types.ts'

const named = (description: string) => orNull(object(description, { id: Type.String(), name: Type.String() }))

const values = (description: string) =>
  orNull(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `${description} Never contains summaries, labels, prompts or secrets.`,
    }),
  )

export const Event = component('Event', 'Something that happened.', {
  id: text('Ids ascend: pass the last one that you have handled as `after`.', {
    pattern: '^evt_\\d+$',
    examples: ['evt_48213'],
  }),
  type: text('What happened. Later versions of Tally have further types: ignore those that you do not know.', {
    examples: ['entry.approved'],
  }),
  at: moment('When it happened.'),
  actor: orNull(
    object('Who caused it; null for Tally itself and for the command line.', {
      user: named('The person who caused it, or the creator of the token; null for the command line.'),
      token: named('The token that was used; null for a signed-in person.'),
    }),
  ),
  object: orNull(
    object('What it happened to; null for several objects.', {
      id: Type.String(),
      name: orNull(text('Its name at the time.')),
      url: orNull(text('Its page in the web application; null if it has none.')),
    }),
  ),
  before: values('The changed fields before.'),
  after: values('The changed fields after, and explanations such as `reason`.'),
})
export type Event = Static<typeof Event>

export const EventList = component('EventList', 'Events, oldest first.', {
  data: Type.Array(Event),
  has_more: flag('Whether there may be more events already, even if `data` is empty.'),
  next_after: text('Pass it as `after` to continue. Never null: keep it, and continue from there the next time.', {
    pattern: '^evt_\\d+$',
  }),
})
