/** Entries to be valued again: those without a price, and those that a new table would value differently. */

import { and, asc, desc, eq, gt, inArray, isNull, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Id } from '../../../lib/id.ts'
import { conditionOf, type EntryFilter, type Position } from '../../selection/contract.ts'
import { notingChanges } from '../../spending/contract.ts'
import { isBehind } from '../listing/store/lists.ts'
import { type EntryRecord, LOCKED_STATUSES, viewTables } from '../store.ts'

/** An entry with the names that its price is looked up by. */
export interface PricedEntry {
  entry: EntryRecord
  model: string
  provider: string | null
  price: Id<'prc'> | null
}

function selectPriced(reader: Reader) {
  const { entries, prices, models, providers } = viewTables(reader.tables)
  return reader
    .select({ entry: entries, model: models.text, provider: providers.text, price: prices.uid })
    .from(entries)
    .innerJoin(models, eq(models.id, entries.modelId))
    .leftJoin(providers, eq(providers.id, entries.providerId))
    .leftJoin(prices, eq(prices.id, entries.priceId))
}

/** Matches the index of entries without a known cost. */
function isUnpriced({ entries }: Tables): SQL | undefined {
  return and(isNull(entries.listValue), isNull(entries.reportedCost))
}

/** A model of entries without a cost, and its provider. */
export interface UnpricedModel {
  modelId: number
  providerId: number | null
  model: string
  provider: string | null
}

export async function listUnpricedModels(reader: Reader): Promise<UnpricedModel[]> {
  const { entries, models, providers } = viewTables(reader.tables)
  const pairs = reader
    .selectDistinct({ modelId: entries.modelId, providerId: entries.providerId })
    .from(entries)
    .where(isUnpriced(reader.tables))
    .as('pairs')
  return reader
    .select({ modelId: pairs.modelId, providerId: pairs.providerId, model: models.text, provider: providers.text })
    .from(pairs)
    .innerJoin(models, eq(models.id, pairs.modelId))
    .leftJoin(providers, eq(providers.id, pairs.providerId))
    .orderBy(asc(pairs.modelId), asc(pairs.providerId))
}

/** The number of entries that have no cost and are not on a bill. */
export async function countUnpriced(reader: Reader): Promise<number> {
  const { entries } = reader.tables
  const [row] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(entries)
    .where(and(isUnpriced(reader.tables), isNull(entries.billId)))
  return row!.count
}

/** Entries of a model that have no cost and are not on a bill, by key, starting after `after`. */
export async function listUnpriced(
  reader: Reader,
  { modelId, providerId }: Pick<UnpricedModel, 'modelId' | 'providerId'>,
  { after, limit }: { after: number; limit: number },
): Promise<PricedEntry[]> {
  const { entries } = reader.tables
  return selectPriced(reader)
    .where(
      and(
        isUnpriced(reader.tables),
        eq(entries.modelId, modelId),
        providerId === null ? isNull(entries.providerId) : eq(entries.providerId, providerId),
        gt(entries.id, after),
        isNull(entries.billId),
      ),
    )
    .orderBy(asc(entries.id))
    .limit(limit)
}

/** Entries that may get another value: unlocked, or without a cost and not on a bill. Newest first, after `after`. */
export async function listRepriceable(
  reader: Reader,
  { filter, after, limit }: { filter: EntryFilter; after: Position | undefined; limit: number },
): Promise<PricedEntry[]> {
  const { entries } = reader.tables
  return selectPriced(reader)
    .where(
      and(
        conditionOf(reader, filter),
        or(notInArray(entries.status, [...LOCKED_STATUSES]), and(isUnpriced(reader.tables), isNull(entries.billId))),
        isBehind(reader, after),
      ),
    )
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(limit)
}

export async function listPriced(reader: Reader, ids: number[]): Promise<PricedEntry[]> {
  return selectPriced(reader).where(inArray(reader.tables.entries.id, ids))
}

export type ValuationChange = Pick<
  EntryRecord,
  'id' | 'listValue' | 'priceId' | 'priceStep' | 'priceNote' | 'updatedAt'
>

export async function updateValuations(tx: Tx, changes: readonly ValuationChange[]): Promise<void> {
  const ids = changes.map(({ id }) => id)
  await notingChanges(tx, ids, async () => tx.updateAll(tx.tables.entries, changes))
}
