/** API schema of deputies, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { timestamp } from '../../../lib/duration.ts'
import { component, day, listOf, moment, nameOf, object, oneOf, text } from '../../../schema/types.ts'
import type { Deputy } from '../store/deputies.ts'

/** By the server's clock. */
const DEPUTY_STATES = ['upcoming', 'active', 'ended'] as const

const person = (description: string) => object(description, { id: Type.String(), name: Type.String() })

export const DeputyBody = component('Deputy', 'A person who approves for a lead or approver between two days.', {
  id: text('Id of the deputization (dep_…).'),
  person: person('The lead or approver for whom the deputy approves.'),
  deputy: person('Who approves for them.'),
  from: day('First day, in the organization’s time zone.'),
  to: day('Last day.'),
  state: oneOf(DEPUTY_STATES, 'Whether it has begun and ended.'),
  created_at: moment('When the deputy was named.'),
})
export type DeputyBody = Static<typeof DeputyBody>

export const NewDeputy = object({
  person: Type.Optional(
    nameOf('Id (usr_…) or e-mail address of the lead or approver; you by default. Others need the role admin.'),
  ),
  deputy: nameOf('Id (usr_…) or e-mail address of the person who approves for them.', ['grace@example.com']),
  from: day('First day, in the organization’s time zone.'),
  to: day('Last day, included; at most a year after the first.'),
})
export type NewDeputy = Static<typeof NewDeputy>

export const DeputyList = listOf(DeputyBody, 'DeputyList', 'Deputies, those named last first.')

export const EXAMPLE_DEPUTY: DeputyBody = {
  id: 'dep_01a1fa172a0277f3983322718874f2d0',
  person: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
  deputy: { id: 'usr_01a1fa172a0277f3983322718874f2e4', name: 'Grace' },
  from: '2026-12-21',
  to: '2027-01-04',
  state: 'upcoming',
  created_at: '2026-11-20T17:53:04.000Z',
}

export function deputyBody({ record, person, deputy }: Deputy, now: number): DeputyBody {
  const { uid, firstDay, lastDay, startsAt, endsAt, createdAt } = record
  return {
    id: uid,
    person: { id: person.uid, name: person.name },
    deputy: { id: deputy.uid, name: deputy.name },
    from: firstDay,
    to: lastDay,
    state: now < startsAt ? 'upcoming' : now < endsAt ? 'active' : 'ended',
    created_at: timestamp(createdAt),
  }
}
