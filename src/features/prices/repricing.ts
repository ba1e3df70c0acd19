/** The effect of a new price on entries. `entries/` values them, and returns the result in these shapes. */

import type { Actor } from '../../access/actor.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import type { PriceTable } from './price-table.ts'
import type { RepricingBody } from './schema.ts'

/** The result of valuing entries again, actual or in a dry run. */
export interface Repriced {
  entries: number
  listValueNanos: Change
  /** Differs from the list value if the cost was reported. */
  costNanos: Change
  models: Map<string, { entries: number; listValueNanos: Change }>
  /** Whether all entries were processed before time was up. */
  isComplete: boolean
  /** The start of the next call, if this one was not complete. */
  nextPage: string | null
}

/** Sums over the entries that change. Unknown values count as zero. */
export interface Change {
  before: Nanos
  after: Nanos
}

/**
 * How long unpriced entries are valued within one call: half of the time that a connection may be idle. The rest is
 * valued by `POST /prices/reprice`.
 */
export const REVALUATION_BUDGET_MS = 10_000

/** Values the entries that have no price, after prices were added. */
export interface Revaluation {
  /** With `table` as if these were the prices, which only a dry run may assume. */
  valueUnpriced(options: { by: Actor; budgetMs: number; dryRun?: boolean; table?: PriceTable }): Promise<Repriced>
}

export function repricedBody(repriced: Repriced, { dryRun }: { dryRun: boolean }): RepricingBody {
  return {
    dry_run: dryRun,
    entries: repriced.entries,
    list_value: changeBody(repriced.listValueNanos),
    cost: changeBody(repriced.costNanos),
    models: [...repriced.models].map(([model, { entries, listValueNanos }]) => ({
      model,
      entries,
      list_value: changeBody(listValueNanos),
    })),
    complete: repriced.isComplete,
    next_page: repriced.nextPage,
  }
}

function changeBody({ before, after }: Change) {
  return { before: moneyNumber(before), after: moneyNumber(after) }
}
