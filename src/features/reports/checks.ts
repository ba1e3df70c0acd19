/** What is asked of the entries of a period, each as the filter that also lists them. Pure. */
import type { Status } from '../../database/tables.ts'
import type { EntryFilter } from '../entries/service.ts'
import type { Period } from './buckets.ts'
import { COUNTED_STATUSES } from './counted.ts'

/** Rejected entries want nothing any more. */
const LIVE: Status[] = ['submitted', 'approved', 'billed']

const DAY_MS = 86_400_000

/**
 * How far before the period sessions are looked for that reach into it. Agents that run longer than a month are none
 * that anyone has seen, and without a limit every entry there is would have to be looked at.
 */
const REACHING_MS = 31 * DAY_MS

interface Check {
  description: string
  /** Which entries, of those that started in the period; superseded ones never count. */
  filter: (period: Period) => EntryFilter
}

/** In the order in which one would go through them. */
export const CHECKS = {
  all: { description: 'whatever the reports count', filter: () => ({ statuses: COUNTED_STATUSES }) },
  unplaced: { description: 'on no project and no ticket', filter: () => ({ statuses: LIVE, placed: ['none'] }) },
  unpriced: { description: 'the cost is unknown', filter: () => ({ statuses: LIVE, priced: false }) },
  possible_duplicates: {
    description: 'an earlier entry says exactly the same',
    filter: () => ({ statuses: LIVE, possibleDuplicate: true }),
  },
  unapproved: { description: 'submitted and neither approved nor billed', filter: () => ({ statuses: ['submitted'] }) },
  unbilled: { description: 'on no bill', filter: () => ({ statuses: LIVE, bills: ['none'] }) },
  rejected: { description: 'never billed', filter: () => ({ statuses: ['rejected'] }) },
  on_sheets: {
    description: 'on a sheet that is open or awaits approval, which no report counts yet',
    filter: () => ({ statuses: ['draft', 'pending'] }),
  },
  reaching_in: {
    description: 'started up to 31 days before the period and ended in it or later; counted before it',
    filter: ({ startingAt }) => ({
      statuses: COUNTED_STATUSES,
      startingAt: startingAt - REACHING_MS,
      endingAt: startingAt,
      endedAfter: startingAt,
    }),
  },
  reaching_out: {
    description: 'started in the period and ended behind it; counted in it',
    filter: ({ endingAt }) => ({ statuses: COUNTED_STATUSES, endedAfter: endingAt }),
  },
} as const satisfies Record<string, Check>

export type CheckName = keyof typeof CHECKS
