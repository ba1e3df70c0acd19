/**
 * Notes for budgets what entries count before and after something else than a report changes them. Whatever updates counts,
 * costs, places, owners, labels or statuses of entries, or adds entries, does so within {@link notingChanges}; budgets.verify
 * and a test of random acts find what does not.
 */
import type { Tx } from '../../database/database.ts'
import { hasBudgets, listCounted, type NotedSide } from './store/counted.ts'
import { insertChanges } from './store/periods.ts'

/** Runs `body`, which changes or adds the entries with these keys, and notes the difference if there are budgets. */
export async function notingChanges<Result>(
  tx: Tx,
  ids: readonly number[],
  body: () => Promise<Result>,
): Promise<Result> {
  if (ids.length === 0 || !(await hasBudgets(tx))) return body()
  const before = await listCounted(tx, ids)
  const result = await body()
  const after = await listCounted(tx, ids)
  const rows = [...after.keys(), ...[...before.keys()].filter((id) => !after.has(id))].flatMap((id) => {
    const [was, is] = [before.get(id), after.get(id)]
    if (was && is && isSame(was, is)) return []
    return [...(was ? [{ sign: -1, ...was }] : []), ...(is ? [{ sign: 1, ...is }] : [])]
  })
  await insertChanges(tx, rows)
  return result
}

function isSame(one: NotedSide, other: NotedSide): boolean {
  return (Object.keys(one) as (keyof NotedSide)[]).every((name) => one[name] === other[name])
}
