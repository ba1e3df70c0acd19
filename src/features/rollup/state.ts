/** Identifies what the roll-up contains of a period. */

import type { Reader } from '../../database/database.ts'
import type { EntryFilter } from '../selection/contract.ts'
import { planReading, type Range } from './plan.ts'
import { ANY_FORMAT } from './segment.ts'
import { testedColumns } from './selection.ts'
import { listZones, readState } from './store/periods.ts'

/**
 * A text that changes with every entry that a report over the period reads; undefined if the report reads entries that
 * are not in columns yet, or a filter needs the table of entries. A day that is built again gets another id.
 */
export async function rolledUpState(
  reader: Reader,
  { filter, within }: { filter: EntryFilter; within: Range },
): Promise<string | undefined> {
  // Whether columns answer it does not depend on who asks.
  if (!testedColumns(filter, undefined)) return undefined
  for (const { zone, ready } of await listZones(reader)) {
    if (!ready) continue
    const state = await readState(reader, zone, within, ANY_FORMAT)
    const { periods, cut, raw } = planReading([within.from, within.to], within, state, { withMonths: false })
    if (raw.length === 0) return [zone, ...[...periods, ...cut].map(({ id }) => id)].join()
  }
  return undefined
}
