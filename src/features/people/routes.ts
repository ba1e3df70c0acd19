import { Elysia } from 'elysia'
import { access, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documented.ts'
import { Me, meBody, SetUpAnswer, SetUpRequest, userBody } from './schema.ts'
import type { PeopleService } from './service.ts'

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
    disabled_at: null,
  },
  organization: { name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' },
}

export const peopleRoutes = ({ people }: { people: PeopleService }) =>
  new Elysia({ name: 'people', prefix: '/api/v1', normalize: false })
    .use(access())
    .get('/me', async ({ caller }) => meBody(requireCaller(caller), await people.organization()), {
      allow: ['service', 'read', 'organization', 'session'],
      detail: documented({
        id: 'getMe',
        tag: 'People',
        summary: 'Show who is calling',
        description: 'Tells what Tally understands of the token or the session that was sent: a good first call.',
        responses: {
          200: { description: 'The person, and the token or the session.', schema: Me, example: EXAMPLE_ME },
        },
      }),
    })
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
          tag: 'People',
          summary: 'Set Tally up',
          description:
            'Names the organization and makes its first admin, by the one-time link that `tally serve` prints while there are no people. Needs no token.',
          body: { example: EXAMPLE_SET_UP },
          responses: {
            201: { description: 'Tally is set up.', schema: SetUpAnswer, example: EXAMPLE_SET_UP_ANSWER },
          },
          problems: ['unauthenticated', 'already_set_up'],
        }),
      },
    )
