import { Elysia } from 'elysia'
import { access } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import type { SessionCookie } from '../../../http/session-cookie.ts'
import { EXAMPLE_SET_UP, EXAMPLE_SET_UP_ANSWER } from '../examples.ts'
import { SetUpAnswer, SetUpRequest, userBody } from '../schema.ts'
import type { PeopleService } from '../service.ts'

const tag = 'People'

interface SetUpDependencies {
  people: PeopleService
  cookie: SessionCookie
}

export const setUpRoute = ({ people, cookie }: SetUpDependencies) =>
  new Elysia({ name: 'set-up', normalize: false }).use(access()).post(
    '',
    async ({ body: { link_token, organization, admin }, address, request, set }) => {
      const { name, currency, time_zone, public_url: publicUrl } = organization
      const made = await people.setUp({
        linkToken: link_token,
        organization: { name, currency, timeZone: time_zone, publicUrl },
        admin,
        address: address(),
      })
      set.status = 201
      const headers: Record<string, unknown> = set.headers
      headers['set-cookie'] = cookie.begin(request.headers, made.signedIn)
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
      allow: 'anyone',
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
