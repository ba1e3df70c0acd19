import type { Command } from 'commander'
import { findNotices } from '../embedded/licenses.ts'
import { CommandError } from './failures.ts'
import { examples } from './flags/options.ts'
import { print } from './terminal/print.ts'

export function addLicensesCommand(program: Command): void {
  program
    .command('licenses')
    .description('Print the licenses of the packages in this executable')
    .addHelpText('after', examples('tally licenses', 'tally licenses | less'))
    .action(async () => {
      const notices = await findNotices()
      if (notices === undefined) {
        throw new CommandError('Licenses are included only in the executable. Build it with `bun scripts/build.ts`.')
      }
      print(notices.trimEnd())
    })
}
