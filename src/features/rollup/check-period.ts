/** Compares the stored columns of a period with what they should be. */

import type { Reader } from '../../database/database.ts'
import { counted } from '../../lib/counted.ts'
import { buildDay, buildMonth } from './build.ts'
import type { Period } from './plan.ts'
import {
  type ColumnName,
  ENTRIES_GRAIN,
  exactAt,
  GRAINS,
  type Segment,
  STRADDLING_GRAIN,
  type StoredColumns,
  segmentOf,
  UNATTRIBUTED_GRAIN,
} from './segment.ts'
import { listColumns } from './store/periods.ts'

export interface CheckedPeriod {
  period: Period
  zone: string
}

/** What differs between the stored columns of a period and what they should be. */
export async function checkPeriod(reader: Reader, { period, zone }: CheckedPeriod): Promise<string[]> {
  const range = { from: period.startsAt, to: period.endsAt }
  const right = await (period.level === 'day' ? buildDay(reader, range) : buildMonth(reader, { zone, ...range }))
  if (!right) return ['is in use although one of its days has changed']
  const stored = await listColumns(reader, period.id)
  const grains = new Set([...right, ...stored].map(({ grain }) => grain))
  return [...grains].flatMap((grain) => {
    const ofGrain = (columns: readonly StoredColumns[]) => segmentOf(columns.filter((column) => column.grain === grain))
    return differencesOf(grain, ofGrain(right), ofGrain(stored))
  })
}

function differencesOf(grain: number, right: Segment, stored: Segment): string[] {
  const missing = right.names.filter((name) => !stored.names.includes(name))
  const unexpected = stored.names.filter((name) => !right.names.includes(name))
  if (missing.length > 0 || unexpected.length > 0) {
    return [
      ...missing.map((name) => `is missing the column ${name} of ${nameOf(grain)}`),
      ...unexpected.map((name) => `has an unexpected column ${name} of ${nameOf(grain)}`),
    ]
  }
  const wrong = right.names.filter((name) => !Buffer.from(right.packed(name)!).equals(stored.packed(name)!))
  if (wrong.length === 0) return []
  if (right.length !== stored.length) {
    return [`has ${counted(stored.length, 'row')} of ${nameOf(grain)}, but its entries result in ${right.length}`]
  }
  return wrong.map((name) => {
    const [wanted, kept] = [right.integers(name), stored.integers(name)]
    const row = Array.from({ length: right.length }, (_, at) => at).find(
      (at) => exactAt(wanted, at) !== exactAt(kept, at),
    )
    if (row === undefined) return `has a damaged column ${name} of ${nameOf(grain)}`
    return `has ${name} ${exactAt(kept, row)} in ${nameOf(grain)} (${rowName(grain, right, row)}), but its entries result in ${exactAt(wanted, row)}`
  })
}

function nameOf(grain: number): string {
  if (grain === ENTRIES_GRAIN) return 'its entries'
  if (grain === STRADDLING_GRAIN) return 'its straddling entries'
  if (grain === UNATTRIBUTED_GRAIN) return 'its unattributed entries'
  return `the sums by ${keysOf(grain).join(', ')}`
}

/** By the keys of rows, which can be looked up in the database. */
function rowName(grain: number, segment: Segment, row: number): string {
  return keysOf(grain)
    .map((name) => `${name} ${exactAt(segment.integers(name), row) ?? 'none'}`)
    .join(', ')
}

function keysOf(grain: number): readonly ColumnName[] {
  return GRAINS.find(({ number }) => number === grain)?.keys ?? ['id']
}
