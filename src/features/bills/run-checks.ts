/** What is left to do before a month can be billed, each as the filter that also lists its entries. Pure. */

import type { Status } from '../../database/schema/values.ts'
import { type EntryFilter, PLACELESS } from '../selection/contract.ts'
import { mayBeBilledAt, type OpenEntries, totalOf } from './open-entries.ts'
import type { LeftOutEntries } from './store/billable.ts'

/** In the order in which a person works through them. */
export const RUN_CHECKS = [
  'unpriced',
  'unattributed',
  'without_client',
  'without_project',
  'held',
  'not_approved',
  'on_sheets',
  'rejected',
] as const
export type RunCheckName = (typeof RUN_CHECKS)[number]

interface Check {
  filter: EntryFilter
  matches: (entries: OpenEntries) => boolean
  /** Only those without a cost. */
  onlyUnpriced?: true
}

/**
 * Each entry is in one of them at most: those that have no client yet by that, the others by their status. `statuses` are those
 * that can be billed.
 */
export function runChecks(statuses: readonly Status[]): Record<RunCheckName, Check> {
  const at = (name: keyof typeof PLACELESS, place: OpenEntries['place']): Check => ({
    filter: { ...PLACELESS[name], superseded: false },
    matches: (entries) => mayBeBilledAt(place, entries),
  })
  const ofClients = (status: Status[], more: EntryFilter = {}): Check => ({
    filter: { status, superseded: false, billable: true, has_client: true, ...more },
    matches: (entries) => entries.isBillable && entries.place === 'client' && status.includes(entries.status),
  })
  return {
    unpriced: { ...ofClients([...statuses], { priced: false }), onlyUnpriced: true },
    unattributed: at('unattributed', 'nowhere'),
    without_client: at('without_client', 'no_client'),
    without_project: at('without_project', 'no_project'),
    held: ofClients(['held']),
    not_approved: ofClients(['submitted']),
    on_sheets: ofClients(['draft', 'pending']),
    rejected: {
      filter: { status: ['rejected'], superseded: false, billable: true },
      matches: (entries) => entries.isBillable && entries.status === 'rejected',
    },
  }
}

/** The entries of a check, among those of a period. */
export function countOf(open: readonly OpenEntries[], { matches, onlyUnpriced }: Check): LeftOutEntries {
  const total = totalOf(open.filter(matches))
  return onlyUnpriced ? { ...total, entries: total.unpriced, costNanos: 0n } : total
}
