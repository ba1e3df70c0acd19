import { EVERY_ROLE, requireCaller } from '../../../http/access.ts'
import type { SessionCookie } from '../../../http/session-cookie.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { flagParameter } from '../../../operations/parameters.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_SESSION } from '../examples.ts'
import { readSignOut } from '../query.ts'
import { LinkSignIn, Me, meBody, SignInRequest } from '../schema.ts'
import type { PeopleService } from '../service.ts'

interface Needs {
  people: PeopleService
  organization: Pick<OrganizationService, 'settings'>
  cookie: SessionCookie
}

const signIn = endpoint({
  id: 'signIn',
  tag: 'People',
  method: 'POST',
  path: '/session',
  summary: 'Sign in',
  description:
    'Starts a session and sets its cookie. The session ends after 30 days, after 7 days without a request, when you sign out, when the password is changed elsewhere, and when the person is disabled. After ten failed attempts from an address or for a person, further attempts must wait, longer with each failure; a browser in which the person has signed in before waits only for its own failures.',
  allow: 'anyone',
  body: SignInRequest,
  example: { email: 'ada@example.com', password: 'correct horse battery' },
  answer: result('Signed in.', Me, EXAMPLE_SESSION, { headers: ['Set-Cookie'] }),
  problems: ['sign_in_failed', 'too_many_attempts'],
  run: async ({ people, organization, cookie }: Needs, { body, served: { request, address, set } }) => {
    const replaces = cookie.read(request.headers)
    const device = cookie.readDevice(request.headers)
    const signedIn = await people.signIn({ ...body, address: address(), replaces, device })
    set.headers['set-cookie'] = cookie.begin(request.headers, signedIn)
    return meBody(signedIn.caller, await organization.settings())
  },
})

const signInWithLink = endpoint({
  id: 'signInWithLink',
  tag: 'People',
  method: 'POST',
  path: '/session/link',
  summary: 'Sign in with a one-time link',
  description:
    'Starts a session with the link that `tally up` opens in the browser, which works once and for 60 seconds. Only commands on the machine of the database make such links.',
  allow: 'anyone',
  body: LinkSignIn,
  example: { link_token: '0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE' },
  answer: result('Signed in.', Me, EXAMPLE_SESSION, { headers: ['Set-Cookie'] }),
  problems: ['unauthenticated'],
  run: async ({ people, organization, cookie }: Needs, { body, served: { request, address, set } }) => {
    const replaces = cookie.read(request.headers)
    const signedIn = await people.signInWithLink({ linkToken: body.link_token, address: address(), replaces })
    set.headers['set-cookie'] = cookie.begin(request.headers, signedIn)
    return meBody(signedIn.caller, await organization.settings())
  },
})

const signOut = endpoint({
  id: 'signOut',
  tag: 'People',
  method: 'DELETE',
  path: '/session',
  summary: 'Sign out',
  allow: { session: EVERY_ROLE },
  scope: 'people-only',
  query: { everywhere: flagParameter('Whether to end all your other sessions too.') },
  answer: { status: 204, description: 'Signed out.', headers: ['Set-Cookie'] },
  run: async ({ people, cookie }: Needs, { query, party, served: { caller, request, set } }) => {
    await people.signOut(requireCaller(caller, ['session']), { ...readSignOut(query), by: party.by })
    set.headers['set-cookie'] = cookie.end(request.headers)
    // What the person has read must not stay on a computer that they share.
    set.headers['clear-site-data'] = '"cache"'
  },
})

export const sessionOperations = [signIn, signInWithLink, signOut] as const
