/** Many reports in one call. Each is recorded on its own: one that is rejected leaves the others as they are. */
import type { CallerOf } from '../../../access/caller.ts'
import { Problem, validationFailed } from '../../../errors.ts'
import type { TokenEntry, TokenEntryReport } from '../schema.ts'
import type { Recorded } from './record.ts'
import { issuesOfReport, reportChecker } from './report.ts'

/** A report that was recorded. */
export interface Reported {
  outcome: Recorded['outcome']
  /** Whether this is the response to an earlier report with the same Idempotency-Key. */
  replayed: boolean
  entry: TokenEntry
}

/** Items that share a commit. Together they take a few milliseconds, after which single reports get their turn. */
const ITEMS_AT_ONCE = 100

export type BatchItem =
  | { outcome: Reported['outcome']; entry: TokenEntry }
  /** `error` is a Problem, or what went wrong in Tally. */
  | { outcome: 'rejected'; error: unknown }

interface Batch {
  /** As parsed; in the place of a line that is not JSON, the Problem of that line. */
  items: readonly unknown[]
  caller: CallerOf<'service'>
  /** Applies to each item by its position. */
  idempotencyKey: string | undefined
  now: () => number
}

type ReportEntry = (body: TokenEntryReport, caller: CallerOf<'service'>, idempotencyKey?: string) => Promise<Reported>

/** One result per item, in their order. Never throws: the caller must learn which items are recorded. */
export async function reportBatch(
  reportEntry: ReportEntry,
  { items, caller, idempotencyKey, now }: Batch,
): Promise<BatchItem[]> {
  const report = async (item: unknown, index: number): Promise<BatchItem> => {
    try {
      if (item instanceof Problem) throw item
      if (!reportChecker.Check(item)) throw validationFailed(issuesOfReport(item, now()))
      const { outcome, entry } = await reportEntry(item, caller, idempotencyKey && `${idempotencyKey}#${index}`)
      return { outcome, entry }
    } catch (error) {
      return { outcome: 'rejected', error }
    }
  }
  const results: BatchItem[] = []
  for (let start = 0; start < items.length; start += ITEMS_AT_ONCE) {
    const chunk = items.slice(start, start + ITEMS_AT_ONCE)
    results.push(...(await Promise.all(chunk.map((item, offset) => report(item, start + offset)))))
  }
  return results
}
