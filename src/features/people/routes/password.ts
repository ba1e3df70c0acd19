import { Elysia } from 'elysia'
import { access } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import type { SessionCookie } from '../../../http/session-cookie.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_SESSION } from '../examples.ts'
import { Me, meBody, PasswordChoice } from '../schema.ts'
import type { PeopleService } from '../service.ts'

const tag = 'People'

interface PasswordDependencies {
  people: PeopleService
  organization: OrganizationService
  cookie: SessionCookie
}

export const passwordRoute = ({ people, organization, cookie }: PasswordDependencies) =>
  new Elysia({ name: 'password', normalize: false }).use(access()).post(
    '',
    async ({ body: { link_token, password }, address, request, set }) => {
      const signedIn = await people.choosePassword({ linkToken: link_token, password, address: address() })
      set.headers['set-cookie'] = cookie.begin(request.headers, signedIn)
      return meBody(signedIn.caller, await organization.settings())
    },
    {
      allow: 'anyone',
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
