import type { Command } from 'commander'
import { parseExactJson } from '../../lib/exact-json.ts'
import { addEntryFlags, type EntryFlags, readEntry } from '../flags/entry.ts'
import { examples } from '../flags/options.ts'
import { printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { ENTRY_COLUMNS, noteMismatches, SHEET, sheetService } from './sheet.ts'

export function addSheetsAddCommand(sheets: Command): void {
  addEntryFlags(
    sheets
      .command('add')
      .description('Add one entry to a sheet, from flags, a JSON file or standard input')
      .argument('<sheet>', SHEET),
  )
    .option('--json', 'print the entry as JSON')
    .addHelpText(
      'after',
      examples(
        'tally sheets add sht_… --harness codex --agent reviewer --model gpt-5-codex --started-at 2026-11-20T17:53:04Z --ended-at 2026-11-20T18:20:41Z --input 6153 --output 1421 --project acme-web',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & EntryFlags>()
      const { text } = await readEntry(flags)
      const { requireDraft } = await sheetService()
      const draft = requireDraft(parseExactJson(text))
      const entry = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.addEntry(id, draft, self)
      })
      if (flags.json) return printJson(entry)
      printTable(ENTRY_COLUMNS, [entry])
      noteMismatches([entry])
    })
}
