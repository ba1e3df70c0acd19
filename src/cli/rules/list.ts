import type { Command } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { note, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { placementService, RULE_COLUMNS } from './rule.ts'

export function addRulesListCommand(rules: Command): void {
  rules
    .command('list')
    .description('List the rules in evaluation order')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally rules list'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags>()
      const { ruleBody } = await placementService()
      const bodies = (await withServices(flags, ({ placement }) => placement.listRules())).map(ruleBody)
      if (flags.json) return printJsonList(bodies)
      if (bodies.length === 0) return note('No rules yet. Add one with `tally rules add`.')
      printTable(RULE_COLUMNS, bodies, flags)
    })
}
