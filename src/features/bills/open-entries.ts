/** Unbilled entries of a period by what keeps them from a bill, from the sums of days and months. */

import { EVERYTHING } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import { STATUSES, type Status } from '../../database/schema/values.ts'
import type { Nanos } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { exactAt, NO_KEY, STATUS_KEYS, sumColumns } from '../rollup/service.ts'
import { OPEN_STATUSES } from '../selection/contract.ts'
import { type LeftOutEntries, listProjectPlaces, type Moments, type ScopedEntry } from './store/billable.ts'

/** Of one project; the key of those without one is {@link NO_KEY}. */
export interface OpenEntries {
  projectId: number
  clientId: number | null
  status: Status
  isBillable: boolean
  place: 'client' | 'no_client' | 'no_project' | 'nowhere'
  entries: number
  /** The number of these without a cost on the basis. */
  unpriced: number
  costNanos: Nanos
  listValueNanos: Nanos
}

/** Entries without what only lines show, as one with a cost on the basis and one without. */
export function asEntries({
  projectId,
  entries,
  unpriced,
  costNanos,
  listValueNanos,
  ...of
}: OpenEntries): ScopedEntry[] {
  const priced = { ...NO_LINE, ...of, projectId, entries: entries - unpriced, costNanos, listValueNanos }
  const others = { ...priced, entries: unpriced, costNanos: null, listValueNanos: null }
  return [priced, others].filter((one) => one.entries > 0)
}

const NO_LINE = {
  ...{
    id: NO_KEY,
    ticketId: null,
    modelId: NO_KEY,
    agentId: NO_KEY,
    managerId: NO_KEY,
    labelSetId: null,
    sessionId: null,
  },
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, activeMs: null, isEarlier: false },
}

const UNBILLED = STATUSES.filter((status) => status !== 'billed')
const STATUS_OF = new Map(STATUSES.map((status) => [STATUS_KEYS[status], status]))

export async function sumOpenEntries(
  reader: Reader,
  { startingAt, endingAt }: Moments,
  basis: CostBasis,
): Promise<OpenEntries[]> {
  const sums = await sumColumns(reader, {
    viewer: EVERYTHING,
    filter: { status: UNBILLED, superseded: false },
    bounds: [startingAt, endingAt],
    groupings: [{ key: 'status' }, { key: 'projectId' }, { key: 'ticketId' }],
    figures: ['cost', 'listValue'],
    basis,
    onlyStraddling: false,
  })
  const projects = await listProjectPlaces(reader)
  const groups = new Map<string, OpenEntries>()
  const [statuses, projectIds, ticketIds] = sums.keys
  for (let row = 0; row < sums.length; row += 1) {
    const status = STATUS_OF.get(statuses![row]!)!
    const projectId = projectIds![row]!
    const project = projects.get(projectId)
    const { billable: isBillable = true, clientId = null } = project ?? {}
    const place = project ? (clientId === null ? 'no_client' : 'client') : placeOf(ticketIds![row]!)
    const name = `${status} ${place} ${projectId}`
    const none = { entries: 0, unpriced: 0, costNanos: 0n, listValueNanos: 0n }
    const group = groups.getOrInsertComputed(name, () => ({ projectId, clientId, status, isBillable, place, ...none }))
    group.entries += sums.entries[row]!
    group.unpriced += sums.unpricedEntries[row]!
    group.costNanos += exactAt(sums.figures[0]!, row) ?? 0n
    group.listValueNanos += exactAt(sums.figures[1]!, row) ?? 0n
  }
  return [...groups.values()]
}

/** Without a project. */
const placeOf = (ticketId: number) => (ticketId === NO_KEY ? 'nowhere' : 'no_project')

/** Whether entries may be billed, once those that have no client or project have one. */
export const mayBeBilledAt = (place: OpenEntries['place'], group: OpenEntries): boolean =>
  group.place === place && group.isBillable && OPEN_STATUSES.includes(group.status)

/** Those that would be forgotten if they were not counted. */
export function outsideOf(
  open: readonly OpenEntries[],
): Record<'unattributed' | 'withoutClient' | 'withoutProject', LeftOutEntries> {
  const at = (place: OpenEntries['place']) => totalOf(open.filter((group) => mayBeBilledAt(place, group)))
  return { unattributed: at('nowhere'), withoutClient: at('no_client'), withoutProject: at('no_project') }
}

export function totalOf(groups: readonly Omit<LeftOutEntries, 'isMore'>[]): LeftOutEntries {
  const total: LeftOutEntries = { entries: 0, unpriced: 0, costNanos: 0n, isMore: false }
  for (const { entries, unpriced, costNanos } of groups) {
    total.entries += entries
    total.unpriced += unpriced
    total.costNanos += costNanos
  }
  return total
}
