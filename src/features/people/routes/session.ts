import { Elysia, t } from 'elysia'
import { access, actorOf, EVERY_ROLE, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import type { SessionCookie } from '../../../http/session-cookie.ts'
import { parameter } from '../../../operations/parameters.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_SESSION } from '../examples.ts'
import { readSignOut } from '../query.ts'
import { Me, meBody, SignInRequest } from '../schema.ts'
import type { PeopleService } from '../service.ts'

const tag = 'People'

const SignOutQuery = t.Object(
  { everywhere: parameter({ type: 'boolean', description: 'Whether to end all your other sessions too.' }) },
  { additionalProperties: false },
)

interface SessionDependencies {
  people: PeopleService
  organization: OrganizationService
  cookie: SessionCookie
}

export const sessionRoutes = ({ people, organization, cookie }: SessionDependencies) =>
  new Elysia({ name: 'session', normalize: false })
    .use(access())
    .post(
      '',
      async ({ body, address, request, set }) => {
        const replaces = cookie.read(request.headers)
        const device = cookie.readDevice(request.headers)
        const signedIn = await people.signIn({ ...body, address: address(), replaces, device })
        set.headers['set-cookie'] = cookie.begin(request.headers, signedIn)
        return meBody(signedIn.caller, await organization.settings())
      },
      {
        allow: 'anyone',
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
      '',
      async ({ caller, address, query, request, set }) => {
        const { everywhere } = readSignOut(query)
        await people.signOut(requireCaller(caller, ['session']), { everywhere, by: actorOf({ caller, address }) })
        set.headers['set-cookie'] = cookie.end(request.headers)
        // What the person has read must not stay on a computer that they share.
        set.headers['clear-site-data'] = '"cache"'
        set.status = 204
      },
      {
        allow: { session: EVERY_ROLE },
        scope: 'people-only',
        query: SignOutQuery,
        detail: documented({
          id: 'signOut',
          tag,
          summary: 'Sign out',
          responses: { 204: { description: 'Signed out.', headers: ['Set-Cookie'] } },
        }),
      },
    )
