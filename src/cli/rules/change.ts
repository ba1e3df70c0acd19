import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { examples, textOrNone } from '../flags/options.ts'
import { actOnRule, addRuleFlags, conditionsOf, JSON_RULE, RULE, type RuleFieldFlags } from './rule.ts'

export function addRulesChangeCommand(rules: Command): void {
  const change = rules
    .command('change')
    .description('Change a rule; entries it has already placed stay as they are')
    .argument('<rule>', RULE)
    .option('--name <name>', 'new name')
  addRuleFlags(change)
    .option('--json', JSON_RULE)
    .addHelpText(
      'after',
      examples(
        "tally rules change 'ACME by branch' --ticket none",
        "tally rules change 'all Codex' --when agent_harness=codex*",
      ),
    )
    .action((rule: string, _flags, command: Command) => {
      const { name, when, project, ticket } = command.optsWithGlobals<RuleFieldFlags>()
      const said = { name, conditions: conditionsOf(when), project, ticket: textOrNone(ticket) }
      if (Object.values(said).every((value) => value === undefined)) {
        throw new CommandError('Nothing to change. Use --name, --when, --project or --ticket.', 2)
      }
      return actOnRule(command, (placement, { by }) => placement.changeRule(by, rule, said))
    })
}
