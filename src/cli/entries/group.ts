import { type Command, Option } from 'commander'
import type { ExportFormat } from '../../features/entries/contract.ts'
import { CommandError } from '../failures.ts'
import { addCostBasis, type BasisFlags, basisTexts } from '../flags/cost-basis.ts'
import { addEntryFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples, textOrNone } from '../flags/options.ts'
import { printPieces } from '../terminal/print.ts'
import { type CommandFlags, type DatabaseFlags, withServices } from '../with-services.ts'
import { addEntriesApprovalCommands } from './approval.ts'
import { addEntriesCorrectCommand } from './correct.ts'
import { addEntriesDivideCommands } from './divide.ts'
import { addEntriesListCommand } from './list.ts'
import { printPlaced } from './placed-text.ts'
import { addEntriesReportCommand } from './report.ts'
import { addEntriesShowCommand } from './show.ts'

export function addEntriesCommands(program: Command): void {
  const entries = program
    .command('entries')
    .description('Report token entries to a server; list, export, show, place and approve entries in the database')
    .addHelpText(
      'after',
      examples(
        'tally entries list --project acme-web',
        'tally entries report --file session.json --url http://tally.lan:4747',
      ),
    )
  addEntriesReportCommand(entries)
  addEntriesPlaceCommand(entries)
  addEntriesUnplaceCommand(entries)
  addEntriesShowCommand(entries)
  addEntriesApprovalCommands(entries)
  addEntriesCorrectCommand(entries)
  addEntriesDivideCommands(entries)
  addEntriesListCommand(entries)
  addEntriesExportCommand(entries)
}

/** `tally entries unplace`. */
function addEntriesUnplaceCommand(entries: Command): void {
  entries
    .command('unplace')
    .description('Undo assignments by hand, so that rules and later reports can place the entries')
    .argument('<ids...>', 'ids of entries (ent_…)')
    .option('--dry-run', 'show what would be unattributed, and write nothing')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally entries unplace ent_01a1fa172a0277f3983322718874f2ef'))
    .action(async (ids: string[], _flags, command: Command) => {
      const { dryRun = false, ...flags } = command.optsWithGlobals<CommandFlags & { dryRun?: boolean }>()
      const { results } = await withServices(flags, ({ entries }, self) =>
        entries.places.unplaceEntries({ ids }, self, { dryRun }),
      )
      printPlaced(results, { outcome: 'unattributed', dryRun, json: flags.json })
    })
}

const FORMATS: ExportFormat[] = ['csv', 'ndjson']

interface ExportFlags extends BasisFlags, DatabaseFlags, EntryFilterFlags {
  format: ExportFormat
}

function addEntriesExportCommand(entries: Command): void {
  addEntryFilters(
    addCostBasis(
      entries.command('export').description('Print all entries that match all filters, newest first, as CSV or NDJSON'),
    ),
  )
    .addOption(
      new Option('--format <format>', 'csv, or ndjson: a JSON object per line, as in the API')
        .choices(FORMATS)
        .default('csv'),
    )
    .addHelpText(
      'after',
      examples(
        'tally entries export --from 2026-11-01 --to 2026-11-30 > entries.csv',
        'tally entries export --format ndjson --project acme-web | zstd > entries.ndjson.zst',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ExportFlags>()
      const { readListQuery } = await import('../../features/entries/contract.ts')
      await withServices(flags, async (services, self) => {
        const texts = { ...entryFilterTexts(flags), ...(await basisTexts(services, self, flags)) }
        const { filter, basis } = await services.selection.read(self, (timeZone) => readListQuery(texts, timeZone))
        return printPieces(services.entries.listing.exportFile(self.viewer, filter, flags.format, { basis }))
      })
    })
}

interface Flags extends CommandFlags {
  project?: string
  ticket?: string
  dryRun?: boolean
}

/** `tally entries place`. */
function addEntriesPlaceCommand(entries: Command): void {
  entries
    .command('place')
    .description('Assign entries to a project or ticket by hand; rules and later reports do not move them again')
    .argument('<ids...>', 'ids of entries (ent_…)')
    .option('--project <project>', 'id, key, name or alias; none removes them from their project')
    .option('--ticket <ticket>', 'id or key, which also sets its project; none removes them from their ticket')
    .option('--dry-run', 'show what would be placed, and write nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally entries place ent_01a1fa172a0277f3983322718874f2ef --ticket ACME-42',
        'tally entries place ent_01a1fa172a0277f3983322718874f2ef --project none --dry-run',
      ),
    )
    .action(async (ids: string[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      if (flags.project === undefined && flags.ticket === undefined) {
        throw new CommandError(
          'No place given. Use --project or --ticket, with none to remove the entries from theirs.',
          2,
        )
      }
      const place = { project: textOrNone(flags.project), ticket: textOrNone(flags.ticket) }
      const { dryRun = false } = flags
      const { results } = await withServices(flags, ({ entries }, self) =>
        entries.places.placeEntries({ ids }, place, self, { dryRun }),
      )
      printPlaced(results, { outcome: 'placed', dryRun, json: flags.json })
    })
}
