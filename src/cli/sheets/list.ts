import type { Command } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { collect, examples } from '../flags/options.ts'
import { addDayAndEarlierFlags, type DayFlags, dayTexts } from '../flags/period.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { note, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printSheets } from './sheet.ts'

export function addSheetsListCommand(sheets: Command): void {
  const list = sheets
    .command('list')
    .description('List token sheets, newest first')
    .option('--status <status>', 'open, submitted, approved, returned', collect)
    .option('--person <person>', 'id or e-mail address; repeatable or comma-separated', collect)
  addDayAndEarlierFlags(list, 'periods that begin')
    .option('--limit <number>', 'sheets per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON, as returned by GET /api/v1/token-sheets')
    .addHelpText(
      'after',
      examples('tally sheets list --status submitted', 'tally sheets list --person ada@example.com --json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & ColumnFlags & DayFlags & { status?: string[]; person?: string[]; limit?: string; page?: string }
      >()
      const texts = {
        status: flags.status,
        agent_manager: flags.person,
        ...dayTexts(flags),
        limit: flags.limit,
        page: flags.page,
      }
      const answer = await withServices(flags, async (all, self) =>
        all.sheets.listSheets(self.viewer, await all.sheets.readList(texts, self)),
      )
      if (flags.json) return printJson(answer)
      printSheets(answer.data, flags)
      if (answer.has_more) note(`More sheets: add --page ${answer.next_page}`)
    })
}
