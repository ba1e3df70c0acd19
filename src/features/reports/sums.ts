/**
 * Sums of entries by time and group: what every report of use and money is made of.
 *
 * Drafts and what waits on a submitted sheet are no use yet, so they are left out unless the filter asks for their
 * status. An entry that another source has superseded counts as nothing: its figures are 0, and its session stands in
 * the entries of the other source.
 */
import type { Database } from '../../database/database.ts'
import type { Viewer } from '../../database/visibility.ts'
import type { EntryFilter } from '../entries/service.ts'

export const DIMENSIONS = [
  'project',
  'ticket',
  'client',
  'agent_manager',
  'agent_name',
  'agent_harness',
  'provider',
  'model',
  'status',
  'source',
] as const

/** What entries can be grouped by; `label:` is followed by the label's name. */
export type Dimension = (typeof DIMENSIONS)[number] | `label:${string}`

export interface SumsQuery {
  viewer: Viewer
  /** Its `startingAt` and `endingAt` narrow the bounds further where they are set. */
  filter: EntryFilter
  /** Three at most; the keys of a row follow their order. */
  dimensions: readonly Dimension[]
  /** Ascending moments: bucket `i` reaches from `bounds[i]` to just before `bounds[i + 1]`. */
  bounds: readonly number[]
  /** The zone in which the bounds are local midnights, where they are. */
  timeZone: string
  /** How many rows to answer at most, from the first bucket on: what is beyond is missing. */
  limit?: number
}

/** What an entry has in one dimension, as the API answers it: a text, or the thing itself. */
export type Key =
  | string
  /** A project. */
  | { id: string; key: string; name: string }
  /** A ticket. */
  | { id: string; key: string }
  /** A client or an agent manager. */
  | { id: string; name: string }

/** The sums of one group in one bucket. Groups without entries have no row. */
export interface SumsRow {
  bucket: number
  /** Null where the entries have nothing in a dimension. */
  keys: (Key | null)[]
  entries: number
  /** Those whose cost is unknown: neither reported nor valued. */
  unpricedEntries: number
  tokens: { input: bigint; output: bigint; cacheRead: bigint; cacheWrite: bigint; cacheWrite1h: bigint }
  /** Each sum is of the entries that have the figure, and null where none of them has. */
  costNanos: bigint | null
  listValueNanos: bigint | null
  reportedCostNanos: bigint | null
  /** Entries whose session went on behind the end of the bucket. */
  straddling: number
}

export interface Sums {
  /** Rows in the order of their buckets, in none within a bucket. Throws `database_deadline` where it takes too long. */
  sums(query: SumsQuery): Promise<SumsRow[]>
}

export function createSums(_dependencies: { db: Database }): Sums {
  throw new Error('Sums are not yet read from the database')
}
