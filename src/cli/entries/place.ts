import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { examples, textOrNone } from '../flags/options.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printPlaced } from './placed-text.ts'

interface Flags extends CommandFlags {
  project?: string
  ticket?: string
  dryRun?: boolean
}

/** `tally entries place`. */
export function addEntriesPlaceCommand(entries: Command): void {
  entries
    .command('place')
    .description('Assign entries to a project or ticket by hand; rules and later reports do not move them again')
    .argument('<ids...>', 'ids of entries (ent_…)')
    .option('--project <project>', 'id, key, name or alias; none removes them from their project')
    .option('--ticket <ticket>', 'id or key, which also sets its project; none removes them from their ticket')
    .option('--dry-run', 'show what would be placed, and write nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally entries place ent_01a1fa172a0277f3983322718874f2ef --ticket ACME-42',
        'tally entries place ent_01a1fa172a0277f3983322718874f2ef --project none --dry-run',
      ),
    )
    .action(async (ids: string[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      if (flags.project === undefined && flags.ticket === undefined) {
        throw new CommandError(
          'No place given. Use --project or --ticket, with none to remove the entries from theirs.',
          2,
        )
      }
      const place = { project: textOrNone(flags.project), ticket: textOrNone(flags.ticket) }
      const { dryRun = false } = flags
      const { results } = await withServices(flags, ({ entries }, self) =>
        entries.places.placeEntries({ ids }, place, self, { dryRun }),
      )
      printPlaced(results, { outcome: 'placed', dryRun, json: flags.json })
    })
}
