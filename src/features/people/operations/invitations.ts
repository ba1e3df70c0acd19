/** One-time links with which people set a password. */
import { linkBase } from '../../../http/link-base.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_LINK, EXAMPLE_NEW_USER } from '../examples.ts'
import { NewUser, PasswordLinkBody, passwordLinkBody } from '../schema.ts'
import type { PeopleService } from '../service.ts'
import { forAdmins, one } from './users.ts'

interface Needs {
  people: PeopleService
  /** What links for people begin with. */
  organization: Pick<OrganizationService, 'publicUrl'>
}

const INVITING = { ...forAdmins, scope: 'people-only' } as const

const LINK = result('The link.', PasswordLinkBody, EXAMPLE_LINK)

const inviteUser = endpoint({
  ...INVITING,
  id: 'inviteUser',
  method: 'POST',
  path: '/users',
  summary: 'Invite a person',
  description:
    'Adds the person and creates a one-time link, valid for a week, with which they set a password. Until then they cannot sign in.',
  body: NewUser,
  example: EXAMPLE_NEW_USER,
  answer: {
    ...LINK,
    status: 201,
    isAddressed: false,
    description: 'The person, and the link to give to them.',
    headers: ['Location'],
  },
  problems: ['already_exists'],
  run: async ({ people, organization }: Needs, { body, party, served }) => {
    const made = await people.inviteUser(body, await linkBase(served.request, organization.publicUrl), party.by)
    served.set.headers.location = `/api/v1/users/${made.user.uid}`
    return passwordLinkBody(made)
  },
})

const inviteUserAgain = endpoint({
  ...INVITING,
  ...one,
  id: 'inviteUserAgain',
  method: 'POST',
  path: '/users/:id/invitation',
  summary: 'Create a new invitation link',
  description: 'For a person who has no password yet. The link is valid for a week; earlier links stop working.',
  answer: LINK,
  problems: ['person_erased', 'already_exists', 'validation_failed'],
  run: async ({ people, organization }: Needs, { params, party, served }) => {
    const base = await linkBase(served.request, organization.publicUrl)
    return passwordLinkBody(await people.createPasswordLink(params.id, 'invitation', base, party.by))
  },
})

const makePasswordLink = endpoint({
  ...INVITING,
  ...one,
  id: 'makePasswordLink',
  method: 'POST',
  path: '/users/:id/password-link',
  summary: 'Create a password reset link',
  description:
    'The link is valid for a day; earlier links stop working. The old password works until the person sets a new one, which ends their sessions.',
  answer: LINK,
  problems: ['person_erased', 'validation_failed'],
  run: async ({ people, organization }: Needs, { params, party, served }) => {
    const base = await linkBase(served.request, organization.publicUrl)
    return passwordLinkBody(await people.createPasswordLink(params.id, 'password', base, party.by))
  },
})

export const invitationOperations = [inviteUser, inviteUserAgain, makePasswordLink] as const
