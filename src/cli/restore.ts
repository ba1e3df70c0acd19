import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { confirm } from './confirm.ts'
import { CommandError } from './failures.ts'
import { examples } from './options.ts'
import { note, print } from './print.ts'
import type { DatabaseFlags } from './with-services.ts'

interface RestoreFlags extends DatabaseFlags {
  replace?: boolean
  yes?: boolean
}

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('Make a backup the database; the server must not be running')
    .argument('<file>', 'what `tally backup` made')
    .option('--replace', 'keep the database that is there beside it, and take the backup instead')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Refuses while any process uses the database that is there. What was reported, billed and sent after the backup was made
is not in it: look into the kept database before you send bills again.
${examples('tally restore /mnt/backups/tally-20261121T201500Z.db', 'tally restore tally.db --data /var/lib/tally --replace')}`,
    )
    .action(async (file: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<RestoreFlags>()
      const { databaseUrl, dataDir } = readConfig(flags)
      if (databaseUrl) throw new CommandError('The database is in PostgreSQL: use its own tool, pg_restore.')
      const to = join(dataDir, 'tally.db')
      if (flags.replace) {
        await confirm(`Replace the database in ${dataDir} by ${file}?`, { yes: flags.yes ?? false })
      }
      const { restore } = await import('../database/restore.ts')
      const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')
      const keepAs = flags.replace ? `${to}.replaced-${stamp}Z` : undefined
      const restored = restore({ from: file, to, keepAs })
      if (restored.replaced) note(`The database that was there is kept as ${keepAs}.`)
      print(`${to}: ${restored.entries.toLocaleString('en')} entries, checked. Start the server on it.`)
    })
}
