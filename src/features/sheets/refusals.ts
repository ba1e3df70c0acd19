/** Errors for a sheet that cannot be changed or moved to the next state. */

import { Problem, refusal } from '../../errors.ts'
import { counted } from '../../lib/counted.ts'
import { timestamp } from '../../lib/duration.ts'
import type { Overlap } from '../entries/contract.ts'

/** The maximum number of entries, since all change their status in one transaction. */
export const SHEET_LIMIT = 10_000

/** Overlapping pairs in an error message; the list of overlaps contains all of them. */
const OVERLAPS_SHOWN = 20

export function emptySheet(name: string): Problem {
  return new Problem('empty_sheet', `${capital(name)} has no entries. Add entries before you submit it, or remove it.`)
}

export function sheetFull(): Problem {
  return refusal(
    '',
    'too_large',
    `must not exceed ${SHEET_LIMIT.toLocaleString('en')} entries per sheet. Open another sheet`,
  )
}

export function overlappingEntries(overlaps: Overlap[]): Problem {
  const shown = overlaps.slice(0, OVERLAPS_SHOWN)
  const pairs = counted(overlaps.length, 'pair')
  return new Problem(
    'overlapping_entries',
    `Entries on the sheet overlap with reported entries of the same person and harness (${pairs}). Remove duplicates, or confirm the overlaps.`,
    {
      issues: shown.map(({ entry, reported }) => ({
        pointer: `/entries/${entry.uid}`,
        code: 'overlaps',
        message: `${entry.harness} from ${spanText(entry)} overlaps with reported entry ${reported.uid}, ${spanText(reported)}`,
      })),
    },
  )
}

function spanText({ startedAt, endedAt }: Overlap['entry']): string {
  return `${timestamp(startedAt)} to ${timestamp(endedAt)}`
}

export function billedEntries(name: string, count: number): Problem {
  return new Problem(
    'wrong_status',
    `${capital(name)} has ${counted(count, 'entry', 'entries')} on a bill, which cannot be changed. Void the bill first.`,
  )
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
