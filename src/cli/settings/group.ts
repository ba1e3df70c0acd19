import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addSettingsSetCommand } from './set.ts'
import { addSettingsShowCommand } from './show.ts'

export function addSettingsCommands(program: Command): void {
  const settings = program
    .command('settings')
    .description('Show and set the organization settings')
    .addHelpText('after', examples('tally settings show', 'tally settings set --unknown-projects hold'))
  addSettingsShowCommand(settings)
  addSettingsSetCommand(settings)
}
