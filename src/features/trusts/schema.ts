/** API schema of trusts, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { TRUST_PROVIDERS } from '../../database/schema/values.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import {
  array,
  choiceOf,
  component,
  flag,
  integer,
  listOf,
  moment,
  object,
  oneOf,
  orNull,
  PLAIN_TEXT,
  strict,
  text,
} from '../../schema/types.ts'
import { TokenKindText } from '../people/schema.ts'
import { TRUST_TOKEN_KINDS } from '../people/service.ts'
import { ISSUERS } from './claims.ts'
import { ID_TOKEN_LIMIT } from './id-token.ts'
import type { TrustView } from './store.ts'

const NAME_LIMIT = 255
const BRANCHES_LIMIT = 20

export const MINUTES = { least: 5, most: 60, usual: 15 }

const plain = { minLength: 1, maxLength: NAME_LIMIT, pattern: PLAIN_TEXT }

const changeable = {
  repository: text(
    'Name, such as `acme/web`, for display. Jobs are matched by the id, which stays when the repository is renamed.',
    plain,
  ),
  branches: Type.Optional(
    array(
      'Patterns of branch names, one of which must match: `*` matches any characters except `/`, `**` any characters. Default: none, for any branch or tag.',
      Type.String(plain),
      { maxItems: BRANCHES_LIMIT },
    ),
  ),
  pull_requests: Type.Optional(
    flag('Whether jobs of pull and merge requests also get tokens, whatever their branch. Default: false.'),
  ),
  environment: Type.Optional(
    orNull(text('The environment in which the job must run. Null (default): any environment, or none.', plain)),
  ),
  project: text('Id (prj_…), key, name or alias of the project that the tokens are limited to.'),
  minutes: Type.Optional(
    integer(`How long the tokens are valid. Default: ${MINUTES.usual}.`, {
      minimum: MINUTES.least,
      maximum: MINUTES.most,
    }),
  ),
}

export const NewTrust = component('NewTrust', {
  provider: choiceOf(TRUST_PROVIDERS, 'Who runs the jobs.'),
  issuer: Type.Optional(
    text(
      `The issuer of their ID tokens: an https:// address, exactly as in the tokens (\`iss\`). Default: ${ISSUERS.github} or ${ISSUERS.gitlab}.`,
      plain,
    ),
  ),
  repository_id: text('The numeric id of the repository or project (`repository_id`, `project_id`).', {
    pattern: '^[1-9][0-9]{0,19}$',
    errorMessage: 'must be the numeric id of the repository or project',
    examples: ['123456'],
  }),
  user: text('Id (usr_…) or e-mail address of the person to whom the entries belong, with the role member.'),
  ...changeable,
})
export type NewTrust = Static<typeof NewTrust>

export const TrustChange = Type.Partial(Type.Object(changeable), {
  ...strict,
  $id: 'TrustChange',
  description: 'Absent fields stay unchanged. A new project applies at once, also to tokens that jobs already have.',
})
export type TrustChange = Static<typeof TrustChange>

const person = object({ id: Type.String(), name: Type.String(), email: Type.String() })

export const TrustBody = component('Trust', 'Which jobs of a provider can exchange their ID token for tokens.', {
  id: text('Id of the trust (tru_…).'),
  provider: oneOf(TRUST_PROVIDERS),
  issuer: Type.String(),
  repository_id: Type.String(),
  repository: Type.String(),
  branches: array('Empty for any branch or tag.', Type.String()),
  pull_requests: Type.Boolean(),
  environment: orNull(text('Null for any environment, or none.')),
  user: person,
  project: object({ id: Type.String(), key: Type.String(), name: Type.String() }),
  minutes: integer('How long the tokens are valid.'),
  state: oneOf(['active', 'stopped'] as const, '`stopped`: its person is disabled, or its project is archived.'),
  created_at: moment('When it was added.'),
  last_used_at: orNull(moment('When a job last got a token.')),
  exchanges: integer('How many ID tokens were exchanged.', { minimum: 0 }),
})
export type TrustBody = Static<typeof TrustBody>

export const TrustList = listOf(TrustBody, 'TrustList', 'Trusts, newest first.')

const idToken = text('The ID token of the job. Its audience (`aud`) must be the public URL of this server.', {
  minLength: 1,
  maxLength: ID_TOKEN_LIMIT,
})

export const TokenExchange = component('TokenExchange', {
  token: idToken,
  kinds: Type.Optional(
    array(
      'Kinds of tokens: `svc` reports entries, `read` reads receipts. An ID token can be exchanged once for each kind. Default: `svc`.',
      choiceOf(TRUST_TOKEN_KINDS, 'Kind of token.'),
      { minItems: 1, maxItems: TRUST_TOKEN_KINDS.length, uniqueItems: true },
    ),
  ),
})
export type TokenExchange = Static<typeof TokenExchange>

export const ExchangedTokens = component('ExchangedTokens', 'Short-lived tokens, limited to a project.', {
  data: Type.Array(
    object({
      kind: TokenKindText,
      token: text('The token itself.'),
      expires_at: moment('When it stops working.'),
      project: object({ id: Type.String(), key: Type.String(), name: Type.String() }),
      trust: text('Id of the trust (tru_…).'),
    }),
  ),
})
export type ExchangedTokens = Static<typeof ExchangedTokens>

export const TrustTest = component('TrustTest', { token: idToken })

export const TrustTestResult = component('TrustTestResult', 'Which trust an ID token matches. Nothing is issued.', {
  trust: orNull(text('Id of the trust that matches (tru_…); null if none does.')),
  comparisons: array(
    'What each trust of the issuer requires, next to what the ID token claims.',
    object({
      trust: Type.String(),
      claim: oneOf(['repository_id', 'branch', 'environment'] as const),
      token: Type.String(),
      required: Type.String(),
      matches: Type.Boolean(),
    }),
  ),
})
export type TrustTestResult = Static<typeof TrustTestResult>

export function trustBody({ record, user, project }: TrustView): TrustBody {
  return {
    id: record.uid,
    provider: record.provider,
    issuer: record.issuer,
    repository_id: record.repositoryId,
    repository: record.repository,
    branches: record.branches,
    pull_requests: record.pullRequests,
    environment: record.environment,
    user: { id: user.uid, name: user.name, email: user.email },
    project: { id: project.uid, key: project.key, name: project.name },
    minutes: record.minutes,
    state: user.disabledAt === null && project.archivedAt === null ? 'active' : 'stopped',
    created_at: timestamp(record.createdAt),
    last_used_at: timestampOrNull(record.lastUsedAt),
    exchanges: record.exchanges,
  }
}
