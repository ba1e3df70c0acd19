/** What is left to do before a month can be billed, each as the filter that also lists its entries. Pure. */
import { PLACED_BY, type Status } from '../../database/schema/values.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'
import { type OpenEntries, totalOf } from './open-entries.ts'
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

/** `statuses` are those that can be billed. */
export function runChecks(statuses: readonly Status[]): Record<RunCheckName, Check> {
  const inStatus = (status: Status[], more: EntryFilter, matches: Check['matches']): Check => ({
    filter: { status, superseded: false, ...more },
    matches: (entries) => status.includes(entries.status) && matches(entries),
  })
  const isBillable: Check['matches'] = (entries) => entries.isBillable
  const at =
    (place: OpenEntries['place']): Check['matches'] =>
    (entries) =>
      entries.isBillable && entries.place === place
  const billable = { billable: true }
  return {
    unpriced: { ...inStatus([...statuses], { ...billable, priced: false }, isBillable), onlyUnpriced: true },
    unattributed: inStatus([...statuses], { placed: ['none'] }, at('nowhere')),
    without_client: inStatus([...statuses], { ...billable, client: ['none'] }, at('no_client')),
    without_project: inStatus([...statuses], { project: ['none'], placed: [...PLACED_BY] }, at('no_project')),
    held: inStatus(['held'], billable, isBillable),
    not_approved: inStatus(['submitted'], billable, isBillable),
    on_sheets: inStatus(['draft', 'pending'], billable, isBillable),
    rejected: inStatus(['rejected'], billable, isBillable),
  }
}

/** The entries of a check, among those of a period. */
export function countOf(open: readonly OpenEntries[], { matches, onlyUnpriced }: Check): LeftOutEntries {
  const total = totalOf(open.filter(matches))
  return onlyUnpriced ? { ...total, entries: total.unpriced, costNanos: 0n } : total
}
