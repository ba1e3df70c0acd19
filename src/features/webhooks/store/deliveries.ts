/** The latest attempts to deliver, which people look at. */
import { and, desc, eq, getTableColumns, inArray, lt, lte, max, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export type DeliveryRow = Tables['webhookDeliveries']['$inferSelect']

/** Per endpoint: enough to find out why a receiver fails, and with fifty endpoints no burden for the database. */
const KEPT_DELIVERIES = 500

/** Rows that one transaction removes. */
const PORTION = 1_000

export async function insertDelivery(tx: Tx, row: Omit<DeliveryRow, 'id'>): Promise<void> {
  await tx
    .prepared('webhook-deliveries.insert', (prepare) => {
      const { webhookDeliveries: table } = prepare.tables
      const { id: _, ...columns } = getTableColumns(table)
      const values = Object.fromEntries(Object.keys(columns).map((name) => [name, sql.placeholder(name)]))
      return prepare
        .insert(table)
        .values(values as never)
        .returning({ id: table.id })
    })
    .execute(row)
}

/** Newest first. */
export async function listDeliveries(
  reader: Reader,
  endpointId: number,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<DeliveryRow[]> {
  const { webhookDeliveries: table } = reader.tables
  return reader
    .select()
    .from(table)
    .where(and(eq(table.endpointId, endpointId), after === undefined ? undefined : lt(table.id, after)))
    .orderBy(desc(table.id))
    .limit(limit)
}

/** The latest attempt of each endpoint that has one, by the endpoint's key. */
export async function latestDeliveries(
  reader: Reader,
  endpointIds: readonly number[],
): Promise<Map<number, DeliveryRow>> {
  if (endpointIds.length === 0) return new Map()
  const { webhookDeliveries: table } = reader.tables
  const newest = reader
    .select({ id: max(table.id).as('newest') })
    .from(table)
    .where(inArray(table.endpointId, [...endpointIds]))
    .groupBy(table.endpointId)
  const rows = await reader.select().from(table).where(inArray(table.id, newest))
  return new Map(rows.map((row) => [row.endpointId, row]))
}

/** Removes all but the newest of an endpoint. */
export async function trimDeliveries(tx: Tx, endpointId: number): Promise<void> {
  const { webhookDeliveries: table } = tx.tables
  const [oldest] = await tx
    .select({ id: table.id })
    .from(table)
    .where(eq(table.endpointId, endpointId))
    .orderBy(desc(table.id))
    .limit(1)
    .offset(KEPT_DELIVERIES)
  if (oldest) await tx.delete(table).where(and(eq(table.endpointId, endpointId), lte(table.id, oldest.id)))
}

/** Removes a portion of those before a moment. Returns how many. */
export async function removeDeliveriesBefore(tx: Tx, before: number): Promise<number> {
  const { webhookDeliveries: table } = tx.tables
  const old = tx.select({ id: table.id }).from(table).where(lt(table.at, before)).limit(PORTION)
  const removed = await tx.delete(table).where(inArray(table.id, old)).returning({ id: table.id })
  return removed.length
}
