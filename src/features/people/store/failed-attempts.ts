/** The table `failed_attempts`: failures that still count, of all servers of the database. */
import { and, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import { addedValue } from '../../../database/added-value.ts'
import type { Reader, Tx } from '../../../database/database.ts'

/** The failures of one key. */
export interface Failures {
  /** SHA-256: addresses and networks are in no table. */
  key: Uint8Array
  /** The key of the account; null for those of a network. */
  account: Uint8Array | null
  /** Failures that are not forgiven yet. */
  count: number
  /** The time up to which failures were forgiven. */
  forgivenAt: number
  failedAt: number
  /** Pauses so far, each twice as long as the previous one. */
  pauses: number
  pausedUntil: number
  /** Whether the owner of the account was notified. */
  reported: boolean
  /** From then on, they count no more. */
  endsAt: number
}

/** Asked for every attempt, also of hundreds in a second that have to wait. */
export async function findFailures(reader: Reader, keys: Uint8Array[]): Promise<Failures[]> {
  const names = keys.map((_, at) => `key${at}`)
  return reader
    .prepared(`people.failed-attempts-${keys.length}`, (prepare) => {
      const { failedAttempts } = prepare.tables
      const placeholders = names.map((name) => sql.placeholder(name))
      return prepare.select().from(failedAttempts).where(inArray(failedAttempts.key, placeholders))
    })
    .execute(Object.fromEntries(keys.map((key, at) => [names[at], key])))
}

export async function saveFailures(tx: Tx, rows: Failures[]): Promise<void> {
  const { failedAttempts } = tx.tables
  await tx
    .insert(failedAttempts)
    .values(rows)
    .onConflictDoUpdate({
      target: failedAttempts.key,
      set: {
        count: addedValue(failedAttempts.count),
        forgivenAt: addedValue(failedAttempts.forgivenAt),
        failedAt: addedValue(failedAttempts.failedAt),
        pauses: addedValue(failedAttempts.pauses),
        pausedUntil: addedValue(failedAttempts.pausedUntil),
        reported: addedValue(failedAttempts.reported),
        endsAt: addedValue(failedAttempts.endsAt),
      },
    })
}

/** Returns whether there are any that were not reported yet, of which only one of several callers learns. */
export async function markReported(tx: Tx, keys: Uint8Array[]): Promise<boolean> {
  const { failedAttempts } = tx.tables
  const marked = await tx
    .update(failedAttempts)
    .set({ reported: true })
    .where(and(inArray(failedAttempts.key, keys), gt(failedAttempts.pauses, 0), eq(failedAttempts.reported, false)))
    .returning({ key: failedAttempts.key })
  return marked.length > 0
}

export async function deleteFailuresOf(tx: Tx, account: Uint8Array): Promise<void> {
  const { failedAttempts } = tx.tables
  await tx.delete(failedAttempts).where(eq(failedAttempts.account, account))
}

export async function deleteEndedFailures(tx: Tx, now: number): Promise<void> {
  const { failedAttempts } = tx.tables
  await tx.delete(failedAttempts).where(lte(failedAttempts.endsAt, now))
}
