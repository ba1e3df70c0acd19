/**
 * What committed changes still owe: triggers write it in the transaction of the change, so no way to make one can forget
 * it. A job does it, after any crash, and removes the row if nothing was added meanwhile.
 */
import { and, eq } from 'drizzle-orm'
import type { Reader, Tx } from './database.ts'
import type { OwedKind } from './schema/values.ts'

export interface OwedWork {
  kind: OwedKind
  /** When the first of the changes was made. */
  since: number
  /** The number of changes that owe it. */
  changes: number
}

export async function findOwed(reader: Reader, kind: OwedKind): Promise<OwedWork | undefined> {
  const { owedWork } = reader.tables
  const [row] = await reader.select().from(owedWork).where(eq(owedWork.kind, kind))
  return row
}

/** Removes what was owed when the work began; it stays if another change owes the same since. */
export async function settleOwed(tx: Tx, { kind, changes }: OwedWork): Promise<void> {
  const { owedWork } = tx.tables
  await tx.delete(owedWork).where(and(eq(owedWork.kind, kind), eq(owedWork.changes, changes)))
}
