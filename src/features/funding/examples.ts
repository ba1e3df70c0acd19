/** Examples for the OpenAPI document; tests validate them against their schemas. */
import type {
  FundingExplanation,
  FundingPreviewBody,
  FundingPreviewRequest,
  FundingRuleBody,
  FundingTest,
  NewFundingRule,
} from './schema.ts'

export const EXAMPLE_NEW_FUNDING_RULE = {
  name: 'CI uses the API',
  conditions: [{ field: 'labels.entrypoint', matches: 'sdk-*' }],
  funding: 'metered',
} satisfies NewFundingRule

const RULE_ID = 'frl_01a1fa172a0277f3983322718874f2ef'
const PLAN = { id: 'pln_01a1fa172a0277f3983322718874f2ef', name: 'Claude Max' }

export const EXAMPLE_FUNDING_RULE: FundingRuleBody = {
  id: RULE_ID,
  position: 1,
  name: EXAMPLE_NEW_FUNDING_RULE.name,
  enabled: true,
  conditions: EXAMPLE_NEW_FUNDING_RULE.conditions,
  funding: 'metered',
  plan: null,
  version: 1,
  created_at: '2026-11-20T17:53:04.000Z',
  changed_at: '2026-11-20T17:53:04.000Z',
}

export const EXAMPLE_FUNDING_PREVIEW_REQUEST: FundingPreviewRequest = { rule: EXAMPLE_NEW_FUNDING_RULE }

export const EXAMPLE_FUNDING_PREVIEW: FundingPreviewBody = {
  changes: [
    {
      from: { funding: 'plan', plan: PLAN },
      to: { funding: 'metered', plan: null },
      entries: 12,
      cost: 4.210375,
      unpriced_entries: 0,
    },
  ],
  entries: 12,
  locked_entries: 3,
  searched_to: null,
}

export const EXAMPLE_FUNDING_TEST: FundingTest = {
  sample: { agent_harness: 'claude-code', agent_manager: 'ada@example.com', labels: { entrypoint: 'cli' } },
  day: '2026-11-20',
}

export const EXAMPLE_FUNDING_EXPLANATION: FundingExplanation = {
  funding: 'plan',
  plan: PLAN,
  reason: 'person',
  note: null,
  steps: [
    {
      rule: { id: RULE_ID, name: EXAMPLE_FUNDING_RULE.name },
      verdict: 'not_met',
      failed: [{ field: 'labels.entrypoint', matches: 'sdk-*', value: 'cli' }],
    },
  ],
}
