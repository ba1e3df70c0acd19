import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addTokensCreateCommand } from './create.ts'
import { addTokensListCommand } from './list.ts'
import { addTokensRevokeCommand } from './revoke.ts'
import { addTokensRotateCommand } from './rotate.ts'
import { addTokensScopesCommand } from './scopes.ts'
import { addTokensShowCommand } from './show.ts'

export function addTokensCommands(program: Command): void {
  const tokens = program
    .command('tokens')
    .description('Create, list and revoke the tokens of agents and programs')
    .addHelpText(
      'after',
      examples('tally tokens create --kind svc --user ada@example.com --name ci --expires 90d', 'tally tokens list'),
    )
  addTokensCreateCommand(tokens)
  addTokensListCommand(tokens)
  addTokensShowCommand(tokens)
  addTokensRevokeCommand(tokens)
  addTokensRotateCommand(tokens)
  addTokensScopesCommand(tokens)
}
