/** Entries whose funding is decided again. */
import { and, asc, desc, gte, inArray, isNotNull, notInArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Position } from '../../selection/contract.ts'
import { isBehind } from '../listing/store/lists.ts'
import { type EntryRecord, type EntryView, LOCKED_STATUSES, selectViews } from '../store.ts'

/** Entries that may still change and that started at or after a moment, by start, those after a position. */
export async function listUnlocked(
  reader: Reader,
  { from, after, limit }: { from: number; after: Position | undefined; limit: number },
): Promise<EntryView[]> {
  const { entries } = reader.tables
  const isAfter = after && sql`(${entries.startedAt}, ${entries.id}) > (${after.startedAt}, ${after.id})`
  return selectViews(reader)
    .where(and(gte(entries.startedAt, from), isAfter, notInArray(entries.status, [...LOCKED_STATUSES])))
    .orderBy(asc(entries.startedAt), asc(entries.id))
    .limit(limit)
}

/** All entries that started at or after a moment, the newest first, those after a position. */
export async function listNewest(
  reader: Reader,
  { from, after, limit }: { from: number; after: Position | undefined; limit: number },
): Promise<EntryView[]> {
  const { entries } = reader.tables
  return selectViews(reader)
    .where(and(gte(entries.startedAt, from), isBehind(reader, after)))
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(limit)
}

/** Those of these entries that have a funding. */
export async function listFunded(reader: Reader, ids: readonly number[]): Promise<number[]> {
  const { entries } = reader.tables
  const found: { id: number }[] = []
  for (const portion of portionsOf(ids)) {
    const isFunded = and(inArray(entries.id, portion), isNotNull(entries.fundingId))
    found.push(...(await reader.select({ id: entries.id }).from(entries).where(isFunded)))
  }
  return found.map(({ id }) => id)
}

export async function updateFundings(
  tx: Tx,
  changes: readonly Pick<EntryRecord, 'id' | 'fundingId' | 'updatedAt'>[],
): Promise<void> {
  await tx.updateAll(
    tx.tables.entries,
    changes.map(({ id, fundingId, updatedAt }) => ({ id, fundingId, updatedAt })),
  )
}
