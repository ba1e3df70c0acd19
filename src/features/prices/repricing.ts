/** The effect of a new price on entries. Entries value themselves, and report the result in these shapes. */

import type { Actor } from '../../access/actor.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import type { RepricingBody } from './schema.ts'

/** What became of entries that were valued again, or would become of them. */
export interface Repriced {
  entries: number
  listValueNanos: Change
  /** Differs from the list value where the cost was reported. */
  costNanos: Change
  models: Map<string, { entries: number; listValueNanos: Change }>
  /** Whether every entry was looked at before the time was over. */
  isComplete: boolean
  /** Where to go on, where a call must say so. */
  nextPage: string | null
}

/** Sums over the entries that change. Unknown values count as nothing. */
export interface Change {
  before: Nanos
  after: Nanos
}

/**
 * How long entries without a price are valued within one call: half of what a connection may be silent. What is left
 * over then is valued by `POST /prices/reprice`.
 */
export const REVALUATION_BUDGET_MS = 10_000

/** Values the entries that have no price, after prices were added. */
export interface Revaluation {
  valueUnpriced(options: { by: Actor; budgetMs: number }): Promise<Repriced>
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
