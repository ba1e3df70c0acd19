/** What people and programs see and change of themselves. */
import { EVERY_ROLE, requireCaller } from '../../../http/access.ts'
import type { SessionCookie } from '../../../http/session-cookie.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { STAFF_ROLES } from '../../../schema/fields.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_ME, EXAMPLE_PREFERENCES, EXAMPLE_PROFILE, EXAMPLE_SESSIONS } from '../examples.ts'
import { Preferences, PreferencesChange } from '../preferences/schema.ts'
import { Me, meBody, PasswordChange, ProfileChange, SessionList, sessionBody } from '../schema.ts'
import { notificationChoice, type PeopleService, type User } from '../service.ts'

interface Needs {
  people: PeopleService
  organization: Pick<OrganizationService, 'settings'>
  cookie: SessionCookie
  /** How a shell calls Tally, if callers are on the machine of the server. */
  program: string | undefined
  /** Of later features. */
  entries: { approval: { countHeld: (userId: number) => Promise<number> } }
  notifications: { canSend: () => Promise<boolean> }
}

const ofPerson = { tag: 'People', allow: { session: EVERY_ROLE }, scope: 'people-only' } as const

/** What only signed-in people have. */
const ownOf = async ({ people, notifications, program }: Needs, user: User) => ({
  ...(program !== undefined && { program }),
  has_password: user.hasPassword,
  preferences: await people.preferencesOf(user.id),
  ...(user.role !== 'viewer' && {
    notifications: notificationChoice(user),
    sends_email: await notifications.canSend(),
  }),
})

const getMe = endpoint({
  id: 'getMe',
  tag: 'People',
  method: 'GET',
  path: '/me',
  summary: 'Get the caller',
  description:
    'Returns the person and the token or session that the request is authenticated with. A good first request.',
  allow: { service: STAFF_ROLES, read: STAFF_ROLES, organization: EVERY_ROLE, session: EVERY_ROLE },
  scope: 'any',
  object: 'usr',
  forProjects: true,
  answer: result('The person, and the token or session.', Me, EXAMPLE_ME),
  run: async (needs: Needs, { served }) => {
    const known = requireCaller(served.caller)
    const body = meBody(known, await needs.organization.settings())
    if (known.kind === 'service') {
      return { ...body, held_entries: await needs.entries.approval.countHeld(known.person.id) }
    }
    if (known.kind !== 'session') return body
    return { ...body, ...(await ownOf(needs, await needs.people.getUser(known.person.uid))) }
  },
})

const changeMe = endpoint({
  ...ofPerson,
  id: 'changeMe',
  method: 'PATCH',
  path: '/me',
  summary: 'Change your name or what you are sent e-mails about',
  description: 'Only an admin can change your e-mail address and role.',
  object: 'usr',
  body: ProfileChange,
  example: { name: 'Ada Lovelace', notifications: { weekly_summary: true } },
  answer: result('The updated person.', Me, EXAMPLE_PROFILE),
  run: async (needs: Needs, { body, party, served }) => {
    const session = requireCaller(served.caller, ['session'])
    const user = await needs.people.changeUser(session.person.uid, body, party.by)
    const person = { ...session.person, name: user.name }
    return {
      ...meBody({ ...session, person }, await needs.organization.settings()),
      ...(await ownOf(needs, user)),
    }
  },
})

const changeMyPreferences = endpoint({
  ...ofPerson,
  id: 'changeMyPreferences',
  method: 'PATCH',
  path: '/me/preferences',
  summary: 'Change how pages look for you',
  description: '`GET /me` returns them to signed-in people. They follow the person to other browsers.',
  body: PreferencesChange,
  example: { density: 'compact', tables: { entries: { columns: ['summary', 'cost'] } } },
  answer: result('All preferences.', Preferences, EXAMPLE_PREFERENCES),
  run: ({ people }: Needs, { body, served }) =>
    people.changePreferences(requireCaller(served.caller, ['session']).person.id, body),
})

const listMySessions = endpoint({
  ...ofPerson,
  id: 'listMySessions',
  method: 'GET',
  path: '/me/sessions',
  summary: 'List your sessions',
  description: '`DELETE /session?everywhere=true` ends all of them.',
  answer: result('Your sessions.', SessionList, EXAMPLE_SESSIONS),
  run: async ({ people }: Needs, { served }) => ({
    data: (await people.listOwnSessions(requireCaller(served.caller, ['session']))).map(sessionBody),
  }),
})

const changePassword = endpoint({
  ...ofPerson,
  id: 'changePassword',
  method: 'PUT',
  path: '/me/password',
  summary: 'Change your password',
  description: 'Ends your other sessions but not this one.',
  body: PasswordChange,
  example: { current: 'correct horse battery', new: 'staple of another kind' },
  answer: { status: 204, description: 'The password was changed.', headers: ['Set-Cookie'] },
  problems: ['too_many_attempts'],
  run: async ({ people, cookie }: Needs, { body: { current, new: next }, served }) => {
    const session = requireCaller(served.caller, ['session'])
    const { device } = await people.changePassword(session, { current, next, address: served.address() })
    served.set.headers['set-cookie'] = cookie.know(served.request.headers, device)
  },
})

export const ownAccountOperations = [getMe, changeMe, changeMyPreferences, listMySessions, changePassword] as const
