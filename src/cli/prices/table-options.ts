/** The flags that the commands for price tables share. */
import { Option } from 'commander'
import { parseDate } from './text.ts'

const FORMATS = ['tally', 'litellm', 'models-dev', 'genai-prices'] as const

export interface TableFlags {
  format?: (typeof FORMATS)[number]
  asOf?: number
  allowOlder?: boolean
  dryRun?: boolean
}

export const formatOption = (of: 'file' | 'table') =>
  new Option('--format <format>', `format of the ${of} (default: detected)`).choices(FORMATS)

export const asOfOption = () =>
  new Option(
    '--as-of <date>',
    'date of the table (default: the date in the file or of its newest model, else when it was last modified)',
  ).argParser(parseDate)

export const allowOlderOption = () =>
  new Option('--allow-older', 'also load prices that are older than the different ones they replace')

export const dryRunOption = () => new Option('--dry-run', 'show what would be added, and write nothing')
