import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import type { Content } from '../database/backup/contents.ts'
import { DATABASE_OPTION, type Flags, findSource, openSealed, requireMeant, type Source } from './backup/places.ts'
import { CommandError } from './failures.ts'
import { asksFirst } from './flags/confirmation.ts'
import { examples, optionOf } from './flags/options.ts'
import { keepPrivate } from './private-folder.ts'
import { confirm } from './terminal/confirm.ts'
import { counted } from './terminal/numbers.ts'
import { note, print } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import type { DatabaseFlags } from './with-services.ts'

interface RestoreFlags extends DatabaseFlags {
  replace?: boolean
  yes?: boolean
}

export function addRestoreCommand(program: Command): void {
  asksFirst<RestoreFlags>(program.command('restore'), ({ replace = false }) => replace)
    .description('Restore the database from a backup; stop the server first')
    .argument('<backup>', 'file, s3://bucket/prefix/ for the newest there, the address of one, or latest')
    .addOption(optionOf('identity'))
    .addOption(optionOf('backupDir'))
    .addOption(optionOf('backupS3'))
    .option(...DATABASE_OPTION)
    .option(
      '--replace',
      'replace an existing database, also a damaged one, which is kept with its log next to the new one',
    )
    .addHelpText(
      'after',
      `
Fails if a process is using the existing database. The backup does not contain anything reported, billed or sent after it
was created: check the replaced database before you send bills again. \`latest\` is the newest backup in --backup-dir and
--backup-s3.
${examples('tally restore /mnt/backups/tally-20261121T201500Z.db', 'tally restore tally.db --data /var/lib/tally --replace', 'tally restore s3://backups/tally/ --identity tally-backups.key')}`,
    )
    .action(async (given: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<RestoreFlags & Flags>()
      const config = readConfig(flags)
      const { databaseUrl, dataDir } = config
      if (databaseUrl) throw new CommandError('The database is in PostgreSQL. Use its own tool: pg_restore')
      const to = join(dataDir, 'tally.db')
      const source = await findSource(given, config, flags)
      const name = source.kind === 's3' ? source.address : source.file
      for (const missing of source.missing ?? []) note(missing)
      if (flags.replace) {
        await confirm(`Replace the database in ${dataDir} with ${name}?`, flags)
      }
      const { restore } = await import('../database/backup/restore.ts')
      const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')
      const keepAs = flags.replace ? `${to}.replaced-${stamp}Z` : undefined
      const { contentOf } = await import('../database/backup/contents.ts')
      const restored = await withFile(source, dataDir, flags, (from) => ({
        ...restore({ from, to, keepAs }),
        content: contentOf(from),
      }))
      if (restored.damage) note(`The previous database is damaged: ${restored.damage}.`)
      if (restored.kept.length > 0) note(`What was there is kept as ${restored.kept.join(' and ')}.`)
      await keepPrivate(dataDir)
      const what = given === name ? '' : ` from ${name}`
      const entries = `${counted(restored.entries, 'entry', 'entries')}${what}`
      print(`${to}: ${entries}, ${whoseText(restored.content)}checked. You can start the server now.`)
    })
}

/** What to compare where somebody else can write to the place of backups. */
function whoseText(content: Content): string {
  if (content.kind !== 'backup') return ''
  return `of the database ${content.database} at ${new Date(content.madeAt).toISOString()}, `
}

/** Runs `work` with the file of a backup. An encrypted one is decrypted next to the database first. */
async function withFile<Result>(
  source: Source,
  dataDir: string,
  flags: Flags,
  work: (file: string) => Result,
): Promise<Result> {
  if (source.kind === 'file') {
    if (existsSync(source.file)) {
      await requireMeant(source.file, { name: basename(source.file), label: source.file, flags })
    }
    return work(source.file)
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const scratch = mkdtempSync(join(dataDir, 'restore-'))
  const progress = new Progress('Reading')
  try {
    const file = join(scratch, 'tally.db')
    await openSealed(source, { to: file, flags, onBytes: (done, total) => progress.show(done, total) })
    return work(file)
  } finally {
    progress.end()
    rmSync(scratch, { recursive: true, force: true })
  }
}
