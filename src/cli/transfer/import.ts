import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { readConfig } from '../../config.ts'
import { type Imported, type Merged, REASONS } from '../../features/transfer/service.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
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

/** What `tally import` reports. */
interface Flags {
  json?: boolean
  dryRun?: boolean
}

/** Ids of skipped entries that are shown for each reason; `--json` has up to a thousand. */
const SHOWN_IDS = 5

function showImported({ header, counts, tokens }: Imported, { json, dryRun = false }: Flags): void {
  const { organization, exported_at, tally } = header
  if (json) {
    printJson({ dry_run: dryRun, organization, exported_at, tally, counts, tokens })
    return
  }
  print(`Export of ${organization} from ${exported_at}, created by Tally ${tally}:`)
  for (const [type, count] of Object.entries(counts)) printCount(count, type)
  print(dryRun ? 'The file can be imported. Nothing was changed.' : 'Everything was imported.')
  if (dryRun) return
  note('Nobody has a password yet. Set one with `tally users set-password`, and invite the others.')
  if (tokens.length === 0) return
  note(`These tokens were valid. Replace them with \`tally tokens create\` (${tokens.length}):`)
  for (const { id, kind, name, created_by } of tokens) note(`  ${id}  ${kind}  ${name} (${created_by})`)
}

function showMerged(merged: Merged, { json, dryRun = false }: Flags): void {
  const { header, added, held, skipped, created, not_merged } = merged
  const { organization, exported_at, tally } = header
  if (json) {
    printJson({ dry_run: dryRun, organization, exported_at, tally, added, held, skipped, created, not_merged })
    return
  }
  print(`Export of ${organization} from ${exported_at}, created by Tally ${tally}:`)
  printCount(added, dryRun ? 'entries would be added' : 'entries added')
  if (held > 0) printCount(held, 'of these unattributed, because their project or ticket is not here')
  for (const [reason, { entries, ids }] of Object.entries(skipped)) {
    printCount(entries, `entries skipped: ${REASONS[reason as keyof typeof REASONS]}`)
    if (reason === 'already_here') continue
    for (const id of ids.slice(0, SHOWN_IDS)) print(`${' '.repeat(16)}${id}`)
    if (entries > SHOWN_IDS)
      print(`${' '.repeat(16)}and ${(entries - SHOWN_IDS).toLocaleString('en')} more, see --json`)
  }
  for (const [kind, names] of Object.entries(created)) {
    if (names.length > 0) print(`${dryRun ? 'Would create' : 'Created'} ${kind}: ${names.join(', ')}`)
  }
  const left = Object.entries(not_merged).map(([type, count]) => `${count.toLocaleString('en')} ${type}`)
  if (left.length > 0) print(`Not merged: ${left.join(', ')}`)
  if (dryRun) print('Nothing was changed.')
}

function printCount(count: number, what: string): void {
  print(`  ${count.toLocaleString('en').padStart(12)}  ${what}`)
}
