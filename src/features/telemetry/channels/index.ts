/** Every channel by which agents tell what they used. Pure: runs on the decoding thread and knows no database. */
import type { Counts, Signal, Wanted } from '../signals.ts'
import type { Observation } from './observation.ts'

/** What the channels make of a body's signals. */
export interface Read extends Omit<Counts, 'records'> {
  observations: Observation[]
}

/** What a request brings: what was read of it, and what was not. */
export interface ReadResult extends Counts {
  observations: Observation[]
}

export const wanted: Wanted = {
  log: () => false,
  metric: () => false,
  span: () => false,
  attribute: () => false,
  resourceAttribute: () => false,
}

export function readSignals(_signals: readonly Signal[]): Read {
  return { observations: [], ignored: new Map(), rejected: 0, rejectedBecause: null }
}

/** What decoding counted, together with what the channels did. */
export function combine(counts: Counts, read: Read): ReadResult {
  const ignored = new Map(counts.ignored)
  for (const [name, count] of read.ignored) ignored.set(name, (ignored.get(name) ?? 0) + count)
  return {
    observations: read.observations,
    records: counts.records,
    ignored,
    rejected: counts.rejected + read.rejected,
    rejectedBecause: counts.rejectedBecause ?? read.rejectedBecause,
  }
}
