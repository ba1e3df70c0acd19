import { Elysia } from 'elysia'
import { access, actorOf, EVERY_ROLE, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import type { SessionCookie } from '../../../http/session-cookie.ts'
import { STAFF_ROLES } from '../../../schema/fields.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_ME, EXAMPLE_PREFERENCES, EXAMPLE_PROFILE, EXAMPLE_SESSIONS } from '../examples.ts'
import { Preferences, PreferencesChange } from '../preferences/schema.ts'
import { Me, meBody, PasswordChange, ProfileChange, SessionList, sessionBody } from '../schema.ts'
import { notificationChoice, type PeopleService, type User } from '../service.ts'

const tag = 'People'

interface MeDependencies {
  people: PeopleService
  organization: OrganizationService
  cookie: SessionCookie
  /** Passed in, because entries are a later feature. */
  countHeld: (userId: number) => Promise<number>
  /** Passed in, because notifications are a later feature. */
  sendsEmail: () => Promise<boolean>
}

export const meRoutes = ({ people, organization, cookie, countHeld, sendsEmail }: MeDependencies) => {
  /** What only signed-in people have. */
  const ownOf = async (user: User) => ({
    preferences: await people.preferencesOf(user.id),
    ...(user.role !== 'viewer' && { notifications: notificationChoice(user), sends_email: await sendsEmail() }),
  })
  return new Elysia({ name: 'me', normalize: false })
    .use(access())
    .get(
      '',
      async ({ caller }) => {
        const known = requireCaller(caller)
        const body = meBody(known, await organization.settings())
        if (known.kind === 'service') return { ...body, held_entries: await countHeld(known.person.id) }
        if (known.kind !== 'session') return body
        return { ...body, ...(await ownOf(await people.getUser(known.person.uid))) }
      },
      {
        allow: { service: STAFF_ROLES, read: STAFF_ROLES, organization: EVERY_ROLE, session: EVERY_ROLE },
        scope: 'any',
        object: 'usr',
        detail: documented({
          id: 'getMe',
          tag,
          summary: 'Get the caller',
          description:
            'Returns the person and the token or session that the request is authenticated with. A good first request.',
          responses: {
            200: { description: 'The person, and the token or session.', schema: Me, example: EXAMPLE_ME },
          },
        }),
      },
    )
    .patch(
      '',
      async ({ caller, address, body }) => {
        const session = requireCaller(caller, ['session'])
        const user = await people.changeUser(session.person.uid, body, actorOf({ caller, address }))
        const person = { ...session.person, name: user.name }
        return { ...meBody({ ...session, person }, await organization.settings()), ...(await ownOf(user)) }
      },
      {
        allow: { session: EVERY_ROLE },
        scope: 'people-only',
        object: 'usr',
        parse: 'report',
        body: ProfileChange,
        detail: documented({
          id: 'changeMe',
          tag,
          summary: 'Change your name or what you are sent e-mails about',
          description: 'Only an admin can change your e-mail address and role.',
          body: { example: { name: 'Ada Lovelace', notifications: { weekly_summary: true } } },
          responses: { 200: { description: 'The updated person.', schema: Me, example: EXAMPLE_PROFILE } },
        }),
      },
    )
    .patch(
      '/preferences',
      ({ caller, body }) => people.changePreferences(requireCaller(caller, ['session']).person.id, body),
      {
        allow: { session: EVERY_ROLE },
        scope: 'people-only',
        parse: 'report',
        body: PreferencesChange,
        detail: documented({
          id: 'changeMyPreferences',
          tag,
          summary: 'Change how pages look for you',
          description: '`GET /me` returns them to signed-in people. They follow the person to other browsers.',
          body: { example: { density: 'compact', tables: { entries: { columns: ['summary', 'cost'] } } } },
          responses: { 200: { description: 'All preferences.', schema: Preferences, example: EXAMPLE_PREFERENCES } },
        }),
      },
    )
    .get(
      '/sessions',
      async ({ caller }) => ({
        data: (await people.listOwnSessions(requireCaller(caller, ['session']))).map(sessionBody),
      }),
      {
        allow: { session: EVERY_ROLE },
        scope: 'people-only',
        detail: documented({
          id: 'listMySessions',
          tag,
          summary: 'List your sessions',
          description: '`DELETE /session?everywhere=true` ends all of them.',
          responses: { 200: { description: 'Your sessions.', schema: SessionList, example: EXAMPLE_SESSIONS } },
        }),
      },
    )
    .put(
      '/password',
      async ({ caller, body, address, request, set }) => {
        const { current, new: next } = body
        const { device } = await people.changePassword(requireCaller(caller, ['session']), {
          current,
          next,
          address: address(),
        })
        set.headers['set-cookie'] = cookie.know(request.headers, device)
        set.status = 204
      },
      {
        allow: { session: EVERY_ROLE },
        scope: 'people-only',
        parse: 'report',
        body: PasswordChange,
        detail: documented({
          id: 'changePassword',
          tag,
          summary: 'Change your password',
          description: 'Ends your other sessions but not this one.',
          body: { example: { current: 'correct horse battery', new: 'staple of another kind' } },
          responses: { 204: { description: 'The password was changed.', headers: ['Set-Cookie'] } },
          problems: ['too_many_attempts'],
        }),
      },
    )
}
