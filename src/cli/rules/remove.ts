import type { Command } from 'commander'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { RULE } from './rule.ts'

export function addRulesRemoveCommand(rules: Command): void {
  asksFirst(rules.command('remove'))
    .description('Remove a rule; entries it has placed stay as they are')
    .argument('<rule>', RULE)
    .addHelpText('after', examples("tally rules remove 'ACME by branch' --yes"))
    .action(async (named: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      await withServices(flags, async ({ placement }, { by }) => {
        const { rule } = await placement.getRule(named)
        await confirm(`Remove the rule '${rule.name}'?`, flags)
        await placement.removeRule(by, rule.uid)
        print(`Removed the rule '${rule.name}'.`)
      })
    })
}
