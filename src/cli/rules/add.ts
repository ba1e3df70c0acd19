import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { examples, textOrNone } from '../flags/options.ts'
import { actOnRule, addRuleFlags, conditionsOf, JSON_RULE, parsePosition, type RuleFieldFlags } from './rule.ts'

export function addRulesAddCommand(rules: Command): void {
  const add = rules
    .command('add')
    .description('Add a rule after the others')
    .requiredOption('--name <name>', 'unique name of the rule')
  addRuleFlags(add)
    .option('--position <number>', 'position in the evaluation order, from 1', parsePosition)
    .option('--disabled', 'add the rule without enabling it')
    .option('--json', JSON_RULE)
    .addHelpText(
      'after',
      examples(
        "tally rules add --name 'ACME by branch' --when 'labels.branch=/(?<ticket>ACME-[0-9]+)/' --project ACME --ticket '{ticket}'",
        "tally rules add --name 'all Codex' --when agent_harness=codex --project internal",
      ),
    )
    .action((_flags, command: Command) => {
      const flags = command.optsWithGlobals<RuleFieldFlags & { name: string; position?: number; disabled?: boolean }>()
      const conditions = conditionsOf(flags.when)
      if (!conditions || flags.project === undefined) {
        throw new CommandError('A rule needs --when (a condition) and --project.', 2)
      }
      const { name, project, position } = flags
      const rule = { name, conditions, project, ticket: textOrNone(flags.ticket) ?? null }
      return actOnRule(command, (placement, { by }) =>
        placement.addRule(by, { ...rule, position, enabled: !flags.disabled }),
      )
    })
}
