/** Sums of the entries that wait for somebody's approval, from the sums of days and months. */

import type { Viewer } from '../../../access/visibility.ts'
import type { Database } from '../../../database/database.ts'
import type { Id } from '../../../lib/id.ts'
import { COUNT_KINDS } from '../../../shared/usage.ts'
import { exactAt, type Figure, NO_KEY, SUMS_TASK } from '../../rollup/service.ts'
import type { EntryFilter } from '../../selection/contract.ts'
import { listProjectsById } from './store.ts'

export interface WaitingSum {
  project: { uid: Id<'prj'>; key: string; name: string } | null
  entries: number
  unpricedEntries: number
  tokens: bigint
  costNanos: bigint
  listValueNanos: bigint
}

const MONEY = ['cost', 'listValue'] as const satisfies Figure[]

/** Entries of a filter by project. The bounds are where the period starts and where it ends. */
export async function sumByProject(
  db: Database,
  { viewer, filter, bounds }: { viewer: Viewer; filter: EntryFilter; bounds: readonly [number, number] },
): Promise<WaitingSum[]> {
  const groupings = [{ key: 'projectId' as const }]
  const figures = [...MONEY, ...COUNT_KINDS]
  const sums = await db.slowly(SUMS_TASK, { viewer, filter, bounds, groupings, figures, onlyStraddling: false })
  const ids = [...sums.keys[0]!.slice(0, sums.length)].filter((id) => id !== NO_KEY)
  const projects = new Map((await listProjectsById(db.read, ids)).map(({ id, ...project }) => [id, project]))
  return Array.from({ length: sums.length }, (_, row) => {
    const [costNanos, listValueNanos, ...tokens] = sums.figures.map((figure) => exactAt(figure, row) ?? 0n)
    return {
      project: projects.get(sums.keys[0]![row]!) ?? null,
      entries: sums.entries[row]!,
      unpricedEntries: sums.unpricedEntries[row]!,
      tokens: tokens.reduce((sum, count) => sum + count, 0n),
      costNanos: costNanos!,
      listValueNanos: listValueNanos!,
    }
  })
}

/** The highest cost first, then by the project's key. */
export function dearestFirst(one: WaitingSum, other: WaitingSum): number {
  return Number(other.costNanos - one.costNanos) || (one.project?.key ?? '').localeCompare(other.project?.key ?? '')
}
