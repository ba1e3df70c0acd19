import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { CommandError } from './failures.ts'
import { examples } from './flags/options.ts'
import { sizeText } from './terminal/numbers.ts'
import { print, printJson } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import type { CommandFlags } from './with-services.ts'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('Back up the database to a file, also while the server runs, and check the copy')
    .argument(
      '[file]',
      'target file, or a folder for a file named after the time (default: backups in the data folder)',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The file is a complete, consistent copy of the database. \`tally serve --backup-every 24h\` creates backups automatically.
${examples('tally backup', 'tally backup /mnt/backups/tally-2026-11-21.db', 'tally backup /mnt/backups/')}`,
    )
    .action(async (given: string | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const config = readConfig(flags)
      const from = embeddedFile(config.databaseUrl, config.dataDir, 'pg_dump --format=custom')
      const [{ backUp }, { backupName }] = await Promise.all([
        import('../database/backup/backup.ts'),
        import('../database/backup/scheduled-backups.ts'),
      ])
      const to = target(given, config.backups.folder, backupName(Date.now()))
      const progress = new Progress('Copying', process.stderr)
      try {
        const copy = await backUp({ from, to, progress: (done, total) => progress.show(done, total) })
        progress.end()
        if (flags.json) printJson({ file: to, bytes: copy.bytes, entries: copy.entries, schema_version: copy.version })
        else {
          print(`${to}: ${copy.entries.toLocaleString('en')} entries, ${sizeText(copy.bytes)}, checked.`)
        }
      } catch (error) {
        progress.end()
        throw asCommandError(error)
      }
    })
}

/** The file of the embedded database; PostgreSQL has a tool of its own, which `instead` names. */
export function embeddedFile(databaseUrl: string | undefined, dataDir: string, instead: string): string {
  if (databaseUrl) throw new CommandError(`The database is in PostgreSQL. Use its own tool: ${instead}`)
  const file = join(dataDir, 'tally.db')
  if (!existsSync(file)) {
    throw new CommandError(`There is no Tally database in ${dataDir}. Set its folder with --data or TALLY_DATA.`)
  }
  return file
}

function target(given: string | undefined, folder: string, name: string): string {
  if (given === undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return resolve(folder, name)
  }
  const isFolder = given.endsWith('/') || statSync(given, { throwIfNoEntry: false })?.isDirectory()
  return resolve(isFolder ? join(given, name) : given)
}

/** What keeps a copy from being made is the disk or a slip of the keyboard, and no issue of Tally's. */
function asCommandError(error: unknown): unknown {
  const { name, message } = error as Error
  return name === 'Error' ? new CommandError(message) : error
}
