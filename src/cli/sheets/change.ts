import type { Command } from 'commander'
import { parseExactJson } from '../../lib/exact-json.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { ENTRY_COLUMNS, SHEET, sheetService } from './sheet.ts'

export function addSheetsChangeCommand(sheets: Command): void {
  sheets
    .command('change')
    .description('Change a draft entry; omitted fields keep their values, null clears a field')
    .argument('<sheet>', SHEET)
    .argument('<entry>', 'id of the entry (ent_…)')
    .requiredOption('--set <json>', 'fields to change, such as {"ticket":"ACME-43","summary":null}')
    .option('--json', 'print the entry as JSON')
    .addHelpText('after', examples(`tally sheets change sht_… ent_… --set '{"tokens":{"input":522,"output":300}}'`))
    .action(async (id: string, entryId: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { set: string }>()
      const { requireDraftChange } = await sheetService()
      const change = requireDraftChange(parsed(flags.set))
      const entry = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.changeEntry(id, entryId, change, self)
      })
      if (flags.json) return printJson(entry)
      printTable(ENTRY_COLUMNS, [entry])
    })
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new CommandError(`--set is not valid JSON: ${(error as Error).message}.`, 2)
  }
}
