/** Unbilled entries from before a period, from the sums of days and months: there may be years of them. */

import { EVERYTHING } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { exactAt, NO_KEY, sumColumns } from '../rollup/service.ts'
import { type EntryFilter, OPEN_STATUSES } from '../selection/contract.ts'
import { totalOf } from './open-entries.ts'
import type { LeftOutEntries, ScopeKeys } from './store/billable.ts'
import type { PlanFacts } from './store/plan-facts.ts'

/** Of one project; the keys of those without a project or client are {@link NO_KEY}. */
interface EarlierSum extends Omit<LeftOutEntries, 'isMore'> {
  projectId: number
  clientId: number
}

interface Earlier {
  before: number
  /** Only of this client or project: while there are no sums yet, the entries of all others are not read. */
  only?: Pick<EntryFilter, 'client' | 'project'>
  basis: CostBasis
}

/** Entries from before a moment that may still be billed, by project. */
export async function sumEarlier(reader: Reader, { before, only, basis }: Earlier): Promise<EarlierSum[]> {
  const sums = await sumColumns(reader, {
    viewer: EVERYTHING,
    filter: { ...only, status: [...OPEN_STATUSES], billable: true, superseded: false },
    bounds: [0, before],
    groupings: [{ key: 'projectId' }, { client: true }],
    figures: ['cost'],
    basis,
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

/** Those of a scope that a bill leaves out, without corrections that it counts 0. */
export function leftEarlier(
  sums: readonly EarlierSum[],
  scope: ScopeKeys,
  { before, basis, facts }: { before: number; basis: CostBasis; facts: PlanFacts },
): LeftOutEntries {
  const { entries, unpriced, ...rest } = earlierOf(sums, scope)
  const corrections = correctionsIn(facts, scope, before)
  // Corrections have no list value.
  return { entries: entries - corrections, unpriced: unpriced - (basis === 'list' ? corrections : 0), ...rest }
}

/** The corrections of a scope from before a moment that may be billed by another basis only. */
export function correctionsIn({ uncountedCorrections }: PlanFacts, scope: ScopeKeys, before: number): number {
  return uncountedCorrections.filter((one) => one.isOpen && one.startedAt < before && isIn(one, scope)).length
}

export function isIn(
  { projectId, clientId }: { projectId: number | null; clientId: number | null },
  scope: ScopeKeys,
): boolean {
  if (scope === 'everything') return true
  return 'projectId' in scope ? projectId === scope.projectId : clientId === scope.clientId
}
