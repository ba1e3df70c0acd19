import { type Command, Option } from 'commander'
import type { ExportFormat } from '../../features/entries/contract.ts'
import { addEntryFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { printPieces } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'

const FORMATS: ExportFormat[] = ['csv', 'ndjson']

interface ExportFlags extends DatabaseFlags, EntryFilterFlags {
  format: ExportFormat
}

export function addEntriesExportCommand(entries: Command): void {
  addEntryFilters(
    entries.command('export').description('Print all entries that match all filters, newest first, as CSV or NDJSON'),
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
      const texts = entryFilterTexts(flags)
      await withServices(flags, async ({ entries, selection }, self) => {
        const { filter } = await selection.read(self, (timeZone) => readListQuery(texts, timeZone))
        return printPieces(entries.listing.exportFile(self.viewer, filter, flags.format))
      })
    })
}
