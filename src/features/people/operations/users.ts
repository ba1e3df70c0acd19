import { Problem } from '../../../errors.ts'
import { type Answer, listing, operation, result } from '../../../operations/operation.ts'
import { choiceParameter, listParameter, listSort, textParameter } from '../../../operations/parameters.ts'
import { ROLES, USER_STATES } from '../../../schema/fields.ts'
import { EXAMPLE_DISABLED, EXAMPLE_EMAILS, EXAMPLE_USER } from '../examples.ts'
import { readUserList } from '../query.ts'
import {
  DisabledUser,
  disabledUserBody,
  FurtherEmails,
  USER_COLUMNS,
  UserBody,
  UserChange,
  UserList,
  userBody,
} from '../schema.ts'
import type { PeopleService } from '../service.ts'
import { USER_SORTS } from '../sorts.ts'

interface Needs {
  people: PeopleService
}

export const forAdmins = { tag: 'People', allow: { session: ['admin'] } } as const
const READING = { ...forAdmins, scope: 'people:read' } as const
const CHANGING = { ...forAdmins, scope: 'people:write', object: 'usr' } as const

export const one = { params: { id: 'Id (usr_…) or e-mail address of the person.' } } as const

const USER = result('The person.', UserBody, EXAMPLE_USER)
const UPDATED: Answer = { ...USER, description: 'The updated person.' }
const EMAILS = result('The addresses.', FurtherEmails, EXAMPLE_EMAILS)

export const listUsers = listing({
  ...READING,
  id: 'listUsers',
  path: '/users',
  summary: 'List people',
  description: 'Most recently added first; CSV is sorted by name.',
  plural: 'people',
  query: {
    search: textParameter('Text to search for in the name and the e-mail address.'),
    role: listParameter('Role of the person.', { type: 'string', enum: [...ROLES] }),
    state: choiceParameter(USER_STATES, 'Whether the person is active or disabled.'),
    ...listSort(USER_SORTS, 'the last added first'),
  },
  page: UserList,
  example: EXAMPLE_USER,
  columns: USER_COLUMNS,
  read: readUserList,
  rows: ({ people }: Needs) => people.userRows,
  bodyOf: userBody,
})

const getUser = operation({
  ...READING,
  ...one,
  object: 'usr',
  id: 'getUser',
  method: 'GET',
  path: '/users/:id',
  summary: 'Get a person',
  answer: USER,
  run: async ({ people }: Needs, { params }) => userBody(await people.getUser(params.id)),
})

export const changeUser = operation({
  ...CHANGING,
  ...one,
  id: 'changeUser',
  method: 'PATCH',
  path: '/users/:id',
  summary: 'Update a person',
  description:
    'A new role applies from the next request, including requests with their tokens. Somebody with tokens, share links, unapproved token sheets, deputies or responsibilities cannot become a viewer; who no longer is a viewer loses their grants. An API token can change names only.',
  body: UserChange,
  example: { role: 'billing' },
  answer: UPDATED,
  problems: ['person_erased', 'already_exists', 'last_admin', 'has_duties'],
  run: async ({ people }: Needs, { params, body, party: { by } }) => {
    if (by.tokenId !== null && (body.email !== undefined || body.role !== undefined)) {
      throw new Problem(
        'forbidden',
        'Changing a role or the e-mail address to sign in with needs a signed-in person; no scope lets an API token do it.',
      )
    }
    return userBody(await people.changeUser(params.id, body, by))
  },
})

const getFurtherEmails = operation({
  ...READING,
  ...one,
  id: 'getFurtherEmails',
  method: 'GET',
  path: '/users/:id/emails',
  summary: 'Get additional e-mail addresses',
  description: 'Addresses that match telemetry to the person. They cannot be used to sign in.',
  answer: EMAILS,
  run: async ({ people }: Needs, { params }) => ({ emails: (await people.getFurtherEmails(params.id)).emails }),
})

const setFurtherEmails = operation({
  ...CHANGING,
  ...one,
  id: 'setFurtherEmails',
  method: 'PUT',
  path: '/users/:id/emails',
  summary: 'Set additional e-mail addresses',
  description:
    'Replaces the list. New telemetry sessions that name one of these addresses belong to the person if the setting `telemetry_by_email` is on. Earlier sessions do not change until you assign them.',
  body: FurtherEmails,
  example: EXAMPLE_EMAILS,
  answer: { ...EMAILS, description: 'The updated addresses.' },
  problems: ['person_erased', 'already_exists'],
  run: async ({ people }: Needs, { params, body, party }) => ({
    emails: (await people.setFurtherEmails(params.id, body.emails, party.by)).emails,
  }),
})

export const disableUser = operation({
  ...CHANGING,
  ...one,
  id: 'disableUser',
  method: 'POST',
  path: '/users/:id/disable',
  summary: 'Disable a person',
  description:
    'Signs the person out and stops their service, read and API tokens immediately. Organization tokens belong to the organization and keep working.',
  answer: result('The person, and their recently used tokens that stopped working.', DisabledUser, EXAMPLE_DISABLED),
  problems: ['person_erased', 'last_admin'],
  run: async ({ people }: Needs, { params, party }) => disabledUserBody(await people.disableUser(params.id, party.by)),
})

export const enableUser = operation({
  ...CHANGING,
  ...one,
  id: 'enableUser',
  method: 'POST',
  path: '/users/:id/enable',
  summary: 'Enable a person',
  description: 'The person can sign in again, and their tokens work again.',
  answer: UPDATED,
  problems: ['person_erased'],
  run: async ({ people }: Needs, { params, party }) => userBody(await people.enableUser(params.id, party.by)),
})

export const userOperations = [
  listUsers,
  getUser,
  changeUser,
  getFurtherEmails,
  setFurtherEmails,
  disableUser,
  enableUser,
] as const
