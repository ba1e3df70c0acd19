/**
 * The flags that say which time a command is about, the same in all of them: days, both included, in the organization's
 * time zone, or exact timestamps.
 */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { addDays, isDay } from '../../lib/calendar.ts'
import { parseTimestamp } from '../../lib/timestamp.ts'
import type { QueryTexts } from '../../schema/query.ts'
import type { Services } from '../../services.ts'
import { CommandError } from '../failures.ts'

export interface DayFlags {
  from?: string | undefined
  to?: string | undefined
}

/** The flags of earlier versions, as the parameters of the API: the end is not included. */
interface EarlierFlags {
  startingAt?: string
  endingAt?: string
}

export interface PeriodFlags extends DayFlags {
  last?: string
  month?: string
  quarter?: string
  year?: string
  timeZone?: string
}

/** Validated here, so that a wrong command line is reported with its flag. */
function parseBound(text: string): string {
  const trimmed = text.trim()
  if (isDay(trimmed) || parseTimestamp(trimmed) !== undefined) return trimmed
  throw new InvalidArgumentError(
    'Use a day, such as 2026-11-30, or a timestamp with a UTC offset, such as 2026-11-30T18:00:00+01:00.',
  )
}

/** `--from` and `--to`; `what` begins then, such as "sessions that started". */
export function addDayFlags(command: Command, what: string): Command {
  return command
    .option('--from <day>', `${what} on or after this day, or at or after a timestamp`, parseBound)
    .option('--to <day>', `${what} on or before this day, or before a timestamp`, parseBound)
}

/** The same, with the flags that did this in earlier versions. */
export function addDayAndEarlierFlags(command: Command, what: string): Command {
  return addDayFlags(command, what)
    .addOption(new Option('--starting-at <when>', 'use --from').conflicts('from').hideHelp())
    .addOption(new Option('--ending-at <when>', 'use --to').conflicts('to').hideHelp())
}

/** As parameters of the API, whose `ending_at` is not included. Throws for days in the wrong order. */
export function dayTexts({ from, to, startingAt, endingAt }: DayFlags & EarlierFlags) {
  return { starting_at: from ?? startingAt, ending_at: endOf({ from, to }) ?? endingAt }
}

function endOf({ from, to }: DayFlags): string | undefined {
  if (to === undefined || !isDay(to)) return to
  if (from !== undefined && isDay(from) && to < from) throw new CommandError('--to must not be earlier than --from.', 2)
  return addDays(to, 1)
}

/** For reports, which need a period: also calendar periods, and the last days or hours by default. */
export function addPeriodFlags(command: Command): Command {
  const calendar = command
    .option('--last <duration>', 'the last days (including today) or hours: 30d (the default), 2w, 12h')
    .option('--month <month>', 'a month, such as 2026-11')
    .option('--quarter <quarter>', 'a quarter, such as 2026-Q4')
    .option('--year <year>', 'a year, such as 2026')
  return addDayFlags(calendar, 'sessions that started').option(
    '--time-zone <zone>',
    'time zone of days and buckets (default: that of the organization)',
  )
}

export async function periodTexts({ reports }: Services, flags: PeriodFlags): Promise<QueryTexts> {
  const { last, month, quarter, year, from, timeZone } = flags
  const period = { last, month, quarter, year, from, to: endOf(flags) }
  return { ...(await reports.periodTexts(period, timeZone)), time_zone: timeZone }
}
