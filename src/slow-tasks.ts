/** Every task and stream that may run off the main thread, see `database/database.ts`. */
import type { SlowStream, SlowTask } from './database/database.ts'
import { OUTLIERS_TASK } from './features/anomalies/outliers.ts'
import { ANOMALIES_TASK } from './features/anomalies/search.ts'
import { COMPOSITION_TASK } from './features/bills/composition-task.ts'
import { ENTRIES_STREAM } from './features/bills/documents/entries-stream.ts'
import { RUN_TASK } from './features/bills/run-task.ts'
import { COUNT_TASK } from './features/budgets/counting.ts'
import { DAYS_TASK } from './features/budgets/days.ts'
import { ENTRY_EXPORT } from './features/entries/listing/export.ts'
import { RANKED_PAGE_TASK } from './features/entries/listing/ranked-page.ts'
import { ALLOCATION_TASK, SETTLEMENT_TASK } from './features/funding/allocation-task.ts'
import { MENTIONS_TASK } from './features/personal-data/erasure/task.ts'
import { CACHE_TASK } from './features/reports/cache.ts'
import { PRICE_CHANGES_TASK } from './features/reports/price-changes.ts'
import { SURCHARGES_TASK } from './features/reports/surcharges.ts'
import { UNATTRIBUTED_TASK } from './features/reports/unattributed.ts'
import { USAGE_PAGE_TASK } from './features/reports/usage-page.ts'
import { WHAT_IF_TASK } from './features/reports/what-if.ts'
import { CHECK_TASK, DAY_TASK, MONTH_TASK, SUMS_TASK } from './features/rollup/tasks.ts'
import { SEARCH_TASK } from './features/search/task.ts'

// biome-ignore lint/suspicious/noExplicitAny: each has arguments of its own.
export const SLOW_TASKS: readonly SlowTask<any, unknown>[] = [
  DAY_TASK,
  MONTH_TASK,
  SUMS_TASK,
  CHECK_TASK,
  RANKED_PAGE_TASK,
  COMPOSITION_TASK,
  RUN_TASK,
  USAGE_PAGE_TASK,
  UNATTRIBUTED_TASK,
  CACHE_TASK,
  WHAT_IF_TASK,
  PRICE_CHANGES_TASK,
  SURCHARGES_TASK,
  COUNT_TASK,
  DAYS_TASK,
  ANOMALIES_TASK,
  OUTLIERS_TASK,
  SEARCH_TASK,
  MENTIONS_TASK,
  ALLOCATION_TASK,
  SETTLEMENT_TASK,
]

// biome-ignore lint/suspicious/noExplicitAny: each has arguments of its own.
export const SLOW_STREAMS: readonly SlowStream<any>[] = [ENTRIES_STREAM, ENTRY_EXPORT]
