import { Elysia, t } from 'elysia'
import { access, actorOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { parameter } from '../../../http/query.ts'
import type { SessionCookie } from '../../../http/session-cookie.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_ME, EXAMPLE_SESSION, EXAMPLE_SESSIONS, EXAMPLE_SET_UP, EXAMPLE_SET_UP_ANSWER } from '../examples.ts'
import { readSignOut } from '../query.ts'
import {
  Me,
  meBody,
  PasswordChange,
  PasswordChoice,
  ProfileChange,
  SessionList,
  SetUpAnswer,
  SetUpRequest,
  SignInRequest,
  sessionBody,
  userBody,
} from '../schema.ts'
import type { PeopleService, SignedIn } from '../service.ts'

const tag = 'People'

const SignOutQuery = t.Object(
  { everywhere: parameter({ type: 'boolean', description: 'Whether to end all your other sessions too.' }) },
  { additionalProperties: false },
)

interface SignInDependencies {
  people: PeopleService
  organization: OrganizationService
  cookie: SessionCookie
}

export const signInRoutes = ({ people, organization, cookie }: SignInDependencies) => {
  /** Sends the cookie of a session that has just begun, and answers who is signed in. */
  async function welcome(signedIn: SignedIn, headers: Record<string, unknown>): Promise<Me> {
    headers['set-cookie'] = cookie.begin(signedIn)
    return meBody(signedIn.caller, await organization.settings())
  }

  return new Elysia({ name: 'sign-in', prefix: '/api/v1', normalize: false })
    .use(access())
    .get('/me', async ({ caller }) => meBody(requireCaller(caller), await organization.settings()), {
      allow: ['service', 'read', 'organization', 'session'],
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
    })
    .patch(
      '/me',
      async ({ caller, address, body }) => {
        const session = requireCaller(caller, ['session'])
        const { name } = await people.changeUser(session.person.uid, body, actorOf({ caller, address }))
        return meBody({ ...session, person: { ...session.person, name } }, await organization.settings())
      },
      {
        allow: ['session'],
        parse: 'report',
        body: ProfileChange,
        detail: documented({
          id: 'changeMe',
          tag,
          summary: 'Change your name',
          description: 'Only an admin can change your e-mail address and role.',
          body: { example: { name: 'Ada Lovelace' } },
          responses: { 200: { description: 'The updated person.', schema: Me, example: EXAMPLE_SESSION } },
        }),
      },
    )
    .get(
      '/me/sessions',
      async ({ caller }) => ({
        data: (await people.listOwnSessions(requireCaller(caller, ['session']))).map(sessionBody),
      }),
      {
        allow: ['session'],
        detail: documented({
          id: 'listMySessions',
          tag,
          summary: 'List your sessions',
          description: '`DELETE /session?everywhere=true` ends all of them.',
          responses: { 200: { description: 'Your sessions.', schema: SessionList, example: EXAMPLE_SESSIONS } },
        }),
      },
    )
    .post(
      '/session',
      async ({ body, address, request, set }) => {
        const replaces = cookie.read(request.headers)
        const device = cookie.readDevice(request.headers)
        return welcome(await people.signIn({ ...body, address: address(), replaces, device }), set.headers)
      },
      {
        parse: 'report',
        body: SignInRequest,
        detail: documented({
          id: 'signIn',
          tag,
          summary: 'Sign in',
          description:
            'Starts a session and sets its cookie. The session ends after 30 days, after 7 days without a request, when you sign out, when the password is changed elsewhere, and when the person is disabled. After ten failed attempts from an address or for a person, further attempts must wait, longer with each failure; a browser in which the person has signed in before waits only for its own failures.',
          body: { example: { email: 'ada@example.com', password: 'correct horse battery' } },
          responses: {
            200: { description: 'Signed in.', schema: Me, headers: ['Set-Cookie'], example: EXAMPLE_SESSION },
          },
          problems: ['sign_in_failed', 'too_many_attempts'],
        }),
      },
    )
    .delete(
      '/session',
      async ({ caller, address, query, set }) => {
        const { everywhere } = readSignOut(query)
        await people.signOut(requireCaller(caller, ['session']), { everywhere, by: actorOf({ caller, address }) })
        set.headers['set-cookie'] = cookie.end()
        set.status = 204
      },
      {
        allow: ['session'],
        query: SignOutQuery,
        detail: documented({
          id: 'signOut',
          tag,
          summary: 'Sign out',
          responses: { 204: { description: 'Signed out.', headers: ['Set-Cookie'] } },
        }),
      },
    )
    .put(
      '/me/password',
      async ({ caller, body, address, set }) => {
        const { current, new: next } = body
        const { device } = await people.changePassword(requireCaller(caller, ['session']), {
          current,
          next,
          address: address(),
        })
        set.headers['set-cookie'] = cookie.know(device)
        set.status = 204
      },
      {
        allow: ['session'],
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
    .post(
      '/password',
      async ({ body: { link_token, password }, address, set }) =>
        welcome(await people.choosePassword({ linkToken: link_token, password, address: address() }), set.headers),
      {
        parse: 'report',
        body: PasswordChoice,
        detail: documented({
          id: 'choosePassword',
          tag,
          summary: 'Set a password with a one-time link',
          description:
            'Uses a link created by an admin (`POST /users`, `tally users invite`, `tally users reset-password`), ends all sessions of the person and starts a new one.',
          body: { example: { link_token: '0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE', password: 'correct horse battery' } },
          responses: {
            200: {
              description: 'The password is set and the person is signed in.',
              schema: Me,
              headers: ['Set-Cookie'],
              example: EXAMPLE_SESSION,
            },
          },
          problems: ['unauthenticated', 'too_many_attempts'],
        }),
      },
    )
    .post(
      '/setup',
      async ({ body: { link_token, organization, admin }, address, set }) => {
        const { name, currency, time_zone } = organization
        const made = await people.setUp({
          linkToken: link_token,
          organization: { name, currency, timeZone: time_zone },
          admin,
          address: address(),
        })
        set.status = 201
        const headers: Record<string, unknown> = set.headers
        headers['set-cookie'] = cookie.begin(made.signedIn)
        return {
          user: userBody(made.user),
          organization: {
            name: made.organization.name,
            time_zone: made.organization.timeZone,
            currency: made.organization.currency,
          },
        } satisfies SetUpAnswer
      },
      {
        parse: 'report',
        body: SetUpRequest,
        detail: documented({
          id: 'setUp',
          tag,
          summary: 'Set up Tally',
          description:
            'Names the organization, creates its first admin and signs them in. Uses the one-time link that `tally serve` prints as long as there are no people. Needs no token.',
          body: { example: EXAMPLE_SET_UP },
          responses: {
            201: {
              description: 'Tally is set up.',
              schema: SetUpAnswer,
              headers: ['Set-Cookie'],
              example: EXAMPLE_SET_UP_ANSWER,
            },
          },
          problems: ['unauthenticated', 'already_set_up', 'too_many_attempts'],
        }),
      },
    )
}
