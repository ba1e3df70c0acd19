import { and, inArray, notInArray } from 'drizzle-orm'
import type { Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { EntryRecord } from '../store.ts'

/** Those of the entries that are not voided and that no bill has, locked until the end of the transaction. */
export async function lockUnbilled(tx: Tx, ids: readonly number[]): Promise<Pick<EntryRecord, 'id' | 'status'>[]> {
  const { entries: e } = tx.tables
  const rows: Pick<EntryRecord, 'id' | 'status'>[] = []
  for (const portion of portionsOf(ids)) {
    const isFree = and(inArray(e.id, portion), notInArray(e.status, ['billed', 'pending', 'voided']))
    rows.push(...(await tx.locking(tx.select({ id: e.id, status: e.status }).from(e).where(isFree), e)))
  }
  return rows
}
