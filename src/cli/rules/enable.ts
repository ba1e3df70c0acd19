import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { actOnRule, JSON_RULE, RULE } from './rule.ts'

/** `tally rules enable` and `disable`. */
export function addRulesEnableCommands(rules: Command): void {
  for (const [verb, enabled, description] of [
    ['enable', true, 'Enable a rule'],
    ['disable', false, 'Disable a rule without removing it'],
  ] as const) {
    rules
      .command(verb)
      .description(description)
      .argument('<rule>', RULE)
      .option('--json', JSON_RULE)
      .addHelpText('after', examples(`tally rules ${verb} 'ACME by branch'`))
      .action((rule: string, _flags, command: Command) =>
        actOnRule(command, (placement, { by }) => placement.changeRule(by, rule, { enabled })),
      )
  }
}
