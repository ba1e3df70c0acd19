/** Entries that follow their work to another project: those of a merged project, and those of a ticket that moves. */

import { and, asc, eq, gt, inArray, isNotNull, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../../database/database.ts'
import { exactTotal } from '../../../../database/exact-sum.ts'
import type { Position } from '../../../selection/contract.ts'
import { notingChanges } from '../../../spending/contract.ts'

/** The entries that follow, and their new project. Billed entries stay where they were billed. */
export type Following =
  | { fromProjectId: number; toProjectId: number }
  | { ticketId: number; toProjectId: number | null }

function isFollowing(reader: Reader, following: Following): SQL | undefined {
  const { entries } = reader.tables
  const { toProjectId } = following
  const of =
    'ticketId' in following
      ? and(
          eq(entries.ticketId, following.ticketId),
          toProjectId === null
            ? isNotNull(entries.projectId)
            : or(isNull(entries.projectId), ne(entries.projectId, toProjectId)),
        )
      : eq(entries.projectId, following.fromProjectId)
  return and(of, isNull(entries.billId))
}

export interface Followers {
  entries: number
  unpriced: number
  /** The sum of the known costs. */
  costNanos: bigint
}

export async function countFollowers(reader: Reader, following: Following): Promise<Followers> {
  const { entries } = reader.tables
  const cost = sql`coalesce(${entries.reportedCost}, ${entries.listValue})`
  const [row] = await reader
    .select({
      entries: sql<number>`count(*)`.mapWith(Number),
      priced: sql<number>`count(${cost})`.mapWith(Number),
      costNanos: exactTotal(cost),
    })
    .from(entries)
    .where(isFollowing(reader, following))
  return { entries: row!.entries, unpriced: row!.entries - row!.priced, costNanos: row!.costNanos }
}

/** The number of a project's entries that are on bills. */
export async function countBilled(reader: Reader, projectId: number): Promise<number> {
  const { entries } = reader.tables
  const [row] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(entries)
    .where(and(eq(entries.projectId, projectId), isNotNull(entries.billId)))
  return row!.count
}

/** The next entries to move, oldest first, starting after `after`. */
export async function listFollowers(
  reader: Reader,
  following: Following,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<Position[]> {
  const { entries } = reader.tables
  return reader
    .select({ startedAt: entries.startedAt, id: entries.id })
    .from(entries)
    .where(
      and(
        isFollowing(reader, following),
        after &&
          or(
            gt(entries.startedAt, after.startedAt),
            and(eq(entries.startedAt, after.startedAt), gt(entries.id, after.id)),
          ),
      ),
    )
    .orderBy(asc(entries.startedAt), asc(entries.id))
    .limit(limit)
}

/** Moves those of the entries that still follow, and returns their keys. */
export async function moveFollowers(
  tx: Tx,
  following: Following,
  { ids, now }: { ids: number[]; now: number },
): Promise<number[]> {
  const { entries } = tx.tables
  const moved = await notingChanges(tx, ids, () =>
    tx
      .update(entries)
      .set({ projectId: following.toProjectId, updatedAt: now })
      .where(and(inArray(entries.id, ids), isFollowing(tx, following)))
      .returning({ id: entries.id }),
  )
  return moved.map(({ id }) => id)
}
