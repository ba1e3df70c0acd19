import { PROPOSAL_STATES } from '../../../database/schema/values.ts'
import { type Answer, operation, result, several } from '../../../operations/operation.ts'
import { choiceParameter, paging } from '../../../operations/parameters.ts'
import { EXAMPLE_NEW_PROPOSAL, EXAMPLE_PROPOSAL } from '../examples.ts'
import { proposalBody } from '../proposal-wire.ts'
import { readProposal, readProposalList } from '../request.ts'
import { NewProposal, ProposalBody, ProposalDecline, ProposalList } from '../schema.ts'
import type { PlacementService } from '../service.ts'

interface Needs {
  placement: PlacementService
}

/** What a person proposes is decided by who they lead at that moment. */
const PROPOSING = { tag: 'Placement rules', allow: ['session'], scope: 'people-only' } as const
/** As for rules: one could draw everyone's entries into someone's sight. */
const DECIDING = { tag: 'Placement rules', allow: { session: ['admin'] }, scope: 'rules:write' } as const

const params = { id: 'Id of the proposed rule (rpr_…).' }

const now = (state: ProposalBody['state']): Answer =>
  result('The proposed rule.', ProposalBody, { ...EXAMPLE_PROPOSAL, state })

export const listRuleProposals = operation({
  ...PROPOSING,
  id: 'listRuleProposals',
  method: 'GET',
  path: '/placement-rules/proposals',
  summary: 'List proposed rules',
  description: 'Your own proposals, or everyone’s with the role billing or admin, newest first.',
  query: {
    state: choiceParameter(PROPOSAL_STATES, 'Only proposals in this state.'),
    ...paging('Proposed rules'),
  },
  answer: several('A page of proposed rules.', ProposalList, EXAMPLE_PROPOSAL),
  run: async ({ placement }: Needs, { party, query }) => {
    const found = await placement.listProposals(party, readProposalList(query))
    return { ...found, data: found.data.map(proposalBody) }
  },
})

export const proposeRule = operation({
  ...PROPOSING,
  id: 'proposeRule',
  method: 'POST',
  path: '/placement-rules/proposals',
  summary: 'Propose a placement rule',
  description:
    'For leads of the project. The rule matches entries of one of the project’s repositories. It assigns nothing until an admin accepts it; with the setting `lead_rules`, a proposal of a lead is accepted at once, and the rule comes after all rules of admins.',
  body: NewProposal,
  example: EXAMPLE_NEW_PROPOSAL,
  answer: result('The rule was proposed.', ProposalBody, EXAMPLE_PROPOSAL, { status: 201, isAddressed: false }),
  problems: ['already_exists', 'rate_limited'],
  run: async ({ placement }: Needs, { party, body }) =>
    proposalBody(await placement.proposeRule(party, readProposal(body))),
})

export const acceptRuleProposal = operation({
  ...DECIDING,
  id: 'acceptRuleProposal',
  method: 'POST',
  path: '/placement-rules/proposals/:id/accept',
  params,
  summary: 'Accept a proposed rule',
  description:
    'Creates the rule, enabled and after all others of admins. It applies to new reports; apply the rules to move entries that exist. Whoever proposed it must still lead the project, and the project must still have the repository.',
  answer: now('accepted'),
  problems: ['proposal_decided', 'proposal_outdated', 'already_exists'],
  run: async ({ placement }: Needs, { party, params }) =>
    proposalBody(await placement.acceptProposal(party, params.id)),
})

export const declineRuleProposal = operation({
  ...DECIDING,
  id: 'declineRuleProposal',
  method: 'POST',
  path: '/placement-rules/proposals/:id/decline',
  params,
  summary: 'Decline a proposed rule',
  description: 'The person who proposed it sees the reason.',
  body: ProposalDecline,
  example: { reason: 'Branches of that repository belong to several projects.' },
  answer: now('declined'),
  problems: ['proposal_decided'],
  run: async ({ placement }: Needs, { party, params, body }) =>
    proposalBody(await placement.declineProposal(party, params.id, body.reason)),
})

export const withdrawRuleProposal = operation({
  ...PROPOSING,
  id: 'withdrawRuleProposal',
  method: 'POST',
  path: '/placement-rules/proposals/:id/withdraw',
  params,
  summary: 'Withdraw a proposed rule',
  description: 'Only the person who proposed it can do this.',
  answer: now('withdrawn'),
  problems: ['proposal_decided'],
  run: async ({ placement }: Needs, { party, params }) =>
    proposalBody(await placement.withdrawProposal(party, params.id)),
})

export const ruleProposalOperations = [
  listRuleProposals,
  proposeRule,
  acceptRuleProposal,
  declineRuleProposal,
  withdrawRuleProposal,
] as const
