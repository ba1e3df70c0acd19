import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import type { CommandFlags } from '../with-services.ts'
import { checkRestored } from './check-restored.ts'
import { DATABASE_OPTION, type Flags, findSource, LATEST, openSealed, requireMeant, type Source } from './places.ts'

export function addBackupVerifyCommand(backup: Command): void {
  backup
    .command('verify')
    .description(
      'Restore a backup into a temporary folder and check it as `tally verify` does; exit code 1 if it is wrong',
    )
    .summary('Restore a backup into a temporary folder and check it')
    .argument(
      '[backup]',
      'file, s3://bucket/prefix/ for the newest there, or the address of one (default: the latest of all)',
    )
    .addOption(optionOf('identity'))
    .addOption(optionOf('backupDir'))
    .addOption(optionOf('backupS3'))
    .option(...DATABASE_OPTION)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Needs space for the database in the folder for temporary files, which TMPDIR sets. For a daily job on another machine, which has the
private key:
${examples('tally backup verify s3://backups/tally/ --identity tally-backups.key')}`,
    )
    .action(async (given: string | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & Flags>()
      const source = await findSource(given ?? LATEST, readConfig(flags), flags)
      const name = source.kind === 's3' ? source.address : source.file
      const differences = [...(source.missing ?? []), ...(await restoreAndCheck(source, flags))]
      const isRight = differences.length === 0
      if (flags.json) printJson({ backup: name, ok: isRight, differences })
      else for (const difference of differences) print(difference)
      if (!isRight)
        throw new CommandError(`${name} is wrong. Check the database with \`tally verify\`, and older backups.`)
      if (!flags.json) print(`${name}: intact, and its bills and totals match its entries.`)
    })
}

async function restoreAndCheck(source: Source, flags: Flags): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-verify-'))
  const progress = new Progress('Reading')
  try {
    const to = join(folder, 'tally.db')
    if (source.kind === 'file') {
      await requireMeant(source.file, { name: basename(source.file), label: source.file, flags })
      const { restore } = await import('../../database/backup/restore.ts')
      restore({ from: source.file, to, keepAs: undefined })
    } else {
      await openSealed(source, { to, flags, onBytes: (done, total) => progress.show(done, total) })
    }
    progress.end()
    return await checkRestored(folder, to)
  } finally {
    progress.end()
    rmSync(folder, { recursive: true, force: true })
  }
}
