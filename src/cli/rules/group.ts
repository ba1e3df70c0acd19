import { type Command, Option } from 'commander'
import {
  addPlacementRule,
  changePlacementRule,
  getPlacementRule,
  listPlacementRules,
  removePlacementRule,
} from '../../features/placement/operations/rules.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { addRulesApplyCommand } from './apply.ts'
import { addRulesProposalsCommands } from './proposals.ts'
import { PLACE_FLAGS, parsePosition, placementService, RULE, RULE_COLUMNS, ruleFields, WHEN } from './rule.ts'
import { addRulesTestCommand } from './test.ts'

const subject = 'rule'

export function addRulesCommands(program: Command): void {
  const rules = program
    .command('rules')
    .description('List, add, move, test and apply placement rules, which assign entries to projects')
    .addHelpText(
      'after',
      examples(
        "tally rules add --name 'ACME by branch' --when 'labels.repository=acme/*' --when 'labels.branch=/(?<ticket>ACME-[0-9]+)/' --project ACME --ticket '{ticket}'",
        'tally rules test --label repository=acme/web --label branch=feature/ACME-42',
        "tally rules move 'ACME by branch' --to 1",
      ),
    )
  addListing(rules, listPlacementRules, {
    description: 'List the rules in evaluation order',
    columns: RULE_COLUMNS,
    howToAdd: 'Add one with `tally rules add`.',
  })
  addAction(rules, getPlacementRule, {
    name: 'show',
    description: 'Show one rule',
    subject,
    examples: ["tally rules show 'ACME by branch'"],
    show: ruleFields,
  })
  addAction(rules, addPlacementRule, {
    name: 'add',
    description: 'Add a rule after the others',
    flags: {
      name: { flag: '--name <name>', doc: 'unique name of the rule' },
      conditions: WHEN,
      ...PLACE_FLAGS,
      enabled: { flag: '--disabled', doc: 'add the rule without enabling it', value: false },
      position: { flag: '--position <number>', doc: 'position in the evaluation order, from 1' },
    },
    examples: [
      "tally rules add --name 'ACME by branch' --when 'labels.branch=/(?<ticket>ACME-[0-9]+)/' --project ACME --ticket '{ticket}'",
      "tally rules add --name 'all Codex' --when agent_harness=codex --project internal",
    ],
    show: ruleFields,
  })
  addAction(rules, changePlacementRule, {
    name: 'change',
    description: 'Change a rule; entries it has already placed stay as they are',
    subject,
    flags: { name: { flag: '--name <name>', doc: 'new name' }, conditions: WHEN, ...PLACE_FLAGS, enabled: [] },
    examples: [
      "tally rules change 'ACME by branch' --ticket none",
      "tally rules change 'all Codex' --when agent_harness=codex*",
    ],
    show: ruleFields,
  })
  for (const [name, enabled, description] of [
    ['enable', true, 'Enable a rule'],
    ['disable', false, 'Disable a rule without removing it'],
  ] as const) {
    addAction(rules, changePlacementRule, {
      name,
      description,
      subject,
      body: { enabled },
      examples: [`tally rules ${name} 'ACME by branch'`],
      show: ruleFields,
    })
  }
  addAction(rules, removePlacementRule, {
    name: 'remove',
    description: 'Remove a rule; entries it has placed stay as they are',
    subject,
    examples: ["tally rules remove 'ACME by branch' --yes"],
    first: getPlacementRule,
    confirm: (_, { name }) => `Remove the rule '${name}'?`,
    show: (_, named) => `Removed the rule '${named}'.`,
  })
  addRulesMoveCommand(rules)
  addRulesTestCommand(rules)
  addRulesApplyCommand(rules)
  addRulesProposalsCommands(rules)
}

function addRulesMoveCommand(rules: Command): void {
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
