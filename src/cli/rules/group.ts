import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addRulesAddCommand } from './add.ts'
import { addRulesApplyCommand } from './apply.ts'
import { addRulesChangeCommand } from './change.ts'
import { addRulesEnableCommands } from './enable.ts'
import { addRulesListCommand } from './list.ts'
import { addRulesMoveCommand } from './move.ts'
import { addRulesProposalsCommands } from './proposals.ts'
import { addRulesRemoveCommand } from './remove.ts'
import { addRulesShowCommand } from './show.ts'
import { addRulesTestCommand } from './test.ts'

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
  addRulesListCommand(rules)
  addRulesShowCommand(rules)
  addRulesAddCommand(rules)
  addRulesChangeCommand(rules)
  addRulesEnableCommands(rules)
  addRulesRemoveCommand(rules)
  addRulesMoveCommand(rules)
  addRulesTestCommand(rules)
  addRulesApplyCommand(rules)
  addRulesProposalsCommands(rules)
}
