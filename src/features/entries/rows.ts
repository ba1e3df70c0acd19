/** Converts usage between its database columns and its domain type. */
import type { SessionAttributes, SessionTotals } from '../../database/schema/records.ts'
import { type EntryRecord, LOCKED_STATUSES } from './store.ts'
import { COUNT_KINDS, type Counts, mapCounts, type Part, type Totals, type Usage } from './totals.ts'

export function costNanosOf({
  reportedCost,
  listValue,
}: Pick<EntryRecord, 'reportedCost' | 'listValue'>): bigint | null {
  return reportedCost ?? listValue
}

export function countsOf(entry: EntryRecord): Counts {
  return mapCounts((kind) => entry[kind])
}

export function over200kOf(entry: EntryRecord): Counts | null {
  if (entry.over200kInput === null) return null
  return {
    input: entry.over200kInput,
    output: entry.over200kOutput ?? 0,
    cacheRead: entry.over200kCacheRead ?? 0,
    cacheWrite: entry.over200kCacheWrite ?? 0,
    cacheWrite1h: entry.over200kCacheWrite1h ?? 0,
  }
}

export function isLocked({ status }: Pick<EntryRecord, 'status'>): boolean {
  return LOCKED_STATUSES.includes(status)
}

export function partOf(entry: EntryRecord): Part {
  return {
    locked: isLocked(entry),
    startedAt: entry.startedAt,
    endedAt: entry.endedAt,
    counts: countsOf(entry),
    over200k: over200kOf(entry),
    requests: entry.requests,
    reportedCostNanos: entry.reportedCost,
    costNanos: costNanosOf(entry),
  }
}

/** The columns that store usage. */
export function usageColumns({ counts, over200k, requests, reportedCostNanos }: Usage) {
  return {
    ...counts,
    over200kInput: over200k?.input ?? null,
    over200kOutput: over200k?.output ?? null,
    over200kCacheRead: over200k?.cacheRead ?? null,
    over200kCacheWrite: over200k?.cacheWrite ?? null,
    over200kCacheWrite1h: over200k?.cacheWrite1h ?? null,
    requests,
    reportedCost: reportedCostNanos,
  }
}

/** The totals of one model of a session from one source. */
export interface ModelTotals {
  model: string
  provider: string | undefined
  totals: Totals
}

/** The totals of one model of a session from one source, with what it says besides. */
export interface Statement extends ModelTotals {
  /** Undefined if an earlier version of Tally did not keep them. */
  attributes: SessionAttributes | undefined
}

export function writeTotals({ model, provider, totals, attributes }: Statement): SessionTotals {
  const { counts, over200k, reportedCostNanos } = totals
  return {
    attributes,
    model,
    provider: provider ?? null,
    started_at: totals.startedAt,
    ended_at: totals.endedAt,
    input: counts.input,
    output: counts.output,
    cache_read: counts.cacheRead,
    cache_write: counts.cacheWrite,
    cache_write_1h: counts.cacheWrite1h,
    over_200k: over200k && [
      over200k.input,
      over200k.output,
      over200k.cacheRead,
      over200k.cacheWrite,
      over200k.cacheWrite1h,
    ],
    requests: totals.requests,
    reported_cost: reportedCostNanos === null ? null : reportedCostNanos.toString(),
  }
}

export function readTotals(kept: SessionTotals): Statement {
  const over = kept.over_200k
  return {
    attributes: kept.attributes,
    model: kept.model,
    provider: kept.provider ?? undefined,
    totals: {
      startedAt: kept.started_at,
      endedAt: kept.ended_at,
      counts: {
        input: kept.input,
        output: kept.output,
        cacheRead: kept.cache_read,
        cacheWrite: kept.cache_write,
        cacheWrite1h: kept.cache_write_1h,
      },
      over200k: over && mapCounts((kind) => over[COUNT_KINDS.indexOf(kind)]!),
      requests: kept.requests,
      reportedCostNanos: kept.reported_cost === null ? null : BigInt(kept.reported_cost),
    },
  }
}
