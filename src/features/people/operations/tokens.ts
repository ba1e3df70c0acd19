import type { Actor, Party } from '../../../access/actor.ts'
import { type Answer, listing, operation, result } from '../../../operations/operation.ts'
import { listParameter, listSort } from '../../../operations/parameters.ts'
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
import type { PeopleService } from '../service.ts'
import { TOKEN_SORTS } from '../sorts.ts'
import { readNewToken } from '../tokens/new-token.ts'
import { EVERYBODYS_TOKENS, TOKEN_STATES, tokensSeenBy } from '../tokens/token.ts'

interface Needs {
  people: PeopleService
  organization: Pick<OrganizationService, 'settings'>
}

const HOUR_MS = 3_600_000

/** Long enough to switch programs over during a working day. */
const OVERLAP_HOURS = 24

/** The command line sees everyone's, as admins do. */
const scopeOf = ({ person }: Party) => (person ? tokensSeenBy(person) : EVERYBODYS_TOKENS)

/** Intentionally for signed-in people only: a token that creates tokens could not be revoked with its like. */
const ofPeople = { tag: 'Tokens', allow: ['session'], scope: 'people-only' } as const
const one = { object: 'tok', params: { id: 'Id of the token (tok_…).' } } as const

const created = (description: string): Answer =>
  result(description, CreatedToken, EXAMPLE_CREATED_TOKEN, { status: 201 })

export const listTokens = listing({
  ...ofPeople,
  id: 'listTokens',
  path: '/tokens',
  summary: 'List tokens',
  description: 'Your own tokens, or everyone’s if you are an admin, newest first.',
  plural: 'tokens',
  query: {
    user: listParameter('The creator: id or e-mail address.'),
    kind: listParameter('Kind of token.', KIND_OF_TOKEN),
    state: listParameter('State of the token.', { type: 'string', enum: [...TOKEN_STATES] }),
    ...listSort(TOKEN_SORTS),
  },
  page: TokenList,
  example: EXAMPLE_TOKEN,
  columns: TOKEN_COLUMNS,
  read: readTokenList,
  check: async ({ people }: Needs, { users }, { listsPeople }) => {
    if (listsPeople) await people.requireKnown(users, '/query/user')
  },
  rows: ({ people }: Needs, { party }) => people.tokenRows(scopeOf(party)),
  bodyOf: listedTokenBody,
})

export async function createTokenOf(
  { people, organization }: Needs,
  user: string,
  body: NewToken,
  by: Actor,
): Promise<CreatedToken> {
  const { timeZone } = await organization.settings()
  return createdTokenBody(await people.createToken({ ...readNewToken(body, timeZone), user }, by))
}

export const createToken = operation({
  ...ofPeople,
  id: 'createToken',
  method: 'POST',
  path: '/tokens',
  summary: 'Create a token',
  description:
    'The token belongs to you and is shown only once. Entries reported with a service token belong to you; a read token reads entries, sheets, reports, work and prices as far as you can see them, and rules and bills if your role may. An API token does what its scopes and your role allow, and needs the setting `api_tokens`. Only admins can create organization tokens, and only people with the role billing or admin can create tokens that may send bills.',
  body: NewToken,
  example: EXAMPLE_NEW_TOKEN,
  answer: created('The token was created.'),
  run: (needs: Needs, { asker, party, body }) => createTokenOf(needs, asker.self!.uid, body, party.by),
})

export const getToken = operation({
  ...ofPeople,
  ...one,
  id: 'getToken',
  method: 'GET',
  path: '/tokens/:id',
  summary: 'Get a token',
  answer: result('The token.', TokenBody, EXAMPLE_TOKEN),
  run: async ({ people }: Needs, { party, params }) =>
    listedTokenBody(await people.getToken(scopeOf(party), params.id)),
})

export const rotateToken = operation({
  ...ofPeople,
  ...one,
  id: 'rotateToken',
  method: 'POST',
  path: '/tokens/:id/rotate',
  summary: 'Rotate an API token',
  description:
    'Creates a token with the name, scopes, networks and lifetime of one of your own. The old one keeps working for `overlap_hours`, and no longer than before, and cannot be rotated again.',
  body: TokenRotation,
  example: { overlap_hours: OVERLAP_HOURS },
  answer: created('The new token.'),
  problems: ['wrong_status'],
  run: async ({ people }: Needs, { party, params, body: { overlap_hours: hours = OVERLAP_HOURS } }) => {
    // Only one's own, also for admins: the answer has the secret.
    const own = party.person ? { ownerId: party.person.id } : EVERYBODYS_TOKENS
    return createdTokenBody(await people.rotateToken(own, params.id, hours * HOUR_MS, party.by))
  },
})

export const revokeToken = operation({
  ...ofPeople,
  ...one,
  id: 'revokeToken',
  method: 'POST',
  path: '/tokens/:id/revoke',
  summary: 'Revoke a token',
  description:
    'You can revoke your own tokens; admins can revoke any. The token stops working immediately and permanently.',
  answer: result('The token was revoked.', TokenBody, EXAMPLE_REVOKED_TOKEN),
  run: async ({ people }: Needs, { party, params }) =>
    tokenBody(await people.revokeToken(scopeOf(party), params.id, party.by), 'revoked'),
})

export const tokenOperations = [listTokens, createToken, getToken, rotateToken, revokeToken] as const
