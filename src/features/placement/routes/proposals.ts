import { Elysia, t } from 'elysia'
import { access, partyOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage, parameter } from '../../../operations/parameters.ts'
import { EXAMPLE_NEW_PROPOSAL, EXAMPLE_PROPOSAL } from '../examples.ts'
import { NewProposal, ProposalBody, ProposalDecline, ProposalList } from '../schema.ts'
import { type PlacementService, proposalBody, readProposal, readProposalList } from '../service.ts'

const tag = 'Placement rules'
const { format: _, ...page } = listPage('Proposed rules')
const ProposalQuery = t.Object(
  {
    state: parameter({ type: 'string', description: 'Only proposals in this state, such as `open`.' }),
    ...page,
  },
  { additionalProperties: false },
)

/** What a person proposes is decided by who they lead at that moment. */
const allow = ['session'] as const
const scope = 'people-only'
/** As for rules: one could draw everyone's entries into someone's sight. */
const MAY_DECIDE = { session: ['admin'] } as const

const path = { id: 'Id of the proposed rule (rpr_…).' }
const now = (state: ProposalBody['state']) => ({
  200: { description: 'The proposed rule.', schema: ProposalBody, example: { ...EXAMPLE_PROPOSAL, state } },
})

export const proposalRoutes = ({ placement }: { placement: PlacementService }) =>
  new Elysia({ name: 'rule-proposals', normalize: false })
    .use(access())
    .get(
      '/proposals',
      async ({ caller, address, query }) => {
        const found = await placement.listProposals(partyOf({ caller, address }), readProposalList(query))
        return { ...found, data: found.data.map(proposalBody) }
      },
      {
        allow,
        scope,
        query: ProposalQuery,
        detail: documented({
          id: 'listRuleProposals',
          tag,
          summary: 'List proposed rules',
          description: 'Your own proposals, or everybody’s with the role billing or admin, newest first.',
          responses: {
            200: {
              description: 'A page of proposed rules.',
              schema: ProposalList,
              example: { data: [EXAMPLE_PROPOSAL], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .post(
      '/proposals',
      async ({ body, caller, address, set }) => {
        const proposed = await placement.proposeRule(partyOf({ caller, address }), readProposal(body))
        set.status = 201
        return proposalBody(proposed)
      },
      {
        allow,
        scope,
        parse: 'report',
        body: NewProposal,
        detail: documented({
          id: 'proposeRule',
          tag,
          summary: 'Propose a placement rule',
          description:
            'For leads of the project. The rule matches entries of one of the project’s repositories. It assigns nothing until an admin accepts it; with the setting `lead_rules`, a proposal of a lead is accepted at once, and the rule comes after all rules of admins.',
          body: { example: EXAMPLE_NEW_PROPOSAL },
          responses: {
            201: { description: 'The rule was proposed.', schema: ProposalBody, example: EXAMPLE_PROPOSAL },
          },
          problems: ['already_exists', 'rate_limited'],
        }),
      },
    )
    .post(
      '/proposals/:id/accept',
      async ({ params, caller, address }) =>
        proposalBody(await placement.acceptProposal(partyOf({ caller, address }), params.id)),
      {
        allow: MAY_DECIDE,
        scope: 'rules:write',
        detail: documented({
          id: 'acceptRuleProposal',
          tag,
          summary: 'Accept a proposed rule',
          description:
            'Creates the rule, enabled and after all others of admins. It applies to new reports; apply the rules to move entries that exist. Whoever proposed it must still lead the project, and the project must still have the repository.',
          path,
          responses: now('accepted'),
          problems: ['proposal_decided', 'proposal_outdated', 'already_exists'],
        }),
      },
    )
    .post(
      '/proposals/:id/decline',
      async ({ params, body, caller, address }) =>
        proposalBody(await placement.declineProposal(partyOf({ caller, address }), params.id, body.reason)),
      {
        allow: MAY_DECIDE,
        scope: 'rules:write',
        parse: 'report',
        body: ProposalDecline,
        detail: documented({
          id: 'declineRuleProposal',
          tag,
          summary: 'Decline a proposed rule',
          description: 'The person who proposed it sees the reason.',
          path,
          body: { example: { reason: 'Branches of that repository belong to several projects.' } },
          responses: now('declined'),
          problems: ['proposal_decided'],
        }),
      },
    )
    .post(
      '/proposals/:id/withdraw',
      async ({ params, caller, address }) =>
        proposalBody(await placement.withdrawProposal(partyOf({ caller, address }), params.id)),
      {
        allow,
        scope,
        detail: documented({
          id: 'withdrawRuleProposal',
          tag,
          summary: 'Withdraw a proposed rule',
          description: 'Only the person who proposed it can do this.',
          path,
          responses: now('withdrawn'),
          problems: ['proposal_decided'],
        }),
      },
    )
