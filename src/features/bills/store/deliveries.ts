/** The outbox of bills: e-mails to send, and the results of sending them. */
import { and, asc, eq, inArray, lte, ne, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export type DeliveryRecord = Tables['billDeliveries']['$inferSelect']

export async function insertDeliveries(
  tx: Tx,
  rows: readonly Pick<
    DeliveryRecord,
    'billId' | 'notice' | 'recipient' | 'message' | 'nextAttemptAt' | 'createdAt' | 'createdBy'
  >[],
): Promise<void> {
  await tx.insert(tx.tables.billDeliveries).values(rows.map((row) => ({ ...row, state: 'queued' as const })))
}

/** The delivery that has been due for longest; undefined if none is due. */
export async function findDueDelivery(reader: Reader, now: number): Promise<DeliveryRecord | undefined> {
  const due = reader.prepared('bill-deliveries.due', (prepare) => {
    const table = prepare.tables.billDeliveries
    return (
      prepare
        .select()
        .from(table)
        // Not bound: the partial index of queued deliveries is used only for a literal state.
        .where(and(sql`${table.state} = 'queued'`, lte(table.nextAttemptAt, sql.placeholder('now'))))
        .orderBy(asc(table.nextAttemptAt))
        .limit(1)
    )
  })
  const [row] = await due.execute({ now })
  return row
}

/** Claims a delivery if it is unchanged; false if another process claimed it meanwhile. */
export async function claimDelivery(
  tx: Tx,
  { id, attempts }: DeliveryRecord,
  { until }: { until: number },
): Promise<boolean> {
  const { billDeliveries } = tx.tables
  const rows = await tx
    .update(billDeliveries)
    .set({ attempts: attempts + 1, nextAttemptAt: until })
    .where(and(eq(billDeliveries.id, id), eq(billDeliveries.attempts, attempts), eq(billDeliveries.state, 'queued')))
    .returning({ id: billDeliveries.id })
  return rows.length > 0
}

/** Also for one that was withdrawn meanwhile, since the mail server has accepted the mail. */
export async function recordSentDelivery(
  tx: Tx,
  id: number,
  { answer, sentAt }: { answer: string; sentAt: number },
): Promise<void> {
  const { billDeliveries } = tx.tables
  await tx
    .update(billDeliveries)
    .set({ state: 'sent', sentAt, nextAttemptAt: null, answer })
    .where(and(eq(billDeliveries.id, id), ne(billDeliveries.state, 'sent')))
}

/**
 * With `nextAttemptAt` null, the delivery has failed for good. Changes nothing if it was claimed again or withdrawn
 * meanwhile.
 */
export async function recordFailedDelivery(
  tx: Tx,
  { id, attempts }: Pick<DeliveryRecord, 'id' | 'attempts'>,
  { answer, nextAttemptAt }: { answer: string; nextAttemptAt: number | null },
): Promise<boolean> {
  const { billDeliveries } = tx.tables
  const failed = await tx
    .update(billDeliveries)
    .set({ state: nextAttemptAt === null ? 'failed' : 'queued', nextAttemptAt, answer })
    .where(and(eq(billDeliveries.id, id), eq(billDeliveries.attempts, attempts), eq(billDeliveries.state, 'queued')))
    .returning({ id: billDeliveries.id })
  return failed.length > 0
}

/** Withdraws the queued deliveries of a bill. */
export async function withdrawDeliveries(tx: Tx, billId: number, answer: string): Promise<void> {
  const { billDeliveries } = tx.tables
  await tx
    .update(billDeliveries)
    .set({ state: 'failed', nextAttemptAt: null, answer })
    .where(
      and(eq(billDeliveries.billId, billId), eq(billDeliveries.state, 'queued'), eq(billDeliveries.notice, 'sent')),
    )
}

/** The number of queued and of failed deliveries. */
export async function countDeliveries(reader: Reader): Promise<{ queued: number; failed: number }> {
  const { billDeliveries } = reader.tables
  const rows = await reader
    .select({ state: billDeliveries.state, deliveries: sql<number>`count(*)`.mapWith(Number) })
    .from(billDeliveries)
    .where(ne(billDeliveries.state, 'sent'))
    .groupBy(billDeliveries.state)
  const countOf = (wanted: string) => rows.find(({ state }) => state === wanted)?.deliveries ?? 0
  return { queued: countOf('queued'), failed: countOf('failed') }
}

/** The deliveries of these bills in the order of queueing. */
export async function listDeliveries(reader: Reader, billIds: readonly number[]): Promise<DeliveryRecord[]> {
  if (billIds.length === 0) return []
  const { billDeliveries } = reader.tables
  return reader
    .select()
    .from(billDeliveries)
    .where(inArray(billDeliveries.billId, [...billIds]))
    .orderBy(asc(billDeliveries.id))
}
