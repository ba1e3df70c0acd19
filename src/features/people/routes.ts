import { Elysia, t } from 'elysia'
import { validationFailed } from '../../errors.ts'
import { access, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documented.ts'
import { parameter } from '../../http/query.ts'
import type { SessionCookie } from '../../http/session-cookie.ts'
import {
  Me,
  meBody,
  PasswordChange,
  PasswordChoice,
  SetUpAnswer,
  SetUpRequest,
  SignInRequest,
  userBody,
} from './schema.ts'
import type { PeopleService, SignedIn } from './service.ts'

const tag = 'People'

const EXAMPLE_ME: Me = {
  kind: 'service',
  token: {
    id: 'tok_01a1fa172a0277f3983322718874f2ef',
    name: 'ci',
    hint: 'k3Rw0p',
    allow_bills: false,
    expires_at: '2027-02-18T17:53:04.000Z',
  },
  session: null,
  person: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', email: 'ada@example.com', role: 'admin' },
  organization: { name: 'Acme' },
}

const EXAMPLE_SET_UP: SetUpRequest = {
  link_token: '0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE',
  organization: { name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' },
  admin: { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' },
}

const EXAMPLE_SET_UP_ANSWER: SetUpAnswer = {
  user: {
    id: 'usr_01a1fa172a0277f3983322718874f2e0',
    email: 'ada@example.com',
    name: 'Ada',
    role: 'admin',
    has_password: true,
    created_at: '2026-11-20T17:53:04.000Z',
    last_signed_in_at: '2026-11-20T17:53:04.000Z',
    disabled_at: null,
  },
  organization: { name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' },
}

const EXAMPLE_SESSION: Me = {
  kind: 'session',
  token: null,
  session: { signed_in_at: '2026-11-20T17:53:04.000Z', expires_at: '2026-12-20T17:53:04.000Z' },
  person: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', email: 'ada@example.com', role: 'admin' },
  organization: { name: 'Acme' },
}

const SignOutQuery = t.Object(
  { everywhere: parameter({ type: 'boolean', description: 'Also where else you are signed in.' }) },
  { additionalProperties: false },
)

export interface PeopleRoutesDependencies {
  people: PeopleService
  cookie: SessionCookie
}

export const peopleRoutes = ({ people, cookie }: PeopleRoutesDependencies) => {
  /** Sends the cookie of a session that has just begun, and answers who is signed in. */
  async function welcome(signedIn: SignedIn, headers: Record<string, unknown>): Promise<Me> {
    headers['set-cookie'] = cookie.begin(signedIn)
    return meBody(signedIn.caller, await people.organization())
  }

  return new Elysia({ name: 'people', prefix: '/api/v1', normalize: false })
    .use(access())
    .get('/me', async ({ caller }) => meBody(requireCaller(caller), await people.organization()), {
      allow: ['service', 'read', 'organization', 'session'],
      detail: documented({
        id: 'getMe',
        tag,
        summary: 'Show who is calling',
        description: 'Tells what Tally understands of the token or the session that was sent: a good first call.',
        responses: {
          200: { description: 'The person, and the token or the session.', schema: Me, example: EXAMPLE_ME },
        },
      }),
    })
    .post(
      '/session',
      async ({ body, address, request, set }) => {
        const replaces = cookie.read(request.headers)
        return welcome(await people.signIn({ ...body, address: address(), replaces }), set.headers)
      },
      {
        parse: 'report',
        body: SignInRequest,
        detail: documented({
          id: 'signIn',
          tag,
          summary: 'Sign in',
          description:
            'Begins a session, which the cookie stands for. It ends after 30 days, after 7 days without a call, by signing out, with a change of the password elsewhere, and when the person is disabled. After ten failures within a minute, from one address or for one person, further attempts are refused for the rest of it.',
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
      async ({ caller, query, set }) => {
        await people.signOut(requireCaller(caller, ['session']), { everywhere: isTrue(query.everywhere) })
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
        await people.changePassword(requireCaller(caller, ['session']), {
          current,
          next,
          address: address(),
        })
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
          description: 'Ends your other sessions; this one goes on.',
          body: { example: { current: 'correct horse battery', new: 'staple of another kind' } },
          responses: { 204: { description: 'The password is changed.' } },
          problems: ['too_many_attempts'],
        }),
      },
    )
    .post(
      '/password',
      async ({ body: { link_token, password }, set }) =>
        welcome(await people.choosePassword({ linkToken: link_token, password }), set.headers),
      {
        parse: 'report',
        body: PasswordChoice,
        detail: documented({
          id: 'choosePassword',
          tag,
          summary: 'Choose a password by a one-time link',
          description:
            'Takes a link of `tally users invite` or `tally users reset-password`, ends every session of the person and begins a new one.',
          body: { example: { link_token: '0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE', password: 'correct horse battery' } },
          responses: {
            200: {
              description: 'The password is set, and the person signed in.',
              schema: Me,
              headers: ['Set-Cookie'],
              example: EXAMPLE_SESSION,
            },
          },
          problems: ['unauthenticated'],
        }),
      },
    )
    .post(
      '/setup',
      async ({ body: { link_token, organization, admin }, set }) => {
        const { name, currency, time_zone } = organization
        const made = await people.setUp({
          linkToken: link_token,
          organization: { name, currency, timeZone: time_zone },
          admin,
        })
        set.status = 201
        set.headers['set-cookie'] = cookie.begin(made.signedIn)
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
          summary: 'Set Tally up',
          description:
            'Names the organization, makes its first admin and signs them in, by the one-time link that `tally serve` prints while there are no people. Needs no token.',
          body: { example: EXAMPLE_SET_UP },
          responses: {
            201: {
              description: 'Tally is set up.',
              schema: SetUpAnswer,
              headers: ['Set-Cookie'],
              example: EXAMPLE_SET_UP_ANSWER,
            },
          },
          problems: ['unauthenticated', 'already_set_up'],
        }),
      },
    )
}

function isTrue(everywhere: string | undefined): boolean {
  if (everywhere === undefined || everywhere === 'false') return false
  if (everywhere === 'true') return true
  throw validationFailed([{ pointer: '/query/everywhere', code: 'not_allowed', message: 'must be true or false' }])
}
