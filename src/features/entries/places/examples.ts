import { EXAMPLE_EXPLANATION, EXAMPLE_NEW_RULE } from '../../placement/examples.ts'
import type { AppliedRules, ProposalTestAnswer, RuleTrial, RuleTrialAnswer } from './schema.ts'

const NOWHERE = { project: null, ticket: null, placed_by: 'unattributed' as const }
const ONTO = {
  project: { id: 'prj_01a1fa172a0277f3983322718874f2e2', key: 'ACME' },
  ticket: { id: 'tkt_01a1fa172a0277f3983322718874f2e3', key: 'ACME-42' },
  placed_by: 'rule' as const,
}
const RULE = { id: 'rul_01a1fa172a0277f3983322718874f2e4', name: 'Branches of ACME', version: 1 }
const ONE = { cost: 0.0263781, from: NOWHERE, to: ONTO, rule: RULE }

export const EXAMPLE_APPLIED: AppliedRules = {
  dry_run: true,
  entries: 1,
  unpriced_entries: 0,
  cost: 0.0263781,
  groups: [{ ...ONE, entries: 1, unpriced_entries: 0 }],
  moves: [{ id: 'ent_01a1fa172a0277f3983322718874f2ef', started_at: '2026-11-20T17:53:04.000Z', ...ONE, note: null }],
  complete: true,
  next_page: null,
}

export const EXAMPLE_TRIAL: RuleTrial = { rule: EXAMPLE_NEW_RULE, limit: 1 }

export const EXAMPLE_TRIAL_ANSWER: RuleTrialAnswer = {
  data: [
    {
      entry: {
        id: 'ent_01a1fa172a0277f3983322718874f2ef',
        started_at: '2026-11-20T17:53:04.000Z',
        agent_manager: 'Ada',
        agent_harness: 'claude-code',
        agent_name: 'reviewer',
        model: 'claude-sonnet-4-5',
        summary: 'Fix the flaky login test',
        labels: { branch: 'feature/ACME-42', repository: 'acme/web' },
        cost: 0.0263781,
        project: null,
        ticket: null,
        placed_by: 'unattributed',
      },
      applies: true,
      ...EXAMPLE_EXPLANATION,
    },
  ],
  has_more: false,
  next_page: null,
}

export const EXAMPLE_PROPOSAL_TEST: ProposalTestAnswer = {
  entries: 1,
  cost: 0.0263781,
  unpriced_entries: 0,
  earlier_rules: 0,
  tried: 3,
  complete: true,
  data: [{ entry: EXAMPLE_TRIAL_ANSWER.data[0]!.entry, ticket: 'ACME-42', note: null }],
}
