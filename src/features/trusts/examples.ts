/** Requests and responses of trusts, for the OpenAPI document. */
import type { ExchangedTokens, NewTrust, TrustBody, TrustTestResult } from './schema.ts'

export const EXAMPLE_NEW_TRUST: NewTrust = {
  provider: 'github',
  repository: 'acme/web',
  repository_id: '123456',
  branches: ['main', 'release/*'],
  pull_requests: true,
  user: 'ci@example.com',
  project: 'WEB',
}

const PROJECT = { id: 'prj_01a1fa172a0277f3983322718874f2e1', key: 'WEB', name: 'Website' }

export const EXAMPLE_TRUST: TrustBody = {
  id: 'tru_01a1fa172a0277f3983322718874f2ea',
  provider: 'github',
  issuer: 'https://token.actions.githubusercontent.com',
  repository_id: '123456',
  repository: 'acme/web',
  branches: ['main', 'release/*'],
  pull_requests: true,
  environment: null,
  user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'CI', email: 'ci@example.com' },
  project: PROJECT,
  minutes: 15,
  state: 'active',
  created_at: '2026-11-20T17:53:04.000Z',
  last_used_at: null,
  exchanges: 0,
}

export const EXAMPLE_ID_TOKEN = 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl'

export const EXAMPLE_EXCHANGED_TOKENS: ExchangedTokens = {
  data: [
    {
      kind: 'svc',
      token: 'tally_svc_k3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE0Z1x5Dq2',
      expires_at: '2026-11-20T18:08:04.000Z',
      project: PROJECT,
      trust: EXAMPLE_TRUST.id,
    },
  ],
}

export const EXAMPLE_TRUST_TEST: TrustTestResult = {
  trust: null,
  comparisons: [
    { trust: EXAMPLE_TRUST.id, claim: 'repository_id', token: '123456', required: '123456', matches: true },
    { trust: EXAMPLE_TRUST.id, claim: 'branch', token: 'feature/login', required: 'main, release/*', matches: false },
    { trust: EXAMPLE_TRUST.id, claim: 'environment', token: 'none', required: 'any, or none', matches: true },
  ],
}
