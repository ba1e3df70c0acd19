/** The tables `notifications` and `notification_emails`. */
import { and, asc, eq, gt, inArray, isNull, lt, lte, notExists, or, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import { portionsOf } from '../../database/portions.ts'
import type { Tables } from '../../database/schema/tables.ts'
import { FARTHEST_MS } from '../../lib/mail-retries.ts'

export type NotificationRecord = Tables['notifications']['$inferSelect']
export type EmailRecord = Tables['notificationEmails']['$inferSelect']

/** Adds those that are new: with another topic or key than others of the recipient. */
export async function insertNotifications(
  tx: Tx,
  rows: readonly Omit<NotificationRecord, 'id' | 'emailId'>[],
): Promise<void> {
  for (const portion of portionsOf(rows)) {
    await tx
      .insert(tx.tables.notifications)
      .values([...portion])
      .onConflictDoNothing()
  }
}

/**
 * Recipients for whom something waits, and who have no e-mail that waits or was sent within `restMs`. One that was sent later
 * than that from now was sent while a clock was ahead.
 */
export async function listReadyRecipients(
  reader: Reader,
  { now, restMs, limit }: { now: number; restMs: number; limit: number },
): Promise<string[]> {
  const { notifications: n, notificationEmails: e } = reader.tables
  const recent = reader
    .select({ id: e.id })
    .from(e)
    .where(
      and(
        eq(e.recipient, n.recipient),
        or(
          sql`${e.state} = 'queued'`,
          and(sql`${e.state} = 'sent'`, gt(e.endedAt, now - restMs), lt(e.endedAt, now + restMs)),
        ),
      ),
    )
  const rows = await reader
    .selectDistinct({ recipient: n.recipient })
    .from(n)
    .where(and(isNull(n.emailId), notExists(recent)))
    .limit(limit)
  return rows.map(({ recipient }) => recipient)
}

/** Puts everything that waits for a recipient into an e-mail. False if another server was faster. */
export async function insertEmail(tx: Tx, recipient: string, now: number): Promise<boolean> {
  const { notifications: n, notificationEmails: e } = tx.tables
  const waiting = await tx
    .select({ id: n.id })
    .from(n)
    .where(and(eq(n.recipient, recipient), isNull(n.emailId)))
  if (waiting.length === 0) return false
  const [email] = await tx
    .insert(e)
    .values({ recipient, state: 'queued', attempts: 0, nextAttemptAt: now, createdAt: now })
    .returning({ id: e.id })
  for (const portion of portionsOf(waiting.map(({ id }) => id))) {
    await tx.update(n).set({ emailId: email!.id }).where(inArray(n.id, portion))
  }
  return true
}

/** The next e-mail that is due; undefined if there is none. */
export async function findDueEmail(reader: Reader, now: number): Promise<EmailRecord | undefined> {
  const { notificationEmails: e } = reader.tables
  const [due] = await reader
    .select()
    .from(e)
    .where(and(sql`${e.state} = 'queued'`, or(lte(e.nextAttemptAt, now), gt(e.nextAttemptAt, now + FARTHEST_MS))))
    .orderBy(asc(e.nextAttemptAt))
    .limit(1)
  return due
}

/** Reserves an e-mail for its sender until a moment; false if somebody else was faster. */
export async function claimEmail(tx: Tx, { id, nextAttemptAt }: EmailRecord, until: number): Promise<boolean> {
  const { notificationEmails: e } = tx.tables
  const claimed = await tx
    .update(e)
    .set({ nextAttemptAt: until })
    .where(and(eq(e.id, id), sql`${e.state} = 'queued'`, eq(e.nextAttemptAt, nextAttemptAt!)))
    .returning({ id: e.id })
  return claimed.length > 0
}

export async function finishEmail(
  tx: Tx,
  id: number,
  result: Pick<EmailRecord, 'state' | 'attempts' | 'nextAttemptAt' | 'answer' | 'endedAt'>,
): Promise<void> {
  const { notificationEmails } = tx.tables
  await tx.update(notificationEmails).set(result).where(eq(notificationEmails.id, id))
}

/** What an e-mail contains, the oldest first. */
export function listNotificationsOf(reader: Reader, emailId: number): Promise<NotificationRecord[]> {
  const { notifications } = reader.tables
  return reader.select().from(notifications).where(eq(notifications.emailId, emailId)).orderBy(asc(notifications.id))
}

/** Deletes e-mails that ended before a moment, and what they contained. Returns their number. */
export async function deleteEmailsBefore(tx: Tx, moment: number, limit: number): Promise<number> {
  const { notifications, notificationEmails: e } = tx.tables
  const old = await tx.select({ id: e.id }).from(e).where(lt(e.endedAt, moment)).orderBy(asc(e.id)).limit(limit)
  const ids = old.map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.delete(notifications).where(inArray(notifications.emailId, ids))
  await tx.delete(e).where(inArray(e.id, ids))
  return ids.length
}

/** Deletes everything for a person, also what was sent. */
export async function deleteNotificationsOf(
  tx: Tx,
  { userId, emails }: { userId: number; emails: string[] },
): Promise<void> {
  const { notifications, notificationEmails } = tx.tables
  await tx.delete(notifications).where(or(eq(notifications.userId, userId), inArray(notifications.recipient, emails)))
  await tx.delete(notificationEmails).where(inArray(notificationEmails.recipient, emails))
}
