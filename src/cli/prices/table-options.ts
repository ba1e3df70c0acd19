/** The flags that the commands for price tables share. */
import { Option } from 'commander'
import { TABLE_FORMATS, type TableFormat } from '../../features/prices/contract.ts'
import { parseMoment } from '../../lib/duration.ts'
import { CommandError } from '../failures.ts'
import { parseDay } from './text.ts'

export interface TableFlags {
  format?: TableFormat
  asOf?: string
  allowOlder?: boolean
  dryRun?: boolean
}

export const formatOption = (of: 'file' | 'table') =>
  new Option('--format <format>', `format of the ${of} (default: detected)`).choices(TABLE_FORMATS)

export const asOfOption = () =>
  new Option(
    '--as-of <date>',
    'date of the table (default: the date in the file or of its newest model, else when it was last modified)',
  ).argParser(parseDay)

/** The moment that is meant; a date is a day of the time zone. Throws a {@link CommandError} if it is in the future. */
export function asOfMoment({ asOf }: TableFlags, timeZone: string): number | undefined {
  const moment = asOf === undefined ? undefined : parseMoment(asOf, timeZone)
  if (moment !== undefined && moment > Date.now()) throw new CommandError('--as-of must not be in the future.', 2)
  return moment
}

export const allowOlderOption = () =>
  new Option('--allow-older', 'also load prices that are older than the different ones they replace')

export const dryRunOption = () => new Option('--dry-run', 'show what would be added, and write nothing')
