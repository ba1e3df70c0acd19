/** What the formats of exports have in common: how an entry becomes a line. */

import type { ByteWriter } from '../../../lib/byte-writer.ts'
import type { UsageDetails } from '../../../shared/usage.ts'
import { isCostMismatch } from '../../selection/contract.ts'
import type { TokenEntry } from '../schema.ts'
import { wireDivision } from '../wire.ts'
import type { ExportedRow, Referred, ReferredRow } from './store/export.ts'

/** Texts that many entries share, as they are written. */
export type SharedTexts = {
  /** Of the row with this key, or of none. */
  [Kind in Referred]: { of(key: number | null): Uint8Array }
} & {
  /** Of the column `usage_details`. */
  details: { of(column: string | null): readonly Uint8Array[] }
}

/** A format of an export. */
export interface LineFormat {
  /** The first line, with its line end; empty if there is none. */
  heading: string
  /**
   * The part of a line that shows the row that an entry refers to, with what is around it in every line: copying one long
   * text costs less than copying two.
   */
  referred: { [Kind in Referred]: (row: ReferredRow<Kind> | null) => string }
  /** Kinds of rows of which this format shows nothing. */
  unused: readonly Referred[]
  /** The parts of a line that show the details; most entries have none, or the same as others. */
  details: (details: UsageDetails | null) => string[]
  line: (writer: ByteWriter, row: ExportedRow, texts: SharedTexts) => void
}

/** The share that an entry is of a divided one. */
export function divisionOf({ amendment }: ExportedRow): TokenEntry['division'] {
  return amendment === null ? null : wireDivision(JSON.parse(amendment))
}

export function isMismatch(row: ExportedRow): boolean {
  const { reportedDollars, reportedNanos, listDollars, listNanos } = row
  if (reportedDollars === null || listDollars === null) return false
  // Less than a dollar apart, like most amounts.
  if (reportedDollars === listDollars) return false
  return isCostMismatch({
    ...row,
    reportedCost: nanosOf(reportedDollars, reportedNanos),
    listValue: nanosOf(listDollars, listNanos),
  })
}

function nanosOf(dollars: number, nanos: number): bigint {
  return BigInt(dollars) * 1_000_000_000n + BigInt(nanos)
}
