/** What a merge looks up in the database in use. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { EntryAmendment } from '../../../database/schema/records.ts'
import type { Id } from '../../../lib/id.ts'

export interface PresentEntry {
  id: number
  uid: Id<'ent'>
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cacheWrite1h: number
  amendment: EntryAmendment | null
}

export async function findPresentEntries(reader: Reader, uids: readonly string[]): Promise<PresentEntry[]> {
  if (uids.length === 0) return []
  const { entries } = reader.tables
  return reader
    .select({
      id: entries.id,
      uid: entries.uid,
      input: entries.input,
      output: entries.output,
      cacheRead: entries.cacheRead,
      cacheWrite: entries.cacheWrite,
      cacheWrite1h: entries.cacheWrite1h,
      amendment: entries.amendment,
    })
    .from(entries)
    .where(inArray(entries.uid, [...new Set(uids)] as Id<'ent'>[]))
}

/** Whose the tokens with these ids are. */
export async function findTokenOwners(
  reader: Reader,
  uids: readonly unknown[],
): Promise<Map<string, { kind: string; createdBy: number }>> {
  const { tokens } = reader.tables
  const found = new Map<string, { kind: string; createdBy: number }>()
  for (const portion of portionsOf([...new Set(uids as Id<'tok'>[])])) {
    const rows = await reader
      .select({ uid: tokens.uid, kind: tokens.kind, createdBy: tokens.createdBy })
      .from(tokens)
      .where(inArray(tokens.uid, portion))
    for (const { uid, ...token } of rows) found.set(uid, token)
  }
  return found
}

/** Who these entries belong to. */
export async function findManagersOf(reader: Reader, entryIds: readonly number[]): Promise<Map<number, number>> {
  if (entryIds.length === 0) return new Map()
  const { entries } = reader.tables
  const rows = await reader
    .select({ id: entries.id, managerId: entries.managerId })
    .from(entries)
    .where(inArray(entries.id, [...entryIds]))
  return new Map(rows.map(({ id, managerId }) => [id, managerId]))
}

/** The other parts of divided entries. */
export async function findSharesOf(
  reader: Reader,
  wholes: readonly number[],
): Promise<{ uid: Id<'ent'>; wholeId: number }[]> {
  if (wholes.length === 0) return []
  const { entries } = reader.tables
  const rows = await reader
    .select({ uid: entries.uid, wholeId: entries.dividedFromId })
    .from(entries)
    .where(inArray(entries.dividedFromId, [...wholes]))
  return rows.map(({ uid, wholeId }) => ({ uid, wholeId: wholeId! }))
}

export interface PresentSession {
  sessionKey: string
  harness: string
  managerId: number
}

/** The sessions of anybody with these ids. */
export async function findPresentSessions(reader: Reader, sessionKeys: readonly string[]): Promise<PresentSession[]> {
  if (sessionKeys.length === 0) return []
  const { sessions, names } = reader.tables
  return reader
    .select({ sessionKey: sessions.sessionKey, harness: names.text, managerId: sessions.managerId })
    .from(sessions)
    .innerJoin(names, eq(names.id, sessions.harnessId))
    .where(inArray(sessions.sessionKey, [...new Set(sessionKeys)]))
}

/** Entries without a session that have the same content, by which possible duplicates are found. */
export async function findSameContent(
  tx: Tx,
  contents: readonly { managerId: number; startedAt: number; fingerprint: bigint }[],
): Promise<(number | undefined)[]> {
  const found = await tx.findEach(
    'transfer.same-content',
    (reader) => {
      const { entries } = reader.tables
      return reader
        .select({ id: entries.id })
        .from(entries)
        .where(
          and(
            eq(entries.managerId, sql.placeholder('managerId')),
            eq(entries.startedAt, sql.placeholder('startedAt')),
            eq(entries.fingerprint, sql.placeholder('fingerprint')),
          ),
        )
    },
    contents.map((content) => ({ ...content })),
  )
  return found.map((rows) => rows[0]?.id)
}

/** Notes where the reports of people put tickets whose project nobody has decided. */
export async function assumeProjects(
  tx: Tx,
  rows: readonly { ticketId: number; userId: number; projectId: number | null }[],
): Promise<void> {
  if (rows.length > 0)
    await tx
      .insert(tx.tables.ticketAssumptions)
      .values([...rows])
      .onConflictDoNothing()
}

/** Adds the keys of reports that are not known. */
export async function addIdempotencyKeys(
  tx: Tx,
  rows: readonly { managerId: number; key: string; bodyHash: Uint8Array; entryId: number }[],
): Promise<void> {
  if (rows.length > 0)
    await tx
      .insert(tx.tables.idempotencyKeys)
      .values([...rows])
      .onConflictDoNothing()
}
