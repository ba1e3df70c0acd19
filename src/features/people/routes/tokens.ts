import { Elysia, t } from 'elysia'
import type { Caller } from '../../../access/caller.ts'
import { access, actorOf, askerOf, requireCaller } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage, listParameter, listSort } from '../../../operations/parameters.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { EXAMPLE_CREATED_TOKEN, EXAMPLE_NEW_TOKEN, EXAMPLE_REVOKED_TOKEN, EXAMPLE_TOKEN } from '../examples.ts'
import { readTokenList } from '../query.ts'
import {
  CreatedToken,
  createdTokenBody,
  KIND_OF_TOKEN,
  listedTokenBody,
  NewToken,
  TOKEN_COLUMNS,
  TokenBody,
  TokenList,
  TokenRotation,
  tokenBody,
} from '../schema.ts'
import { type PeopleService, tokensSeenBy } from '../service.ts'
import { TOKEN_SORTS } from '../sorts.ts'
import { readNewToken } from '../tokens/new-token.ts'
import { TOKEN_STATES } from '../tokens/token.ts'

const tag = 'Tokens'
const path = { id: 'Id of the token (tok_…).' }

const TokenQuery = t.Object(
  {
    user: listParameter('The creator: id or e-mail address.'),
    kind: listParameter('Kind of token.', KIND_OF_TOKEN),
    state: listParameter('State of the token.', { type: 'string', enum: [...TOKEN_STATES] }),
    ...listSort(TOKEN_SORTS),
    ...listPage('Tokens'),
  },
  { additionalProperties: false },
)

const HOUR_MS = 3_600_000

/** Long enough to switch programs over during a working day. */
const OVERLAP_HOURS = 24

const scopeOf = (caller: Caller | null) => tokensSeenBy(requireCaller(caller).person)

/** Intentionally for signed-in people only: a token that creates tokens could not be revoked with its like. */
const allow = ['session'] as const

interface TokensDependencies {
  people: PeopleService
  organization: Pick<OrganizationService, 'settings'>
}

export const tokensRoutes = ({ people, organization }: TokensDependencies) =>
  new Elysia({ name: 'tokens', normalize: false })
    .use(access())
    .get(
      '',
      async ({ caller, query, request }) => {
        const asked = readTokenList(query)
        if (askerOf(caller).listsPeople) await people.requireKnown(asked.filter.users, '/query/user')
        if (wantsCsv(request, asked.format)) {
          const tokens = await people.everyToken(scopeOf(caller), asked.filter)
          return csvResponse(tokens.map(listedTokenBody), TOKEN_COLUMNS, 'tokens.csv')
        }
        const page = await people.listTokens(scopeOf(caller), asked)
        return { ...page, data: page.data.map(listedTokenBody) }
      },
      {
        allow,
        scope: 'people-only',
        query: TokenQuery,
        detail: documented({
          id: 'listTokens',
          tag,
          summary: 'List tokens',
          description: 'Your own tokens, or everyone’s if you are an admin, newest first.',
          responses: {
            200: {
              description: 'A page of tokens.',
              schema: TokenList,
              example: { data: [EXAMPLE_TOKEN], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
        }),
      },
    )
    .post(
      '',
      async ({ caller, address, body, set }) => {
        const { person } = requireCaller(caller)
        const { timeZone } = await organization.settings()
        const made = await people.createToken(
          { ...readNewToken(body, timeZone), user: person.uid },
          actorOf({ caller, address }),
        )
        set.status = 201
        set.headers.location = `/api/v1/tokens/${made.token.uid}`
        return createdTokenBody(made)
      },
      {
        allow,
        scope: 'people-only',
        parse: 'report',
        body: NewToken,
        detail: documented({
          id: 'createToken',
          tag,
          summary: 'Create a token',
          description:
            'The token belongs to you and is shown only once. Entries reported with a service token belong to you; a read token reads entries, sheets, reports, work and prices as far as you can see them, and rules and bills if your role may. An API token does what its scopes and your role allow, and needs the setting `api_tokens`. Only admins can create organization tokens, and only people with the role billing or admin can create tokens that may send bills.',
          body: { example: EXAMPLE_NEW_TOKEN },
          responses: {
            201: {
              description: 'The token was created.',
              schema: CreatedToken,
              headers: ['Location'],
              example: EXAMPLE_CREATED_TOKEN,
            },
          },
        }),
      },
    )
    .get('/:id', async ({ params, caller }) => listedTokenBody(await people.getToken(scopeOf(caller), params.id)), {
      allow,
      scope: 'people-only',
      object: 'tok',
      detail: documented({
        id: 'getToken',
        tag,
        summary: 'Get a token',
        path,
        responses: { 200: { description: 'The token.', schema: TokenBody, example: EXAMPLE_TOKEN } },
      }),
    })
    .post(
      '/:id/rotate',
      async ({ params, body, caller, address, set }) => {
        const { person } = requireCaller(caller)
        const overlapMs = (body.overlap_hours ?? OVERLAP_HOURS) * HOUR_MS
        // Only one's own, also for admins: the answer has the secret.
        const made = await people.rotateToken(
          { ownerId: person.id },
          params.id,
          overlapMs,
          actorOf({ caller, address }),
        )
        set.status = 201
        set.headers.location = `/api/v1/tokens/${made.token.uid}`
        return createdTokenBody(made)
      },
      {
        allow,
        scope: 'people-only',
        object: 'tok',
        parse: 'report',
        body: TokenRotation,
        detail: documented({
          id: 'rotateToken',
          tag,
          summary: 'Rotate an API token',
          description:
            'Creates a token with the name, scopes, networks and lifetime of one of your own. The old one keeps working for `overlap_hours`, and no longer than before, and cannot be rotated again.',
          path,
          body: { example: { overlap_hours: 24 } },
          responses: {
            201: {
              description: 'The new token.',
              schema: CreatedToken,
              headers: ['Location'],
              example: EXAMPLE_CREATED_TOKEN,
            },
          },
          problems: ['wrong_status'],
        }),
      },
    )
    .post(
      '/:id/revoke',
      async ({ params, caller, address }) =>
        tokenBody(await people.revokeToken(scopeOf(caller), params.id, actorOf({ caller, address })), 'revoked'),
      {
        allow,
        scope: 'people-only',
        object: 'tok',
        detail: documented({
          id: 'revokeToken',
          tag,
          summary: 'Revoke a token',
          description:
            'You can revoke your own tokens; admins can revoke any. The token stops working immediately and permanently.',
          path,
          responses: {
            200: { description: 'The token was revoked.', schema: TokenBody, example: EXAMPLE_REVOKED_TOKEN },
          },
        }),
      },
    )
