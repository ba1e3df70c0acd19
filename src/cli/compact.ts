import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { CommandError } from './failures.ts'
import { examples } from './flags/options.ts'
import { sizeText } from './terminal/numbers.ts'
import { print, printJson } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

export function addCompactCommand(program: Command): void {
  program
    .command('compact')
    .description('Write the database anew without unused space, in which removed texts may still be readable')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Run it after \`tally users erase\` or a retention run, at a quiet time: reports wait while it runs, some 10 s per GB. It
needs free space of the size of the database. Backups from before still contain what was removed.
${examples('tally compact')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { dataDir, databaseUrl } = readConfig(flags)
      const file = databaseUrl ? undefined : join(dataDir, 'tally.db')
      const startedAt = Date.now()
      const sizes = await withServices(flags, async ({ organization }) => {
        const before = file === undefined ? undefined : statSync(file).size
        await compact({ file, databaseUrl })
        await organization.declareCompacted(startedAt)
        return file ? { bytes_before: before, bytes: statSync(file).size } : {}
      })
      if (flags.json) return printJson(sizes)
      const change =
        sizes.bytes === undefined ? '' : ` ${sizeText(sizes.bytes_before!)} are now ${sizeText(sizes.bytes)}.`
      print(`The database is compact.${change}`)
    })
}

async function compact({ file, databaseUrl }: { file?: string | undefined; databaseUrl?: string | undefined }) {
  const { compactFile, compactPostgres, LogInUse } = await import('../database/compact.ts')
  if (databaseUrl) return compactPostgres(databaseUrl)
  try {
    compactFile(file!)
  } catch (error) {
    if (error instanceof LogInUse) {
      throw new CommandError(
        'The database was written anew, but another process still reads its log, which contains the old texts. Run `tally compact` again once that process has ended.',
      )
    }
    const { code, message } = error as { code?: string; message: string }
    if (code === 'SQLITE_BUSY') {
      throw new CommandError('Another process has been writing to the database for 30 s. Try again later.')
    }
    if (code === 'SQLITE_FULL') {
      throw new CommandError(`There is not enough free space for a second copy of the database (${message}).`)
    }
    throw error
  }
}
