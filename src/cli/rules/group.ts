import { type Command, Option } from 'commander'
import type { Party } from '../../access/actor.ts'
import type { ListedRule, PlacementService } from '../../features/placement/service.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { note, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { addApplyRulesCommand } from './apply.ts'
import {
  conditionsOf,
  placing,
  printRule,
  RULE,
  RULE_COLUMNS,
  type RuleFlags,
  type SaidFlags,
  saidOptions,
  ticketOf,
} from './rule.ts'
import { addTryRulesCommand, parsePosition } from './test.ts'

const JSON_RULE = 'print the rule as JSON, as in the API'

/** Reads or changes one rule and prints it. */
async function act(
  command: Command,
  does: (placement: PlacementService, self: Party) => Promise<ListedRule>,
): Promise<void> {
  const flags = command.optsWithGlobals<RuleFlags>()
  const { ruleBody } = await placing()
  const body = ruleBody(await withServices(flags, ({ placement }, self) => does(placement, self)))
  if (flags.json) printJson(body)
  else printRule(body)
}

export function addRulesCommands(program: Command): void {
  const rules = program
    .command('rules')
    .description(
      'List, add, order, test and apply placement rules, which assign entries that name no project or ticket',
    )
    .addHelpText(
      'after',
      examples(
        "tally rules add --name 'ACME by branch' --when 'labels.repository=acme/*' --when 'labels.branch=/(?<ticket>ACME-[0-9]+)/' --project ACME --ticket '{ticket}'",
        'tally rules test --label repository=acme/web --label branch=feature/ACME-42',
        "tally rules move 'ACME by branch' --to 1",
      ),
    )
  addReadingCommands(rules)
  addSavingCommands(rules)
  addSwitchCommands(rules)
  addMoveCommand(rules)
  addTryRulesCommand(rules)
  addApplyRulesCommand(rules)
}

function addReadingCommands(rules: Command): void {
  rules
    .command('list')
    .description('List the rules in evaluation order')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally rules list'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<RuleFlags>()
      const { ruleBody } = await placing()
      const bodies = (await withServices(flags, ({ placement }) => placement.listRules())).map(ruleBody)
      if (flags.json) return printJsonList(bodies)
      if (bodies.length === 0) return note('No rules yet. Add one with `tally rules add`.')
      printTable(RULE_COLUMNS, bodies)
    })

  rules
    .command('show')
    .description('Show one rule')
    .argument('<rule>', RULE)
    .option('--json', JSON_RULE)
    .addHelpText('after', examples("tally rules show 'ACME by branch'"))
    .action((rule: string, _flags, command: Command) => act(command, (placement) => placement.getRule(rule)))
}

function addSavingCommands(rules: Command): void {
  const add = rules
    .command('add')
    .description('Add a rule after the others')
    .requiredOption('--name <name>', 'unique name of the rule')
  saidOptions(add)
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
      const flags = command.optsWithGlobals<SaidFlags & { name: string; position?: number; disabled?: boolean }>()
      const conditions = conditionsOf(flags.when)
      if (!conditions || flags.project === undefined) {
        throw new CommandError('A rule needs --when (a condition) and --project.', 2)
      }
      const { name, project, position } = flags
      const rule = { name, conditions, project, ticket: ticketOf(flags.ticket) ?? null }
      return act(command, (placement, { by }) => placement.addRule(by, { ...rule, position, enabled: !flags.disabled }))
    })

  const change = rules
    .command('change')
    .description('Change a rule; entries it has already placed stay as they are')
    .argument('<rule>', RULE)
    .option('--name <name>', 'new name')
  saidOptions(change)
    .option('--json', JSON_RULE)
    .addHelpText(
      'after',
      examples(
        "tally rules change 'ACME by branch' --ticket none",
        "tally rules change 'all Codex' --when agent_harness=codex*",
      ),
    )
    .action((rule: string, _flags, command: Command) => {
      const { name, when, project, ticket } = command.optsWithGlobals<SaidFlags>()
      const said = { name, conditions: conditionsOf(when), project, ticket: ticketOf(ticket) }
      if (Object.values(said).every((value) => value === undefined)) {
        throw new CommandError('Nothing to change. Use --name, --when, --project or --ticket.', 2)
      }
      return act(command, (placement, { by }) => placement.changeRule(by, rule, said))
    })
}

function addSwitchCommands(rules: Command): void {
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
        act(command, (placement, { by }) => placement.changeRule(by, rule, { enabled })),
      )
  }

  rules
    .command('remove')
    .description('Remove a rule; entries it has placed stay as they are')
    .argument('<rule>', RULE)
    .option('--yes', 'skip the confirmation')
    .addHelpText('after', examples("tally rules remove 'ACME by branch' --yes"))
    .action(async (named: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<RuleFlags & { yes?: boolean }>()
      await withServices(flags, async ({ placement }, { by }) => {
        const { rule } = await placement.getRule(named)
        await confirm(`Remove the rule '${rule.name}'?`, { yes: flags.yes ?? false })
        await placement.removeRule(by, rule.uid)
        print(`Removed the rule '${rule.name}'.`)
      })
    })
}

function addMoveCommand(rules: Command): void {
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
      const flags = command.optsWithGlobals<RuleFlags & { to?: number; before?: string; after?: string }>()
      const { to, before, after } = flags
      const neighbour = before ?? after
      if (to === undefined && neighbour === undefined)
        throw new CommandError('No position given. Use --to, --before or --after.', 2)
      const { ruleBody } = await placing()
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
