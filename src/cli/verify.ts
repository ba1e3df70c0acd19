import type { Command } from 'commander'
import { CommandError } from './failures.ts'
import { examples } from './flags/options.ts'
import { CHECK_DEADLINE_MS, differencesIn } from './integrity.ts'
import { counted } from './terminal/numbers.ts'
import { print, printJson } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { type CommandFlags, withServices } from './with-services.ts'

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description(
      'Check the integrity of the database, and that entries, sessions, bills and totals agree; exit code 1 if not',
    )
    .summary('Check that entries, sessions, bills and totals in the database agree')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally verify', 'tally verify --data /var/lib/tally --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const differences = await withServices(
        flags,
        async (services) => {
          const progress = new Progress('Checking daily and monthly totals')
          try {
            return await differencesIn(services, (done, total) => progress.show(done, total))
          } finally {
            progress.end()
          }
        },
        { slowDeadlineMs: CHECK_DEADLINE_MS },
      )
      const isRight = differences.length === 0
      if (flags.json) printJson({ ok: isRight, differences })
      else for (const difference of differences) print(difference)
      if (!isRight) {
        throw new CommandError(
          `Found ${counted(differences.length, 'difference')}. Copy the database before you do anything else, and restore a backup if the file is damaged.`,
        )
      }
      if (!flags.json) print('The database is intact, and its bills and totals match its entries.')
    })
}
