/** The table `price_updates`, one row: the last update of prices, shared by all servers of a database. */
import { aliasedTable, and, count, desc, eq, gt, gte, isNull, lte, or } from 'drizzle-orm'

import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export type UpdateRecord = Omit<Tables['priceUpdates']['$inferSelect'], 'id'>

/** The configured source and the last update, for people and for monitoring. */
export interface UpdateState extends UpdateRecord {
  /** Whether a source is configured. */
  isConfigured: boolean
  /** Interval of the schedule; undefined if it is off. */
  everyMs: number | undefined
}

export async function readUpdate(reader: Reader): Promise<UpdateRecord> {
  const { priceUpdates } = reader.tables
  const [row] = await reader.select().from(priceUpdates)
  const { id: _id, ...update } = row!
  return update
}

/** Claims an update that is due: false if another process began one after `before`. A clock that was set back counts. */
export async function claimUpdate(tx: Tx, { now, before }: { now: number; before: number }): Promise<boolean> {
  const { priceUpdates } = tx.tables
  const { attemptedAt } = priceUpdates
  const rows = await tx
    .update(priceUpdates)
    .set({ attemptedAt: now })
    .where(or(isNull(attemptedAt), lte(attemptedAt, before), gt(attemptedAt, now)))
    .returning({ id: priceUpdates.id })
  return rows.length > 0
}

export async function recordUpdate(tx: Tx, update: UpdateRecord): Promise<void> {
  await tx.update(tx.tables.priceUpdates).set(update)
}

/** A model that entries name, and the provider that they name with it. */
export interface ModelInUse {
  model: string
  provider: string | null
  entries: number
}

/** The models of entries that started since a moment, the most used first. */
export async function listModelsInUse(reader: Reader, since: number): Promise<ModelInUse[]> {
  const { entries, names } = reader.tables
  const providers = aliasedTable(names, 'provider')
  const used = reader
    .select({ modelId: entries.modelId, providerId: entries.providerId, entries: count().as('entries') })
    .from(entries)
    .where(and(gte(entries.startedAt, since)))
    .groupBy(entries.modelId, entries.providerId)
    .as('used')
  return reader
    .select({ model: names.text, provider: providers.text, entries: used.entries })
    .from(used)
    .innerJoin(names, eq(names.id, used.modelId))
    .leftJoin(providers, eq(providers.id, used.providerId))
    .orderBy(desc(used.entries), names.text)
}
