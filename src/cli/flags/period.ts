/** The flags that say which time a report covers. */
import type { Command } from 'commander'
import type { QueryTexts } from '../../query.ts'
import type { Services } from '../../services.ts'

export interface PeriodFlags {
  last?: string
  month?: string
  quarter?: string
  year?: string
  from?: string
  to?: string
  timeZone?: string
}

export function addPeriodFlags(command: Command): Command {
  return command
    .option('--last <duration>', 'the last days (including today) or hours: 30d (the default), 2w, 12h')
    .option('--month <month>', 'a month, such as 2026-11')
    .option('--quarter <quarter>', 'a quarter, such as 2026-Q4')
    .option('--year <year>', 'a year, such as 2026')
    .option('--from <when>', 'start date or timestamp, inclusive')
    .option('--to <when>', 'end date or timestamp, exclusive (default: now)')
    .option('--time-zone <zone>', 'time zone of dates and buckets (default: that of the organization)')
}

export async function periodTexts({ reports }: Services, flags: PeriodFlags): Promise<QueryTexts> {
  const { last, month, quarter, year, from, to, timeZone } = flags
  return { ...(await reports.periodTexts({ last, month, quarter, year, from, to }, timeZone)), time_zone: timeZone }
}
