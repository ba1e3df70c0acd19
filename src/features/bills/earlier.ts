/** Unbilled entries from before a period, from the sums of days and months: there may be years of them. */

import { EVERYTHING } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import { exactAt, NO_KEY, sumColumns } from '../rollup/service.ts'
import { type EntryFilter, OPEN_STATUSES } from '../selection/contract.ts'
import { totalOf } from './open-entries.ts'
import type { LeftOutEntries, ScopeKeys } from './store/billable.ts'

/** Of one project; the keys of those without a project or client are {@link NO_KEY}. */
interface EarlierSum extends Omit<LeftOutEntries, 'isMore'> {
  projectId: number
  clientId: number
}

interface Earlier {
  before: number
  /** Only of this client or project: while there are no sums yet, the entries of all others are not read. */
  only?: Pick<EntryFilter, 'client' | 'project'>
}

/** Entries from before a moment that may still be billed, by project. */
export async function sumEarlier(reader: Reader, { before, only }: Earlier): Promise<EarlierSum[]> {
  const sums = await sumColumns(reader, {
    viewer: EVERYTHING,
    filter: { ...only, status: [...OPEN_STATUSES], billable: true, superseded: false },
    bounds: [0, before],
    groupings: [{ key: 'projectId' }, { client: true }],
    figures: ['cost'],
    onlyStraddling: false,
  })
  return Array.from({ length: sums.length }, (_, row) => ({
    projectId: sums.keys[0]![row] ?? NO_KEY,
    clientId: sums.keys[1]![row] ?? NO_KEY,
    entries: sums.entries[row]!,
    unpriced: sums.unpricedEntries[row]!,
    costNanos: exactAt(sums.figures[0]!, row) ?? 0n,
  }))
}

/** Those of a scope. */
export function earlierOf(sums: readonly EarlierSum[], scope: ScopeKeys): LeftOutEntries {
  return totalOf(sums.filter((sum) => isIn(sum, scope)))
}

function isIn({ projectId, clientId }: EarlierSum, scope: ScopeKeys): boolean {
  if (scope === 'everything') return true
  return 'projectId' in scope ? projectId === scope.projectId : clientId === scope.clientId
}
