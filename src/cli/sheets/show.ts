import type { Command } from 'commander'
import type { TokenEntry } from '../../features/entries/schema.ts'
import { examples } from '../flags/options.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { ENTRY_COLUMNS, printOverlaps, SHEET, sheetText } from './sheet.ts'

export function addSheetsShowCommand(sheets: Command): void {
  sheets
    .command('show')
    .description('Show a sheet with its entries and their overlaps with reported entries')
    .argument('<sheet>', SHEET)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally sheets show sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { sheet, entries, overlaps } = await withServices(flags, async (all, { viewer }) => {
        const sheet = await all.sheets.getSheet(id, viewer)
        const entries: TokenEntry[] = []
        for await (const entry of all.entries.listing.exportEntries(viewer, { sheet: [id] })) entries.push(entry)
        return { sheet, entries, overlaps: (await all.sheets.listOverlaps(id, viewer)).data }
      })
      if (flags.json) return printJson({ ...sheet, data: entries, overlaps })
      print(sheetText('Sheet', sheet))
      if (entries.length > 0) print('')
      if (entries.length > 0) printTable(ENTRY_COLUMNS, entries)
      if (overlaps.length > 0) printOverlaps(overlaps)
    })
}
