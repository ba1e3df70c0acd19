import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { VERSION } from '../../embedded/version.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { addDayFlags, type DayFlags, dayTexts } from '../flags/period.ts'
import { counted } from '../terminal/numbers.ts'
import { note } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'
import { compressed, type Output, privateFile, standardOutput } from './output.ts'

interface ExportFlags extends DatabaseFlags, DayFlags {
  output?: string
  force?: boolean
  compress?: boolean
}

export function addExportCommand(program: Command): void {
  addDayFlags(
    program
      .command('export')
      .description('Export everything as NDJSON, for another database or another Tally, also while the server runs')
      .option('-o, --output <file>', 'output file, or - for standard output', '-')
      .option('--force', 'overwrite an existing file')
      .option('--compress', 'compress with zstd (default if the name ends in .zst)'),
    'only entries of sessions that started',
  )
    .addHelpText(
      'after',
      `
The file contains people, tokens without secrets, projects, rules, prices, entries with their history, sheets, bills with
their documents, settings and the audit log, but no passwords, sign-ins or share links. \`tally import\` reads it. With
--from or --to, it contains the entries of that period and what they refer to, for \`tally import --merge\`.
${examples('tally export -o tally.ndjson.zst', 'tally export --from 2026-11-01 --to 2026-11-30 -o november.ndjson', 'tally export | ssh backup "cat > tally.ndjson"')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ExportFlags>()
      const path = flags.output === '-' ? undefined : resolve(flags.output!)
      if (path !== undefined && !flags.force && existsSync(path)) {
        throw new CommandError(`${path} already exists. Choose another file with -o, or add --force to overwrite it.`)
      }
      const { starting_at, ending_at } = dayTexts(flags)
      const progress = new Progress('Exporting entries')
      const counts = await withServices(flags, async ({ transfer, organization }) => {
        const { parseMoment } = await import('../../lib/duration.ts')
        const { timeZone } = await organization.settings()
        const momentOf = (text: string | undefined) => (text === undefined ? undefined : parseMoment(text, timeZone))
        const output = outputOf(path, flags)
        try {
          const written = await transfer.exportAll({
            version: VERSION,
            from: momentOf(starting_at),
            to: momentOf(ending_at),
            write: (piece) => output.write(piece),
            onProgress: (done, total) => progress.show(done, total),
          })
          await output.finish()
          return written
        } catch (error) {
          output.discard()
          throw error
        } finally {
          progress.end()
        }
      })
      if (path !== undefined) {
        note(
          `Wrote ${path}: ${counted(counts.entry ?? 0, 'entry', 'entries')}. It contains personal data: only you can read it.`,
        )
      }
    })
}

function outputOf(path: string | undefined, { compress = path?.endsWith('.zst') }: ExportFlags): Output {
  const output = path === undefined ? standardOutput() : privateFile(path)
  return compress ? compressed(output) : output
}
