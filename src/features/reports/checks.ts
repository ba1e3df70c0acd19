/** Checks of the entries of a period, each as the filter that also lists them. Pure. */
import { PLACED_BY, type Status } from '../../database/schema/values.ts'
import type { Span } from '../../lib/calendar.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'
import { COUNTED_STATUSES } from './counted-entries.ts'

/** Rejected entries need no further work. */
const LIVE: Status[] = ['submitted', 'approved', 'billed']

const DAY_MS = 86_400_000

/**
 * How long before the period sessions may have started that continue into it. No agent is known to run longer than a
 * month, and without a limit all entries would have to be read.
 */
const REACHING_MS = 31 * DAY_MS

interface Check {
  description: string
  /**
   * Where its entries are counted: in the stored sums of days and months, by status or of sessions that continue past
   * the end of a period, or one by one if there are few and an index contains them.
   */
  readFrom: 'statuses' | 'straddling' | 'entries'
  /** Selects entries that started in the period; superseded ones never count. */
  filter: (period: Span) => EntryFilter
}

/** In the order in which a person works through them. */
export const CHECKS = {
  all: {
    description: 'all entries that reports count',
    readFrom: 'statuses',
    filter: () => ({ status: COUNTED_STATUSES }),
  },
  unplaced: {
    description: 'not assigned to a project or ticket',
    readFrom: 'entries',
    filter: () => ({ status: LIVE, placed: ['none'] }),
  },
  without_client: {
    description: 'on a billable project without a client',
    readFrom: 'entries',
    filter: () => ({ status: LIVE, client: ['none'], billable: true }),
  },
  without_project: {
    description: 'on a ticket without a project',
    readFrom: 'entries',
    filter: () => ({ status: LIVE, project: ['none'], placed: [...PLACED_BY] }),
  },
  unpriced: {
    description: 'cost unknown',
    readFrom: 'statuses',
    filter: () => ({ status: LIVE, priced: false }),
  },
  cost_mismatches: {
    description: 'reported cost more than 10 times the list value, or less than a tenth of it, and more than $1 apart',
    readFrom: 'entries',
    filter: () => ({ status: LIVE, cost_mismatch: true }),
  },
  possible_duplicates: {
    description: "identical to an earlier entry, or with the same session ID as another person's session",
    readFrom: 'entries',
    filter: () => ({ status: LIVE, possible_duplicate: true }),
  },
  held: {
    description: 'held because another person has reported the same session, not counted until someone decides',
    readFrom: 'statuses',
    filter: () => ({ status: ['held'] }),
  },
  discarded: {
    description: 'discarded as a duplicate, never counted',
    readFrom: 'statuses',
    filter: () => ({ status: ['discarded'] }),
  },
  unapproved: {
    description: 'submitted, but not approved or billed',
    readFrom: 'statuses',
    filter: () => ({ status: ['submitted'] }),
  },
  // An entry is on a bill exactly while it is billed.
  unbilled: {
    description: 'not on a bill',
    readFrom: 'statuses',
    filter: () => ({ status: LIVE.filter((status) => status !== 'billed') }),
  },
  rejected: {
    description: 'rejected, so never billed',
    readFrom: 'statuses',
    filter: () => ({ status: ['rejected'] }),
  },
  on_sheets: {
    description: 'on a sheet that is open or awaiting approval, not yet counted in reports',
    readFrom: 'statuses',
    filter: () => ({ status: ['draft', 'pending'] }),
  },
  reaching_in: {
    description: 'started up to 31 days before the period and ended in or after it; counted before the period',
    readFrom: 'straddling',
    filter: ({ startingAt }) => ({
      status: COUNTED_STATUSES,
      starting_at: startingAt - REACHING_MS,
      ending_at: startingAt,
      ended_after: startingAt,
    }),
  },
  reaching_out: {
    description: 'started in the period and ended after it; counted in the period',
    readFrom: 'straddling',
    filter: ({ endingAt }) => ({ status: COUNTED_STATUSES, ended_after: endingAt }),
  },
} as const satisfies Record<string, Check>

export type CheckName = keyof typeof CHECKS
