/**
 * Notes for budgets what entries count before and after something else than a report changes them. Whatever updates counts,
 * costs, places, owners, labels or statuses of entries, or adds entries, does so within {@link notingChanges}; budgets.verify
 * and a test of random acts find what does not.
 */
import { and, inArray, isNull, notInArray } from 'drizzle-orm'
import type { Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import { UNCOUNTED_STATUSES } from '../../../database/schema/values.ts'
import { type ChangeRecord, insertChanges } from './periods.ts'

/** Runs `body`, which changes or adds the entries with these keys, and notes the difference if there are budgets. */
export async function notingChanges<Result>(
  tx: Tx,
  ids: readonly number[],
  body: () => Promise<Result>,
): Promise<Result> {
  if (ids.length === 0 || !(await hasBudgets(tx))) return body()
  const before = await listSides(tx, ids)
  const result = await body()
  const after = await listSides(tx, ids)
  const rows = [...after.keys(), ...[...before.keys()].filter((id) => !after.has(id))].flatMap((id) => {
    const [was, is] = [before.get(id), after.get(id)]
    if (was && is && isSame(was, is)) return []
    return [...(was ? [{ sign: -1, ...was }] : []), ...(is ? [{ sign: 1, ...is }] : [])]
  })
  await insertChanges(tx, rows)
  return result
}

type NotedSide = Omit<ChangeRecord, 'id' | 'sign'>

async function hasBudgets(tx: Tx): Promise<boolean> {
  const found = await tx
    .prepared('budgets.any-active', (prepare) => {
      const { budgets } = prepare.tables
      return prepare.select({ id: budgets.id }).from(budgets).where(isNull(budgets.archivedAt)).limit(1)
    })
    .execute()
  return found.length > 0
}

/** What these entries count, by key; those that do not count are left out. */
async function listSides(tx: Tx, ids: readonly number[]): Promise<Map<number, NotedSide>> {
  const { entries: e } = tx.tables
  const sides = new Map<number, NotedSide>()
  for (const portion of portionsOf([...new Set(ids)])) {
    const rows = await tx
      .select({
        id: e.id,
        status: e.status,
        startedAt: e.startedAt,
        managerId: e.managerId,
        projectId: e.projectId,
        ticketId: e.ticketId,
        agentId: e.agentId,
        modelId: e.modelId,
        labelSetId: e.labelSetId,
        reportedCost: e.reportedCost,
        listValue: e.listValue,
        input: e.input,
        output: e.output,
        cacheRead: e.cacheRead,
        cacheWrite: e.cacheWrite,
        cacheWrite1h: e.cacheWrite1h,
      })
      .from(e)
      .where(and(inArray(e.id, portion), notInArray(e.status, [...UNCOUNTED_STATUSES])))
    for (const row of rows) {
      const { id, status, reportedCost, listValue, input, output, cacheRead, cacheWrite, cacheWrite1h, ...subject } =
        row
      sides.set(id, {
        ...subject,
        rejected: status === 'rejected',
        cost: reportedCost ?? listValue,
        tokens: input + output + cacheRead + cacheWrite + cacheWrite1h,
      })
    }
  }
  return sides
}

function isSame(one: NotedSide, other: NotedSide): boolean {
  return (Object.keys(one) as (keyof NotedSide)[]).every((name) => one[name] === other[name])
}
