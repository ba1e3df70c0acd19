/** The flags that the reports have in common. */
import type { Command } from 'commander'
import type { EntryFilterFlags } from '../flags/entry-filters.ts'
import type { PeriodFlags } from '../flags/period.ts'
import { localMinute } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'

export interface ReportFlags extends CommandFlags, EntryFilterFlags, PeriodFlags {
  limit?: string
  page?: string
  csv?: boolean
}

export function addOutputFlags(command: Command, path: string, { paged }: { paged: boolean }): Command {
  if (paged) {
    command
      .option('--limit <number>', 'rows per page, 1 to 1000 (default 50)')
      .option('--page <page>', 'next_page of the previous page')
  }
  return command
    .option('--csv', `print CSV${paged ? ', all pages at once' : ''}`)
    .option('--json', `print JSON, as returned by GET /api/v1/reports/${path}`)
}

/** The period that a table is of. */
export const periodText = (report: { starting_at: string; ending_at: string; time_zone: string }): string => {
  const { starting_at, ending_at, time_zone } = report
  return `From ${localMinute(starting_at, time_zone)} to ${localMinute(ending_at, time_zone)} (${time_zone}).`
}
