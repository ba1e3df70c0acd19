import { operation, result, several } from '../../../operations/operation.ts'
import { paging } from '../../../operations/parameters.ts'
import { readListPage } from '../../../schema/query.ts'
import { EXAMPLE_ID_TOKEN, EXAMPLE_NEW_TRUST, EXAMPLE_TRUST, EXAMPLE_TRUST_TEST } from '../examples.ts'
import { NewTrust, TrustBody, TrustChange, TrustList, TrustTest, TrustTestResult } from '../schema.ts'
import type { TrustsService } from '../service.ts'

interface Needs {
  trusts: TrustsService
}

/** For admins, and never for programs: a trust gives tokens to others. */
const managing = { tag: 'Tokens', allow: { session: ['admin'] }, scope: 'people-only' } as const

const one = { object: 'tru', params: { id: 'Id of the trust (tru_…).' } } as const

const TRUST = result('The trust.', TrustBody, EXAMPLE_TRUST)

export const listTrusts = operation({
  ...managing,
  id: 'listTrusts',
  method: 'GET',
  path: '/trusts',
  summary: 'List trusts',
  description: 'Which jobs of GitHub Actions and GitLab CI/CD can exchange their ID token for tokens, newest first.',
  query: paging('Trusts'),
  answer: several('A page of trusts.', TrustList, EXAMPLE_TRUST),
  run: ({ trusts }: Needs, { query }) => trusts.listTrusts(readListPage(query)),
})

export const addTrust = operation({
  ...managing,
  id: 'addTrust',
  method: 'POST',
  path: '/trusts',
  summary: 'Add a trust',
  description:
    'If their branch and environment match, jobs of the repository get short-lived tokens at `POST /tokens/exchange`, limited to a project. Entries that they report belong to `user`. Requires the public URL in the settings, which is the audience of ID tokens.',
  body: NewTrust,
  example: EXAMPLE_NEW_TRUST,
  answer: { status: 201, description: 'The trust was added.', schema: TrustBody, example: EXAMPLE_TRUST },
  run: ({ trusts }: Needs, { body, party }) => trusts.addTrust(body, party.by),
})

export const getTrust = operation({
  ...managing,
  ...one,
  id: 'getTrust',
  method: 'GET',
  path: '/trusts/:id',
  summary: 'Get a trust',
  answer: TRUST,
  run: ({ trusts }: Needs, { params }) => trusts.getTrust(params.id),
})

export const changeTrust = operation({
  ...managing,
  ...one,
  id: 'changeTrust',
  method: 'PATCH',
  path: '/trusts/:id',
  summary: 'Update a trust',
  description: 'The repository id, issuer and person cannot be changed: add another trust.',
  body: TrustChange,
  example: { branches: ['main'] },
  answer: TRUST,
  run: ({ trusts }: Needs, { params, body, party }) => trusts.changeTrust(params.id, body, party.by),
})

export const removeTrust = operation({
  ...managing,
  ...one,
  id: 'removeTrust',
  method: 'DELETE',
  path: '/trusts/:id',
  summary: 'Remove a trust',
  description: 'Tokens that jobs have stop working at once. Entries that they reported stay.',
  answer: { status: 204, description: 'The trust was removed.' },
  run: ({ trusts }: Needs, { params, party }) => trusts.removeTrust(params.id, party.by),
})

export const testTrusts = operation({
  ...managing,
  id: 'testTrusts',
  method: 'POST',
  path: '/trusts/test',
  summary: 'Test an ID token',
  description:
    'Verifies the ID token, and compares its claims with the trusts of its issuer. Issues no token, and does not use up the ID token.',
  body: TrustTest,
  example: { token: EXAMPLE_ID_TOKEN },
  answer: result('Which trust the ID token matches.', TrustTestResult, EXAMPLE_TRUST_TEST),
  problems: ['id_token_refused', 'issuer_unreachable'],
  run: ({ trusts }: Needs, { body }) => trusts.testIdToken(body.token),
})

export const trustOperations = [listTrusts, addTrust, getTrust, changeTrust, removeTrust, testTrusts] as const
