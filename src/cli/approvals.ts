import type { Command } from 'commander'
import type { Approvals } from '../features/sheets/schema.ts'
import { examples } from './flags/options.ts'
import { addDayAndEarlierFlags, type DayFlags, dayTexts } from './flags/period.ts'
import { costText, printSheets } from './sheets/sheet.ts'
import { counted } from './terminal/numbers.ts'
import { note, print, printJson, printTable } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

export function addApprovalsCommand(program: Command): void {
  const approvals = program
    .command('approvals')
    .description('List what is waiting for approval: token sheets, and reported entries by project')
  addDayAndEarlierFlags(approvals, 'sheets and sessions that started')
    .option('--json', 'print JSON, as returned by GET /api/v1/approvals')
    .addHelpText('after', examples('tally approvals', 'tally approvals --from 2026-11-01 --to 2026-11-30'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & DayFlags>()
      const waiting = await withServices(flags, async ({ sheets }, { viewer }) =>
        sheets.listApprovals(await sheets.readApprovals(dayTexts(flags)), { viewer, person: null }),
      )
      if (flags.json) return printJson(waiting)
      printApprovals(waiting)
    })
}

function printApprovals({ sheets, entries }: Approvals): void {
  print(`${counted(sheets.sheets, 'sheet')} with ${counted(sheets.entries, 'entry', 'entries')} waiting for approval.`)
  if (sheets.data.length > 0) printSheets(sheets.data)
  if (sheets.data.length < sheets.sheets) note('To list all of them: tally sheets list --status submitted')
  print('')
  print(`${counted(entries.entries, 'reported entry', 'reported entries')} waiting for approval.`)
  if (entries.projects.length === 0) return
  printTable(
    [
      { title: 'PROJECT', of: ({ project }) => project?.key ?? '(none)' },
      { title: 'ENTRIES', of: (sum) => sum.entries.toLocaleString('en'), align: 'right' },
      { title: 'TOKENS', of: ({ tokens }) => tokens.toLocaleString('en'), align: 'right' },
      { title: 'COST (USD)', of: ({ cost, unpriced_entries }) => costText(cost, unpriced_entries), align: 'right' },
    ],
    entries.projects,
  )
}
