import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { readConfig } from '../../config.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { Progress } from '../terminal/progress.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { showImported, showMerged } from './import-text.ts'
import { withInput } from './input.ts'

interface ImportFlags extends CommandFlags {
  merge?: boolean
  unknownProjects?: 'create' | 'hold'
  dryRun?: boolean
  yes?: boolean
}

export function addImportCommand(program: Command): void {
  asksFirst<ImportFlags>(program.command('import'))
    .description('Import a file of `tally export` into an empty database, or add its entries to this one')
    .argument('<file>', 'file created by `tally export`, also compressed with zstd, or - for standard input')
    .option('--merge', 'add the entries to a database in use: existing entries and sessions are skipped')
    .addOption(
      new Option(
        '--unknown-projects <how>',
        'with --merge: create projects and tickets that are missing, or hold their entries as unattributed (default: the setting)',
      ).choices(['create', 'hold']),
    )
    .option('--dry-run', 'show what would be imported, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
An import into an empty database is complete or changes nothing: repeat it if it was interrupted. A merge continues where
it was interrupted, and never imports an entry or a session twice.
${examples('tally import tally.ndjson.zst --data /var/lib/tally', 'tally import tally.ndjson --database-url postgres://tally@127.0.0.1/tally --dry-run', 'tally import --merge november.ndjson')}`,
    )
    .action(async (path: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<ImportFlags>()
      if (flags.unknownProjects && !flags.merge)
        throw new CommandError('--unknown-projects requires --merge.', EXIT_USAGE)
      await withInput(path, async ({ file, bytes }) => {
        await inDatabase(flags, async (given) => {
          if (!flags.dryRun) await confirm(questionOf(path, flags), flags)
          await withServices(
            given,
            async ({ transfer }, self) => {
              const { dryRun = false, merge = false, unknownProjects } = flags
              const { onProgress, end } = progressOf(bytes)
              try {
                if (merge) {
                  const merged = await transfer.mergeEntries({ file, dryRun, party: self, unknownProjects, onProgress })
                  end()
                  showMerged(merged, flags)
                } else {
                  const imported = await transfer.importAll({ file, dryRun, by: self.by, onProgress })
                  end()
                  showImported(imported, flags)
                }
              } finally {
                end()
              }
            },
            { creates: !flags.merge },
          )
        })
      })
    })
}

function questionOf(path: string, { merge }: ImportFlags): string {
  const source = path === '-' ? 'standard input' : path
  return merge
    ? `Add the entries of ${source} to this database?`
    : `Import everything from ${source} into this database?`
}

/** A dry run where there is no database yet uses a temporary one. */
async function inDatabase(flags: ImportFlags, work: (flags: ImportFlags) => Promise<void>): Promise<void> {
  const { databaseUrl, dataDir } = readConfig(flags)
  if (!flags.dryRun || flags.merge || databaseUrl || existsSync(join(dataDir, 'tally.db'))) return work(flags)
  const folder = mkdtempSync(join(tmpdir(), 'tally-dry-run-'))
  try {
    await work({ ...flags, data: folder })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function progressOf(bytes: number) {
  const bars = {
    checking: new Progress('Checking'),
    comparing: new Progress('Comparing'),
    importing: new Progress('Importing'),
  }
  return {
    onProgress: (phase: keyof typeof bars, done: number) => bars[phase].show(done, bytes),
    end() {
      for (const bar of Object.values(bars)) bar.end()
    },
  }
}
