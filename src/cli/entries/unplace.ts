import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printPlaced } from './placed-text.ts'

/** `tally entries unplace`. */
export function addEntriesUnplaceCommand(entries: Command): void {
  entries
    .command('unplace')
    .description('Undo assignments by hand, so that rules and later reports can place the entries')
    .argument('<ids...>', 'ids of entries (ent_…)')
    .option('--dry-run', 'show what would be unattributed, and write nothing')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally entries unplace ent_01a1fa172a0277f3983322718874f2ef'))
    .action(async (ids: string[], _flags, command: Command) => {
      const { dryRun = false, ...flags } = command.optsWithGlobals<CommandFlags & { dryRun?: boolean }>()
      const { results } = await withServices(flags, ({ entries }, self) =>
        entries.places.unplaceEntries({ ids }, self, { dryRun }),
      )
      printPlaced(results, { outcome: 'unattributed', dryRun, json: flags.json })
    })
}
