import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { CommandError } from './failures.ts'
import { asksFirst } from './flags/confirmation.ts'
import { examples } from './flags/options.ts'
import { keepPrivate } from './private-folder.ts'
import { confirm } from './terminal/confirm.ts'
import { note, print } from './terminal/print.ts'
import type { DatabaseFlags } from './with-services.ts'

interface RestoreFlags extends DatabaseFlags {
  replace?: boolean
  yes?: boolean
}

export function addRestoreCommand(program: Command): void {
  asksFirst<RestoreFlags>(program.command('restore'), ({ replace = false }) => replace)
    .description('Restore the database from a backup; stop the server first')
    .argument('<file>', 'backup created by `tally backup`')
    .option('--replace', 'replace an existing database, which is kept as a file next to the new one')
    .addHelpText(
      'after',
      `
Fails if a process is using the existing database. The backup does not contain anything reported, billed or sent after it
was created: check the replaced database before you send bills again.
${examples('tally restore /mnt/backups/tally-20261121T201500Z.db', 'tally restore tally.db --data /var/lib/tally --replace')}`,
    )
    .action(async (file: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<RestoreFlags>()
      const { databaseUrl, dataDir } = readConfig(flags)
      if (databaseUrl) throw new CommandError('The database is in PostgreSQL. Use its own tool: pg_restore')
      const to = join(dataDir, 'tally.db')
      if (flags.replace) {
        await confirm(`Replace the database in ${dataDir} with ${file}?`, flags)
      }
      const { restore } = await import('../database/backup/restore.ts')
      const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')
      const keepAs = flags.replace ? `${to}.replaced-${stamp}Z` : undefined
      const restored = restore({ from: file, to, keepAs })
      if (restored.replaced) note(`The previous database is kept as ${keepAs}.`)
      await keepPrivate(dataDir)
      print(`${to}: ${restored.entries.toLocaleString('en')} entries, checked. You can start the server now.`)
    })
}
