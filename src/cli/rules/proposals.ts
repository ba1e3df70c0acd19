/** `tally rules proposals`: rules that leads propose for the repositories of their projects. */
import { type Command, Option } from 'commander'
import type { Party } from '../../access/actor.ts'
import { readOperator } from '../../config.ts'
import type { ProposalBody } from '../../features/placement/schema.ts'
import type { Services } from '../../services.ts'
import { act } from '../act.ts'
import { CommandError } from '../failures.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples, textOrNone } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { type Column, note, print, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, type Self, withServices } from '../with-services.ts'
import { conditionsOf, placementService, type RuleFieldFlags } from './rule.ts'

const STATES: ProposalBody['state'][] = ['open', 'accepted', 'declined', 'withdrawn']
const PROPOSAL = 'id of the proposal (rpr_…)'
const JSON_PROPOSAL = 'print the proposal as JSON, as in the API'
const EXAMPLE = 'rpr_01a1fa172a0277f3983322718874f2ef'

/** More than anyone looks through. */
const LISTED = 1_000

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
  addList(proposals)
  addCreate(proposals)
  proposals
    .command('accept')
    .description('Accept a proposal: its rule is added as the last one')
    .argument('<proposal>', PROPOSAL)
    .option('--json', JSON_PROPOSAL)
    .addHelpText('after', examples(`tally rules proposals accept ${EXAMPLE}`))
    .action((id: string, _flags, command: Command) =>
      actOnProposal(command, ({ placement }, self) => placement.acceptProposal(self, id)),
    )
  proposals
    .command('decline')
    .description('Decline a proposal')
    .argument('<proposal>', PROPOSAL)
    .requiredOption('--reason <text>', 'why, for the person who proposed it')
    .option('--json', JSON_PROPOSAL)
    .addHelpText('after', examples(`tally rules proposals decline ${EXAMPLE} --reason 'Belongs to several projects'`))
    .action((id: string, _flags, command: Command) => {
      const { reason } = command.optsWithGlobals<{ reason: string }>()
      return actOnProposal(command, ({ placement }, self) => placement.declineProposal(self, id, reason))
    })
  proposals
    .command('withdraw')
    .description('Withdraw a proposal of the person in --as')
    .argument('<proposal>', PROPOSAL)
    .option('--json', JSON_PROPOSAL)
    .addHelpText('after', examples(`tally rules proposals withdraw ${EXAMPLE} --as mara@example.com`))
    .action((id: string, _flags, command: Command) =>
      actOnProposal(command, async (services, self) =>
        services.placement.withdrawProposal(await asPerson(services, self, command.optsWithGlobals()), id),
      ),
    )
}

function addList(proposals: Command): void {
  proposals
    .command('list')
    .description('List the proposals of everybody, newest first')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally rules proposals list --state open'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags & { state?: ProposalBody['state'] }>()
      const { proposalBody } = await placementService()
      const { data } = await withServices(flags, ({ placement }, self) =>
        placement.listProposals(self, { state: flags.state, limit: LISTED, after: undefined }),
      )
      const bodies = data.map(proposalBody)
      if (flags.json) return printJsonList(bodies)
      if (bodies.length === 0) return note('No proposals.')
      printTable(COLUMNS, bodies, flags)
    })
}

function addCreate(proposals: Command): void {
  proposals
    .command('create')
    .description('Propose a rule as the person in --as, who must be a lead of the project')
    .requiredOption('--name <name>', 'unique name of the rule')
    .requiredOption('--repository <repository>', 'one of the repositories of the project')
    .requiredOption('--project <project>', 'key, name, alias or id of the project to assign entries to')
    .option('--when <field=pattern>', 'further condition; repeatable', (text: string, before: string[] = []) => [
      ...before,
      text,
    ])
    .option('--ticket <key>', 'ticket to assign entries to, where {name} is what the named group matched')
    .option('--json', JSON_PROPOSAL)
    .addHelpText(
      'after',
      examples(
        "tally rules proposals create --as mara@example.com --name 'Web by branch' --repository acme/web --when 'labels.branch=/(?<ticket>ACME-[0-9]+)/' --project ACME --ticket '{ticket}'",
      ),
    )
    .action((_flags, command: Command) => {
      const { name, repository, project, when, ticket } = command.optsWithGlobals<
        RuleFieldFlags & { name: string; repository: string; project: string }
      >()
      const conditions = conditionsOf(when) ?? []
      const proposed = { name, repository, project, conditions, ticket: textOrNone(ticket) ?? null }
      return actOnProposal(command, async (services, self) =>
        services.placement.proposeRule(await asPerson(services, self, command.optsWithGlobals()), proposed),
      )
    })
}

/** The person in `--as` as a party of their own: what they may propose is decided by who they lead. */
async function asPerson({ people }: Services, { by }: Self, flags: CommandFlags): Promise<Party> {
  const { as } = readOperator(flags)
  const person = as === undefined ? undefined : await people.findUser(as)
  if (!person) {
    throw new CommandError(
      'Rules are proposed by people. Name the lead with --as, or add the rule with `tally rules add`.',
      2,
    )
  }
  const { viewerOf } = await import('../../access/visibility.ts')
  return { viewer: viewerOf(person), person, by }
}

function actOnProposal(
  command: Command,
  work: (services: Services, self: Self) => ReturnType<Services['placement']['proposeRule']>,
): Promise<void> {
  return act(
    command,
    (services, self) => work(services, self as Self),
    async (proposal) => (await placementService()).proposalBody(proposal),
    ({ id, name, state, rule }) =>
      print(`Proposed rule '${name}' (${id}): ${state}${rule === null ? '' : `, rule ${rule}`}.`),
  )
}
