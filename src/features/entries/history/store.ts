/** The history of entries, and the idempotency keys of reports. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Actor } from '../../../access/actor.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, isId } from '../../../lib/id.ts'
import type { HistoryAction } from '../../../shared/history-sentences.ts'

type HistoryRecord = Tables['entryHistory']['$inferSelect']

export interface IdempotencyKey {
  managerId: number
  key: string
  bodyHash: Uint8Array
  entryId: number
}

export async function findIdempotencyKeys(
  reader: Reader,
  keys: readonly Pick<IdempotencyKey, 'managerId' | 'key'>[],
): Promise<(IdempotencyKey | undefined)[]> {
  const found = await reader.findEach(
    'idempotency-keys.by-key',
    (prepare) => {
      const { idempotencyKeys } = prepare.tables
      return prepare
        .select()
        .from(idempotencyKeys)
        .where(
          and(
            eq(idempotencyKeys.managerId, sql.placeholder('managerId')),
            eq(idempotencyKeys.key, sql.placeholder('key')),
          ),
        )
    },
    keys.map(({ managerId, key }) => ({ managerId, key })),
  )
  return found.map(([row]) => row)
}

export async function insertIdempotencyKeys(tx: Tx, keys: readonly IdempotencyKey[]): Promise<void> {
  await tx.insertAll(tx.tables.idempotencyKeys, keys)
}

/** A change of entries, with its time and author. */
export interface Change {
  action: HistoryAction
  at: number
  by: Pick<HistoryRecord, 'userId' | 'tokenId'> & Pick<Actor, 'for'>
}

/** A row of an entry's history. */
export type HistoryRow = Pick<HistoryRecord, 'entryId' | 'details'> & { change: Change }

/** Adds rows of several changes, in their order. */
export async function insertHistoryRows(tx: Tx, rows: readonly HistoryRow[]): Promise<void> {
  await tx.insertAll(
    tx.tables.entryHistory,
    rows.map(({ entryId, details, change: { action, at, by } }) => ({
      entryId,
      details,
      action,
      at,
      userId: by.userId,
      tokenId: by.tokenId,
    })),
  )
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

/** The names of people and the keys of projects with these ids. */
export async function listNames(reader: Reader, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  const { users, projects } = reader.tables
  const [people, keys] = [ids.filter((id) => isId('usr', id)), ids.filter((id) => isId('prj', id))]
  return [
    ...(people.length === 0
      ? []
      : await reader.select({ id: users.uid, name: users.name }).from(users).where(inArray(users.uid, people))),
    ...(keys.length === 0
      ? []
      : await reader
          .select({ id: projects.uid, name: projects.key })
          .from(projects)
          .where(inArray(projects.uid, keys))),
  ]
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
