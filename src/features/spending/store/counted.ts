/** What entries count for budgets. */
import { and, eq, inArray, isNull, notInArray } from 'drizzle-orm'
import type { Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import { UNCOUNTED_STATUSES } from '../../../database/schema/values.ts'
import type { ChangeRecord } from '../records.ts'

export type NotedSide = Omit<ChangeRecord, 'id' | 'sign'>

export async function hasBudgets(tx: Tx): Promise<boolean> {
  const found = await tx
    .prepared('budgets.any-active', (prepare) => {
      const { budgets } = prepare.tables
      return prepare
        .select({ id: budgets.id })
        .from(budgets)
        .where(and(isNull(budgets.archivedAt), eq(budgets.basis, 'cost')))
        .limit(1)
    })
    .execute()
  return found.length > 0
}

/** What these entries count, by key; those that do not count are left out. */
export async function listCounted(tx: Tx, ids: readonly number[]): Promise<Map<number, NotedSide>> {
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
