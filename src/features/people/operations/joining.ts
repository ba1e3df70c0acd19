/** How people get in: the first one sets Tally up, the others choose a password with a link. */
import type { SessionCookie } from '../../../http/session-cookie.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_SESSION, EXAMPLE_SET_UP, EXAMPLE_SET_UP_ANSWER } from '../examples.ts'
import { Me, meBody, PasswordChoice, SetUpAnswer, SetUpRequest, userBody } from '../schema.ts'
import type { PeopleService } from '../service.ts'
import type { LocalSessions } from './local-sessions.ts'

interface Needs {
  people: PeopleService
  organization: OrganizationService
  cookie: SessionCookie
  localSessions: LocalSessions | undefined
}

const setUp = endpoint({
  id: 'setUp',
  tag: 'People',
  method: 'POST',
  path: '/setup',
  summary: 'Set up Tally',
  description:
    'Names the organization, creates its first admin and signs them in. Uses the one-time link that `tally serve` prints as long as there are no people. Needs no token.',
  allow: 'anyone',
  body: SetUpRequest,
  example: EXAMPLE_SET_UP,
  answer: result('Tally is set up.', SetUpAnswer, EXAMPLE_SET_UP_ANSWER, {
    status: 201,
    isAddressed: false,
    headers: ['Set-Cookie'],
  }),
  problems: ['unauthenticated', 'already_set_up', 'too_many_attempts'],
  run: async ({ people, cookie, localSessions }: Needs, { body, served }) => {
    const { link_token: linkToken, organization, admin } = body
    const { name, currency, time_zone: timeZone, locale, public_url: publicUrl } = organization
    const made = await people.setUp({
      linkToken,
      organization: { name, currency, timeZone, locale, publicUrl },
      admin,
      address: served.address(),
    })
    // With a public URL, others are to reach it.
    if (localSessions && made.organization.publicUrl === null) localSessions.session = made.signedIn.caller.session.id
    served.set.headers['set-cookie'] = cookie.begin(served.request.headers, made.signedIn)
    return {
      user: userBody(made.user),
      organization: {
        name: made.organization.name,
        time_zone: made.organization.timeZone,
        currency: made.organization.currency,
      },
    } satisfies SetUpAnswer
  },
})

const choosePassword = endpoint({
  id: 'choosePassword',
  tag: 'People',
  method: 'POST',
  path: '/password',
  summary: 'Set a password with a one-time link',
  description:
    'Uses a link created by an admin (`POST /users`, `tally users invite`, `tally users reset-password`), ends all sessions of the person and starts a new one.',
  allow: 'anyone',
  body: PasswordChoice,
  example: { link_token: '0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE', password: 'correct horse battery' },
  answer: result('The password is set and the person is signed in.', Me, EXAMPLE_SESSION, { headers: ['Set-Cookie'] }),
  problems: ['unauthenticated', 'too_many_attempts'],
  run: async ({ people, organization, cookie }: Needs, { body: { link_token: linkToken, password }, served }) => {
    const signedIn = await people.choosePassword({ linkToken, password, address: served.address() })
    served.set.headers['set-cookie'] = cookie.begin(served.request.headers, signedIn)
    return meBody(signedIn.caller, await organization.settings())
  },
})

export const joiningOperations = [setUp, choosePassword] as const
