import type { Command } from 'commander'
import { listApprovals } from '../features/sheets/operations/approvals.ts'
import type { Approvals } from '../features/sheets/schema.ts'
import { addAction } from './operations.ts'
import { costText, printSheets } from './sheets/sheet.ts'
import { counted } from './terminal/numbers.ts'
import { note, print, printTable } from './terminal/print.ts'

export function addApprovalsCommand(program: Command): void {
  addAction(program, listApprovals, {
    name: 'approvals',
    description: 'List what is waiting for approval: token sheets, and reported entries by project',
    days: 'sheets and sessions that started',
    examples: ['tally approvals', 'tally approvals --from 2026-11-01 --to 2026-11-30'],
    show: printApprovals,
  })
}

function printApprovals({ sheets, entries }: Approvals): undefined {
  print(`${counted(sheets.sheets, 'sheet')} with ${counted(sheets.entries, 'entry', 'entries')} waiting for approval.`)
  if (sheets.data.length > 0) printSheets(sheets.data)
  if (sheets.data.length < sheets.sheets) note('To list all of them: tally sheets list --status submitted')
  print('')
  print(`${counted(entries.entries, 'reported entry', 'reported entries')} waiting for approval.`)
  if (entries.projects.length === 0) return undefined
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
