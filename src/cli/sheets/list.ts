import type { Command } from 'commander'
import { collect, examples } from '../flags/options.ts'
import { note, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printSheets, sheetService } from './sheet.ts'

export function addSheetsListCommand(sheets: Command): void {
  sheets
    .command('list')
    .description('List token sheets, newest first')
    .option('--status <status>', 'open, submitted, approved, returned', collect)
    .option('--person <person>', 'id or e-mail address; repeatable or comma-separated', collect)
    .option('--starting-at <when>', 'periods that begin at or after this date or timestamp')
    .option('--ending-at <when>', 'periods that begin before it')
    .option('--limit <number>', 'sheets per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .option('--json', 'print JSON, as returned by GET /api/v1/token-sheets')
    .addHelpText(
      'after',
      examples('tally sheets list --status submitted', 'tally sheets list --person ada@example.com --json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & {
          status?: string[]
          person?: string[]
          startingAt?: string
          endingAt?: string
          limit?: string
          page?: string
        }
      >()
      const { readSheetList } = await sheetService()
      const query = readSheetList({
        status: flags.status,
        agent_manager: flags.person,
        starting_at: flags.startingAt,
        ending_at: flags.endingAt,
        limit: flags.limit,
        page: flags.page,
      })
      const answer = await withServices(flags, (all, { viewer }) => all.sheets.listSheets(viewer, query))
      if (flags.json) return printJson(answer)
      printSheets(answer.data)
      if (answer.has_more) note(`More sheets: add --page ${answer.next_page}`)
    })
}
