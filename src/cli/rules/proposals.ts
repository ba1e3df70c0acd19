/** `tally rules proposals`: rules that leads propose for the repositories of their projects. */
import type { Command } from 'commander'
import type { Party } from '../../access/actor.ts'
import { readOperator } from '../../config.ts'
import {
  acceptRuleProposal,
  declineRuleProposal,
  listRuleProposals,
  proposeRule,
  withdrawRuleProposal,
} from '../../features/placement/operations/proposals.ts'
import type { ProposalBody } from '../../features/placement/schema.ts'
import type { Services } from '../../services.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import type { Column } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { PLACE_FLAGS, WHEN } from './rule.ts'

const subject = 'proposal'
const EXAMPLE = 'rpr_01a1fa172a0277f3983322718874f2ef'

const COLUMNS: Column<ProposalBody>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'PROPOSED BY', of: ({ proposed_by }) => proposed_by.name },
  { title: 'REPOSITORY', of: ({ repository }) => repository },
  {
    title: 'AND',
    // The first condition is the one on the repository.
    of: ({ conditions }) =>
      conditions
        .slice(1)
        .map(({ field, matches }) => `${field}=${matches}`)
        .join(' and '),
  },
  { title: 'PLACE', of: ({ project, ticket }) => (ticket === null ? project.key : `${project.key}, ticket ${ticket}`) },
]

export function addRulesProposalsCommands(rules: Command): void {
  const proposals = rules
    .command('proposals')
    .description('List, create, accept, decline and withdraw rules that leads propose')
    .addHelpText(
      'after',
      examples('tally rules proposals list --state open', `tally rules proposals accept ${EXAMPLE}`),
    )
  addListing(proposals, listRuleProposals, {
    description: 'List the proposals of everyone, newest first',
    flags: { state: { flag: '--state <state>', doc: 'only those in this state' } },
    examples: ['tally rules proposals list --state open'],
    columns: COLUMNS,
    howToAdd: 'Propose one with `tally rules proposals create`.',
  })
  addAction(proposals, proposeRule, {
    name: 'create',
    description: 'Propose a rule as the person in --as, who must be a lead of the project',
    flags: {
      name: { flag: '--name <name>', doc: 'unique name of the rule' },
      repository: { flag: '--repository <repository>', doc: 'one of the repositories of the project' },
      conditions: { ...WHEN, doc: 'further condition; repeatable' },
      ...PLACE_FLAGS,
    },
    examples: [
      "tally rules proposals create --as mara@example.com --name 'Web by branch' --repository acme/web --when 'labels.branch=/(?<ticket>ACME-[0-9]+)/' --project ACME --ticket '{ticket}'",
    ],
    run: asPerson(proposeRule),
    show: sentence,
  })
  addAction(proposals, acceptRuleProposal, {
    name: 'accept',
    description: 'Accept a proposal: its rule is added as the last one',
    subject,
    examples: [`tally rules proposals accept ${EXAMPLE}`],
    show: sentence,
  })
  addAction(proposals, declineRuleProposal, {
    name: 'decline',
    description: 'Decline a proposal',
    subject,
    flags: { reason: { flag: '--reason <text>', doc: 'why, for the person who proposed it' } },
    examples: [`tally rules proposals decline ${EXAMPLE} --reason 'Belongs to several projects'`],
    show: sentence,
  })
  addAction(proposals, withdrawRuleProposal, {
    name: 'withdraw',
    description: 'Withdraw a proposal of the person in --as',
    subject,
    examples: [`tally rules proposals withdraw ${EXAMPLE} --as mara@example.com`],
    run: asPerson(withdrawRuleProposal),
    show: sentence,
  })
}

const sentence = ({ id, name, state, rule }: ProposalBody): string =>
  `Proposed rule '${name}' (${id}): ${state}${rule === null ? '' : `, rule ${rule}`}.`

/** Runs an operation as the person in `--as`: what they may propose is decided by who they lead. */
const asPerson =
  <Made extends { party: Party }>(operation: { run: (services: Services, call: Made) => Promise<ProposalBody> }) =>
  async (services: Services, call: Made, flags: CommandFlags): Promise<ProposalBody> => {
    const { as } = readOperator(flags)
    const person = as === undefined ? undefined : await services.people.findUser(as)
    if (!person) {
      throw new CommandError(
        'Rules are proposed by people. Name the lead with --as, or add the rule with `tally rules add`.',
        2,
      )
    }
    const { viewerOf } = await import('../../access/visibility.ts')
    return operation.run(services, { ...call, party: { viewer: viewerOf(person), person, by: call.party.by } })
  }
