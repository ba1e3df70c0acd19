import { type Command, Option } from 'commander'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { parsePosition, placementService, RULE, RULE_COLUMNS } from './rule.ts'

export function addRulesMoveCommand(rules: Command): void {
  rules
    .command('move')
    .description('Move a rule in the evaluation order; the first matching rule places an entry')
    .argument('<rule>', RULE)
    .addOption(
      new Option('--to <number>', 'new position, from 1').argParser(parsePosition).conflicts(['before', 'after']),
    )
    .addOption(new Option('--before <rule>', 'move it directly before this rule').conflicts('after'))
    .option('--after <rule>', 'move it directly after this rule')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples("tally rules move 'ACME by branch' --to 1", "tally rules move codex --after 'ACME by branch'"),
    )
    .action(async (named: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { to?: number; before?: string; after?: string }>()
      const { to, before, after } = flags
      const neighbour = before ?? after
      if (to === undefined && neighbour === undefined)
        throw new CommandError('No position given. Use --to, --before or --after.', 2)
      const { ruleBody } = await placementService()
      const ordered = await withServices(flags, async ({ placement }, { by }) => {
        const { rule } = await placement.getRule(named)
        const beside = neighbour === undefined ? undefined : (await placement.getRule(neighbour)).rule
        const others = (await placement.listRules()).map((listed) => listed.rule.uid).filter((id) => id !== rule.uid)
        const at = beside ? others.indexOf(beside.uid) + (after === undefined ? 0 : 1) : to! - 1
        return placement.orderRules(by, others.toSpliced(Math.max(at, 0), 0, rule.uid))
      })
      const bodies = ordered.map(ruleBody)
      if (flags.json) printJsonList(bodies)
      else printTable(RULE_COLUMNS, bodies)
    })
}
