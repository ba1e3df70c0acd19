/** The history of entries, and the idempotency keys of reports. */
import { and, asc, eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Id } from '../../../lib/id.ts'

type HistoryRecord = Tables['entryHistory']['$inferSelect']

export async function findIdempotencyKey(
  reader: Reader,
  managerId: number,
  key: string,
): Promise<{ bodyHash: Uint8Array; entryId: number } | undefined> {
  const [row] = await reader
    .prepared('idempotency-keys.by-key', (prepare) => {
      const { idempotencyKeys } = prepare.tables
      return prepare
        .select({ bodyHash: idempotencyKeys.bodyHash, entryId: idempotencyKeys.entryId })
        .from(idempotencyKeys)
        .where(
          and(
            eq(idempotencyKeys.managerId, sql.placeholder('managerId')),
            eq(idempotencyKeys.key, sql.placeholder('key')),
          ),
        )
    })
    .execute({ managerId, key })
  return row
}

/** Fails with a unique violation if another transaction has inserted the key meanwhile. */
export async function insertIdempotencyKey(
  tx: Tx,
  row: { managerId: number; key: string; bodyHash: Uint8Array; entryId: number },
): Promise<void> {
  await tx.insert(tx.tables.idempotencyKeys).values(row)
}

/** A change of entries, with its time and author. */
export interface Change {
  action: string
  at: number
  by: Pick<HistoryRecord, 'userId' | 'tokenId'>
}

/** Adds a row for each of the entries. */
export async function insertHistory(
  tx: Tx,
  { action, at, by: { userId, tokenId } }: Change,
  rows: Pick<HistoryRecord, 'entryId' | 'details'>[],
): Promise<void> {
  for (const portion of portionsOf(rows)) {
    await tx.insert(tx.tables.entryHistory).values(portion.map((row) => ({ ...row, action, at, userId, tokenId })))
  }
}

export interface HistoryView {
  at: number
  action: string
  details: Record<string, unknown>
  user: { uid: Id<'usr'>; name: string } | null
  token: { uid: Id<'tok'>; name: string } | null
}

export async function listHistory(reader: Reader, entryId: number): Promise<HistoryView[]> {
  const { entryHistory, users, tokens } = reader.tables
  return reader
    .select({
      at: entryHistory.at,
      action: entryHistory.action,
      details: entryHistory.details,
      user: { uid: users.uid, name: users.name },
      token: { uid: tokens.uid, name: tokens.name },
    })
    .from(entryHistory)
    .leftJoin(users, eq(users.id, entryHistory.userId))
    .leftJoin(tokens, eq(tokens.id, entryHistory.tokenId))
    .where(eq(entryHistory.entryId, entryId))
    .orderBy(asc(entryHistory.id))
}

/**
 * The token that an entry was reported with, and the token's creator; the history has no row for the creation of an
 * entry. The owner of the entry may have changed since, its reporter can't.
 */
export async function getReportingToken(
  reader: Reader,
  tokenId: number,
): Promise<{ token: { uid: Id<'tok'>; name: string }; user: { uid: Id<'usr'>; name: string } }> {
  const { tokens, users } = reader.tables
  const [row] = await reader
    .select({ token: { uid: tokens.uid, name: tokens.name }, user: { uid: users.uid, name: users.name } })
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(eq(tokens.id, tokenId))
    .limit(1)
  return row!
}
