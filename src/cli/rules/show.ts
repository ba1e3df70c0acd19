import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { actOnRule, JSON_RULE, RULE } from './rule.ts'

export function addRulesShowCommand(rules: Command): void {
  rules
    .command('show')
    .description('Show one rule')
    .argument('<rule>', RULE)
    .option('--json', JSON_RULE)
    .addHelpText('after', examples("tally rules show 'ACME by branch'"))
    .action((rule: string, _flags, command: Command) => actOnRule(command, (placement) => placement.getRule(rule)))
}
