/** Examples for the OpenAPI document; tests validate them against their schemas. */
import type { ExplanationBody, NewProposal, NewRule, ProposalBody, RuleBody, RuleTest } from './schema.ts'

export const EXAMPLE_NEW_RULE: NewRule = {
  name: 'ACME by branch',
  conditions: [
    { field: 'labels.repository', matches: 'acme/*' },
    { field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' },
  ],
  project: 'ACME',
  ticket: '{ticket}',
}

const RULE_ID = 'rul_01a1fa172a0277f3983322718874f2ef'
const PROJECT = { id: 'prj_01a1fa172a0277f3983322718874f2ef', key: 'ACME', name: 'ACME web shop' }

export const EXAMPLE_RULE: RuleBody = {
  id: RULE_ID,
  position: 1,
  name: EXAMPLE_NEW_RULE.name,
  enabled: true,
  conditions: EXAMPLE_NEW_RULE.conditions,
  project: PROJECT,
  ticket: '{ticket}',
  lead_repository: null,
  version: 1,
  warnings: [],
  created_at: '2026-11-20T17:53:04.000Z',
  changed_at: '2026-11-20T17:53:04.000Z',
}

export const EXAMPLE_LEAD_RULE: RuleBody = {
  ...EXAMPLE_RULE,
  position: 12,
  conditions: [
    { field: 'labels.repository', matches: '/^acme\\/web$/' },
    { field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' },
  ],
  lead_repository: 'acme/web',
}

export const EXAMPLE_RULE_TEST: RuleTest = {
  sample: { agent_harness: 'claude-code', labels: { repository: 'acme/web', branch: 'feature/ACME-42' } },
}

export const EXAMPLE_EXPLANATION: ExplanationBody = {
  taken: { rule: { id: RULE_ID, name: EXAMPLE_RULE.name }, project: PROJECT, ticket: 'ACME-42', note: null },
  steps: [{ rule: { id: RULE_ID, name: EXAMPLE_RULE.name }, verdict: 'takes', failed: [] }],
}

export const EXAMPLE_NEW_PROPOSAL: NewProposal = {
  name: 'ACME by branch',
  repository: 'acme/web',
  conditions: [{ field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' }],
  project: 'ACME',
  ticket: '{ticket}',
}

export const EXAMPLE_PROPOSAL: ProposalBody = {
  id: 'rpr_01a1fa172a0277f3983322718874f2ef',
  name: EXAMPLE_NEW_PROPOSAL.name,
  repository: 'acme/web',
  conditions: [
    { field: 'labels.repository', matches: '/^acme\\/web$/' },
    { field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' },
  ],
  project: PROJECT,
  ticket: '{ticket}',
  state: 'open',
  proposed_by: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
  created_at: '2026-11-20T17:53:04.000Z',
  decided_by: null,
  decided_at: null,
  reason: null,
  rule: null,
}
