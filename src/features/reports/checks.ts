/** Checks of the entries of a period, each as the filter that also lists them. Pure. */

import type { PlacedBy, Status } from '../../database/schema/values.ts'
import type { Span } from '../../lib/calendar.ts'
import { type EntryFilter, PLACELESS } from '../selection/contract.ts'
import { COUNTED_STATUSES } from './counted-entries.ts'

/** Rejected entries need no further work. */
const LIVE: Status[] = ['submitted', 'approved', 'billed']

/** An entry is on a bill exactly while it is billed. */
const UNBILLED = LIVE.filter((status) => status !== 'billed')

const DAY_MS = 86_400_000

/**
 * How long before the period sessions may have started that continue into it. No agent is known to run longer than a
 * month, and without a limit all entries would have to be read.
 */
const REACHING_MS = 31 * DAY_MS

interface Check {
  description: string
  /**
   * Where its entries are counted: in groups, or in the sessions that continue past the end of a period, both of which
   * the sums of days and months contain; or one by one in an index that contains just these entries; or in the sums by what
   * pays for them, if there are plans or rules that say it.
   */
  readFrom: 'groups' | 'straddling' | 'index' | 'funding'
  /** Selects entries that started in the period; superseded ones never count. */
  filter: (period: Span) => EntryFilter
}

/** In the order in which a person works through them. */
export const CHECKS = {
  all: {
    description: 'all entries that reports count',
    readFrom: 'groups',
    filter: () => ({ status: COUNTED_STATUSES }),
  },
  unplaced: {
    description: 'not billed or rejected, and not assigned to a project or ticket',
    readFrom: 'groups',
    filter: () => PLACELESS.unattributed,
  },
  without_client: {
    description: 'not billed or rejected, and on a billable project without a client',
    readFrom: 'groups',
    filter: () => PLACELESS.without_client,
  },
  without_project: {
    description: 'not billed or rejected, and on a ticket without a project',
    readFrom: 'groups',
    filter: () => PLACELESS.without_project,
  },
  unpriced: {
    description: 'cost unknown',
    readFrom: 'groups',
    filter: () => ({ status: LIVE, priced: false }),
  },
  unfunded: {
    description:
      'unknown what pays, so that their marginal and allocated costs are; only listed if there are plans or funding rules',
    readFrom: 'funding',
    filter: () => ({ status: LIVE, funding: ['unknown'] }),
  },
  cost_mismatches: {
    description: 'reported cost more than 10 times the list value, or less than a tenth of it, and more than $1 apart',
    readFrom: 'index',
    filter: () => ({ status: LIVE, cost_mismatch: true }),
  },
  possible_duplicates: {
    description: "identical to an earlier entry, or with the same session ID as another person's session",
    readFrom: 'groups',
    filter: () => ({ status: LIVE, possible_duplicate: true }),
  },
  held: {
    description: 'held because another person has reported the same session, not counted until someone decides',
    readFrom: 'groups',
    filter: () => ({ status: ['held'] }),
  },
  discarded: {
    description: 'discarded as a duplicate, never counted',
    readFrom: 'groups',
    filter: () => ({ status: ['discarded'] }),
  },
  voided: {
    description: 'voided as reported by mistake, never counted',
    readFrom: 'groups',
    filter: () => ({ status: ['voided'] }),
  },
  unapproved: {
    description: 'submitted, but not approved or billed',
    readFrom: 'groups',
    filter: () => ({ status: ['submitted'] }),
  },
  unbilled: {
    description: 'can be billed, but not on a bill yet; entries without a project count as billable',
    readFrom: 'groups',
    filter: () => ({ status: UNBILLED, billable: true }),
  },
  not_billable: {
    description: 'on a project that is not billable, so never billed',
    readFrom: 'groups',
    filter: () => ({ status: UNBILLED, billable: false }),
  },
  rejected: {
    description: 'rejected, so never billed',
    readFrom: 'groups',
    filter: () => ({ status: ['rejected'] }),
  },
  on_sheets: {
    description: 'on a sheet that is open or awaiting approval, not yet counted in reports',
    readFrom: 'groups',
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

export interface EntryCount {
  entries: number
  unpricedEntries: number
  /** Null if no cost is known. */
  costNanos: bigint | null
}

/** Entries that no check distinguishes. */
export interface CheckedGroup extends EntryCount {
  status: Status
  placedBy: PlacedBy | 'none'
  isPossibleDuplicate: boolean
  isWithoutProject: boolean
  /** On a billable project without a client. */
  isWithoutClient: boolean
  /** Entries without a project are. */
  isBillable: boolean
}

/** Whether the filter of a check selects a group. Which of its entries are unpriced, the group counts. */
export function matches(
  { status, placed, project, client, billable, possible_duplicate }: EntryFilter,
  group: CheckedGroup,
): boolean {
  return (
    status!.includes(group.status) &&
    (placed === undefined || placed.includes(group.placedBy)) &&
    (project === undefined || group.isWithoutProject) &&
    (client === undefined || group.isWithoutClient) &&
    (billable === undefined || group.isBillable === billable) &&
    (possible_duplicate === undefined || group.isPossibleDuplicate === possible_duplicate)
  )
}
