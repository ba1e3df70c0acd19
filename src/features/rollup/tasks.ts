/** What the roll-up reads off the main thread. */
import type { SlowTask } from '../../database/database.ts'
import { buildDay, buildMonth } from './build.ts'
import { type CheckedPeriod, checkPeriod } from './check-period.ts'
import type { Range } from './plan.ts'
import type { SumsTask } from './scan.ts'
import type { StoredColumns } from './segment.ts'
import type { SummedColumns } from './summed-columns.ts'
import { sumColumns } from './sums.ts'

/** A month of ten million entries takes half a minute; a busy server, some times as long. */
const BUILDING_DEADLINE_MS = 120_000

/** Builds the columns of a day. */
export const DAY_TASK: SlowTask<Range, StoredColumns[]> = {
  name: 'rollup.day',
  deadlineMs: BUILDING_DEADLINE_MS,
  run: (reader, day) => buildDay(reader, day),
}

/** Builds the columns of a month from those of its days; undefined if one of these is stale. */
export const MONTH_TASK: SlowTask<Range & { zone: string }, StoredColumns[] | undefined> = {
  name: 'rollup.month',
  deadlineMs: BUILDING_DEADLINE_MS,
  run: buildMonth,
}

/** Adds up entries for a report. */
export const SUMS_TASK: SlowTask<SumsTask, SummedColumns> = {
  name: 'rollup.sums',
  run: sumColumns,
}

/** Compares the columns of a period with what they should be. */
export const CHECK_TASK: SlowTask<CheckedPeriod, string[]> = {
  name: 'rollup.check',
  deadlineMs: BUILDING_DEADLINE_MS,
  run: checkPeriod,
}
