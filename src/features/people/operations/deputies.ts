import { operation, result, several } from '../../../operations/operation.ts'
import { paging } from '../../../operations/parameters.ts'
import { readListPage } from '../../../schema/query.ts'
import { DeputyBody, DeputyList, EXAMPLE_DEPUTY, NewDeputy } from '../deputies/schema.ts'
import type { PeopleService } from '../service.ts'

interface Needs {
  people: PeopleService
}

const ofPeople = { tag: 'Approval', allow: ['session'], scope: 'people-only' } as const

export const listDeputies = operation({
  ...ofPeople,
  id: 'listDeputies',
  method: 'GET',
  path: '/deputies',
  summary: 'List deputies',
  description:
    'The deputies that you named, and those for whom you are the deputy; everyone’s if you are an admin. Those named last come first, and ended ones stay listed.',
  query: paging('Deputies'),
  answer: several('A page of deputies.', DeputyList, EXAMPLE_DEPUTY),
  run: ({ people }: Needs, { party, query }) => people.listDeputies(party, readListPage(query)),
})

export const addDeputy = operation({
  ...ofPeople,
  id: 'addDeputy',
  method: 'POST',
  path: '/deputies',
  summary: 'Name a deputy',
  description:
    'Between the two days, the deputy can approve the entries and sheets of the projects that you lead or approve for, and sees what an approver sees of them. Nobody approves their own entries, and a deputy does not approve those of the person for whom they act. The audit log and the history of entries name both. The rights of a role are not passed on, and a deputy cannot name another one.',
  body: NewDeputy,
  example: { deputy: 'grace@example.com', from: '2026-12-21', to: '2027-01-04' },
  answer: result('The deputy was named.', DeputyBody, EXAMPLE_DEPUTY, { status: 201, isAddressed: false }),
  run: ({ people }: Needs, { party, body }) => people.addDeputy(body, party),
})

export const removeDeputy = operation({
  ...ofPeople,
  id: 'removeDeputy',
  method: 'DELETE',
  path: '/deputies/:id',
  summary: 'Remove a deputy',
  description: 'Takes effect at once. The person, the deputy and admins can do this; the audit log keeps it.',
  params: { id: 'Id of the deputization (dep_…).' },
  answer: { status: 204, description: 'The deputy was removed.' },
  run: ({ people }: Needs, { party, params }) => people.removeDeputy(params.id, party),
})

export const deputyOperations = [listDeputies, addDeputy, removeDeputy] as const
