import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addEntriesApprovalCommands } from './approval.ts'
import { addEntriesCorrectCommand } from './correct.ts'
import { addEntriesDivideCommands } from './divide.ts'
import { addEntriesExportCommand } from './export.ts'
import { addEntriesListCommand } from './list.ts'
import { addEntriesPlaceCommand } from './place.ts'
import { addEntriesReportCommand } from './report.ts'
import { addEntriesShowCommand } from './show.ts'
import { addEntriesUnplaceCommand } from './unplace.ts'

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
