import type { Command } from 'commander'
import { findNotices } from '../notices.ts'
import { CommandError } from './failures.ts'
import { examples } from './options.ts'
import { print } from './print.ts'

export function addLicensesCommand(program: Command): void {
  program
    .command('licenses')
    .description('Print the licences of the packages that are in this executable')
    .addHelpText('after', examples('tally licenses', 'tally licenses | less'))
    .action(async () => {
      const notices = await findNotices()
      if (notices === undefined) {
        throw new CommandError('Only an executable carries them: make one with `bun scripts/build.ts`.')
      }
      print(notices.trimEnd())
    })
}
