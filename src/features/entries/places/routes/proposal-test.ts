import { Elysia } from 'elysia'
import { access, partyOf } from '../../../../http/access.ts'
import { documented } from '../../../../http/documentation.ts'
import { EXAMPLE_NEW_PROPOSAL, NewProposal, readProposal } from '../../../placement/service.ts'
import type { EntriesService } from '../../service.ts'
import { EXAMPLE_PROPOSAL_TEST } from '../examples.ts'
import { ProposalTestAnswer } from '../schema.ts'
import { proposalTestBody } from '../wire.ts'

export const proposalTestRoute = ({ entries }: { entries: EntriesService }) =>
  new Elysia({ name: 'rule-proposal-test', normalize: false })
    .use(access())
    .post(
      '/proposals/test',
      async ({ body, caller, address }) =>
        proposalTestBody(await entries.places.testProposal(partyOf({ caller, address }), readProposal(body))),
      {
        allow: ['session'],
        scope: 'people-only',
        parse: 'report',
        body: NewProposal,
        detail: documented({
          id: 'testRuleProposal',
          tag: 'Placement rules',
          summary: 'Test a rule before proposing it',
          description:
            'For leads of the project. Counts and lists which of the unattributed entries of the repository that you see the rule would match. Nothing is saved.',
          body: { example: EXAMPLE_NEW_PROPOSAL },
          responses: {
            200: {
              description: 'What the rule would match.',
              schema: ProposalTestAnswer,
              example: EXAMPLE_PROPOSAL_TEST,
            },
          },
          problems: ['rate_limited', 'database_deadline'],
        }),
      },
    )
