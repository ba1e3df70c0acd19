import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addEventsFollowCommand } from './follow.ts'
import { addEventsListCommand } from './list.ts'

export function addEventsCommands(program: Command): void {
  const events = program
    .command('events')
    .description('List and follow events: what happened, oldest first')
    .addHelpText('after', examples('tally events list --types bill.*', 'tally events follow --types entry.*,sheet.*'))
  addEventsListCommand(events)
  addEventsFollowCommand(events)
}
