import type { Command } from 'commander'
import {
  addPlacementRule,
  changePlacementRule,
  getPlacementRule,
  listPlacementRules,
  removePlacementRule,
} from '../../features/placement/operations/rules.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { addRulesApplyCommand } from './apply.ts'
import { addRulesMoveCommand } from './move.ts'
import { addRulesProposalsCommands } from './proposals.ts'
import { PLACE_FLAGS, RULE_COLUMNS, ruleFields, WHEN } from './rule.ts'
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
